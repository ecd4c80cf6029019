"""Evaluation sets are read as they are, and narrowed evenly and always alike."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks.shared_data import EvaluationSet, load, set_names


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """One set of 30 spaces, each with two memories and a query."""
    folder = tmp_path / "small_set"
    folder.mkdir()
    memories = [
        {"id": f"{space}/{n}", "space": f"s{space}", "text": f"text {n}", "time": "2024-03-15", "type": "note"}
        for space in range(30)
        for n in range(2)
    ]
    queries = [{"id": f"q{n}", "space": f"s{n}", "query": "text 1?", "gold": [f"{n}/1"]} for n in range(30)]
    queries[3] |= {"gold": [], "tier": "B"}
    for name, rows in (("memories", memories), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def test_a_set_is_read_whole(data: Path) -> None:
    assert set_names(data) == ["small_set"]
    found = load(data, "small_set")
    assert (len(found.memories), len(found.queries)) == (60, 30)
    assert found.memories[0].time == datetime(2024, 3, 15, tzinfo=UTC)
    assert found.memories[0].attributes == {"type": "note", "time": "2024-03-15"}
    assert (found.queries[3].gold, found.queries[3].tier) == (frozenset(), "B")
    assert [len(each) for each in found.by_space().values()] == [2] * 30


def test_narrowing_keeps_the_spaces_of_the_chosen_queries_and_no_others(data: Path) -> None:
    whole = load(data, "small_set")
    some = whole.narrowed(7)
    assert len(some.queries) == 7
    assert {each.space for each in some.memories} == {each.space for each in some.queries}
    assert len(some.memories) == 14
    assert some == whole.narrowed(7)
    assert some.queries != whole.queries[:7]
    assert whole.narrowed(None) is whole.narrowed(30) is whole


def test_a_time_that_is_not_iso_stays_an_attribute(data: Path) -> None:
    memory = {"id": "a", "space": "s0", "text": "今天", "time": "2024年04月01日 周一 08:31"}
    (data / "small_set" / "memories.jsonl").write_text(json.dumps(memory))
    stored: EvaluationSet = load(data, "small_set")
    assert stored.memories[0].time is None
    assert stored.memories[0].attributes == {"time": "2024年04月01日 周一 08:31"}


def test_a_folder_without_sets_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="MEMVOUCH_SHARED"):
        set_names(tmp_path)
