"""What Memvouch promises, each promise with the tests that hold it to it.

A promise has an id, one sentence and its source: a section of the design, a point of the issue
that asked for it, or a section of a wire contract. Its tests are named below `tests/`:
`room/` stands for every test file of that folder, `room/test_x.py` for all tests of that file,
`room/test_x.py::test_name` for one, `case:B1-07` for a field case. `test_requirements.py` fails if
a promise has no test, a named test does not exist, or a test file serves no promise.
"""

from __future__ import annotations

from tests.promises import access, answers, care, ingest, parts, questions, serving, surfaces, tools, writing
from tests.promises.requirement import Requirement

REQUIREMENTS: tuple[Requirement, ...] = (
    *answers.NO_MATCH,
    *answers.BUDGET,
    *questions.FILTERS,
    *questions.TEXT,
    *access.ACCESS,
    *writing.WRITING,
    *care.CARE,
    *parts.PARTS,
    *tools.TOOLS,
    *serving.SERVING,
    *surfaces.SURFACES,
    *ingest.INGEST,
)
