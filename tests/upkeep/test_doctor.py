"""Truth against index: what differs is named, and can be repaired."""

from __future__ import annotations

from pathlib import Path

from tests.engines import open_engine, recalled, store


def test_a_healthy_folder_is_equal(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine:
        store(engine, "One.")
        store(engine, "Two.")
        report = engine.doctor()
        assert (report.records, report.indexed, report.equal, report.pending) == (2, 2, True, 0)


def test_lost_and_left_over_points_are_named_and_repaired(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine:
        lost = store(engine, "The key is under the mat.")
        kept = store(engine, "The mat is green.")
        engine._applier.index.delete_records([lost.id])
        with engine.database.writing() as connection:
            from engine.store import memories

            memories.delete(connection, kept.id)
        report = engine.doctor()
        assert (report.missing, report.orphaned) == ((lost.id,), (kept.id,))
        repaired = engine.doctor(repair=True)
        assert (repaired.equal, repaired.repaired) == (True, 2)
        assert recalled(engine, "key mat") == ["The key is under the mat."]
