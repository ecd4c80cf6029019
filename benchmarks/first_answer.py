"""A process that opens a data folder, answers one question and tells how long each took.

    python -m benchmarks.first_answer FOLDER

Nothing but the engine is imported: whoever starts it times all of it, from the process to the line
that it prints.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from engine.domain.query import Query
from engine.engine import Engine
from engine.settings import Settings


def main() -> None:
    """Open, ask, tell; closing comes after the line and is not part of an answer."""
    begun = time.perf_counter()
    with Engine.open(Settings(data_dir=Path(sys.argv[1]))) as engine:
        opened = time.perf_counter()
        engine.search(engine.local_owner(), Query(text="What did we decide about the harbour road?"))
        answered = time.perf_counter()
        print(json.dumps({"open_seconds": opened - begun, "first_answer_seconds": answered - opened}), flush=True)


if __name__ == "__main__":
    main()
