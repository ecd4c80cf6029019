"""The runner fails where an answer is not as a case expects: all field-case tests lean on that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.field_cases.cases import Case, load
from tests.field_cases.engine_surface import EngineSurface
from tests.field_cases.runner import play

ROWS = [
    {
        "ref": "kiln",
        "content": "The kiln in workshop two is fired on Thursdays.",
        "path": "workshop/kiln",
        "space": "s1",
    },
    {"ref": "loom", "content": "The loom needs new heddles before May.", "path": "workshop/loom", "space": "s1"},
]
QUESTION = {"query": "When is the kiln in workshop two fired?"}


def case_of(folder: Path, expect: dict[str, Any]) -> Case:
    line = {"id": "R-1", "area": "strict", "tier": "must", "source": "own", "symptom": "none"}
    file = folder / "cases.jsonl"
    file.write_text(json.dumps({**line, "store": ROWS, "do": "search_memory", "args": QUESTION, "expect": expect}))
    return load(file)[0]


def test_an_answer_as_expected_passes(tmp_path: Path, engine_surface: EngineSurface) -> None:
    expected = {"status": "ok", "first": "kiln", "contains": ["kiln"], "excludes": ["loom"]}
    played = play(case_of(tmp_path, expected), engine_surface)
    assert [reply.status for reply in played.replies] == ["ok"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"status": "no_match"},
        {"status": "error"},
        {"status": "ok", "first": "loom"},
        {"status": "ok", "contains": ["loom"]},
        {"status": "ok", "excludes": ["kiln"]},
        {"status": "ok", "count": 2},
    ],
    ids=json.dumps,
)
def test_an_answer_that_is_not_as_expected_fails(
    wrong: dict[str, Any], tmp_path: Path, engine_surface: EngineSurface
) -> None:
    with pytest.raises(AssertionError):
        play(case_of(tmp_path, wrong), engine_surface)
