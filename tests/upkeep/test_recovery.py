"""What a crash leaves in the outbox is finished by the next start."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from engine.domain.memory import NewMemory
from engine.store import memories, outbox
from engine.writing.drafts import build
from tests.engines import open_engine, recalled, store


def test_a_record_that_reached_the_truth_alone_is_found_after_a_restart(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine:
        me = engine.local_owner()
        space = engine.spaces(me)[0].space
        lost = build(NewMemory(content="Committed just before the crash."), space, me, datetime.now(UTC))
        with engine.database.writing() as connection:
            memories.insert(connection, lost)
            outbox.append(connection, [lost.id])
        assert engine.doctor().missing == (lost.id,)
    with open_engine(tmp_path) as engine:
        assert recalled(engine, "committed crash") == ["Committed just before the crash."]
        assert engine.doctor().pending == 0


def test_points_of_a_record_that_is_gone_are_removed(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine:
        gone = store(engine, "Deleted just before the crash.")
        with engine.database.writing() as connection:
            memories.delete(connection, gone.id)
            outbox.append(connection, [gone.id])
        assert engine.doctor().orphaned == (gone.id,)
    with open_engine(tmp_path) as engine:
        assert engine.doctor().equal
        assert recalled(engine, "deleted crash") == []


def test_applied_writes_leave_the_outbox_once_flushed(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine:
        store(engine, "One.")
        assert engine.doctor().pending == 0
