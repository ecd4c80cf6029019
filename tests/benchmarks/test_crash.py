"""The crash benchmark itself, in small: two kills on one folder."""

from __future__ import annotations

from pathlib import Path

from benchmarks.crash import run


def test_a_kill_during_an_import_loses_no_acknowledged_record_and_doubles_none(tmp_path: Path) -> None:
    rounds = list(run(tmp_path, rounds=2, seed=8))
    assert [each.faults for each in rounds] == [(), ()]
