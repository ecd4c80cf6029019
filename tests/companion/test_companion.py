"""Companion verbs through a real engine."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine.companion import decisions, projects, reminders, restart, timeline
from engine.domain.memory import ForgetMode, Kind, StateUpdate
from engine.domain.query import Filters, TimeAxis, TimeWindow
from engine.engine import Engine
from engine.errors import InvalidRequest, NotFound
from tests.engines import open_engine, recalled, store

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with open_engine(tmp_path / "data") as opened:
        yield opened


def test_events_append_and_come_back_latest_first(engine: Engine) -> None:
    me = engine.local_owner()
    for hour in (1, 3, 2):
        timeline.record(engine, me, timeline.Event(content="deploy", occurred_at=NOON + timedelta(hours=hour)))
    timeline.record(engine, me, timeline.Event(content="note", event_type="note", session_id="s"))
    found = timeline.events(engine, me, filters=Filters(), event_type="event")
    assert [each.event_time for each in found] == [NOON + timedelta(hours=hour) for hour in (3, 2, 1)]
    assert [each.content for each in timeline.events(engine, me, filters=Filters(), session_id="s")] == ["note"]
    window = TimeWindow(NOON + timedelta(hours=2), NOON + timedelta(hours=3), TimeAxis.EVENT)
    assert len(timeline.events(engine, me, filters=Filters(window=window))) == 1


def test_completing_a_reminder_twice_is_fine(engine: Engine) -> None:
    me = engine.local_owner()
    made = reminders.create(engine, me, reminders.Reminder(content="renew the certificate", due_at=NOON))
    assert [each.id for each in reminders.reminders(engine, me, filters=Filters(item_status="open"))] == [made.id]
    assert reminders.reminders(engine, me, filters=Filters(), due_before=NOON) == []
    first = reminders.complete(engine, me, made.id, "done by Ida")
    assert reminders.complete(engine, me, made.id).version == first.version
    assert first.metadata["completion_note"] == "done by Ida"
    assert reminders.reminders(engine, me, filters=Filters(item_status="open")) == []


def test_a_memory_is_no_reminder(engine: Engine) -> None:
    with pytest.raises(NotFound):
        reminders.complete(engine, engine.local_owner(), store(engine, "just a memory").id)


def test_a_decision_is_found_by_its_options_and_its_resolution(engine: Engine) -> None:
    me = engine.local_owner()
    made = decisions.create(engine, me, decisions.Decision(context="Which queue?", options=("kafka", "rabbit")))
    assert recalled(engine, "kafka")
    resolved = decisions.resolve(engine, me, made.id, "kafka, for replay")
    assert (resolved.item_status, resolved.metadata["options"]) == ("resolved", ["kafka", "rabbit"])
    assert "replay" in resolved.content
    assert decisions.resolve(engine, me, made.id, "kafka, for replay").version == resolved.version
    with pytest.raises(InvalidRequest):
        decisions.create(engine, me, decisions.Decision(context="x", options=("o",) * 21))


def test_a_snapshot_brings_a_session_back_to_where_it_was(engine: Engine) -> None:
    me = engine.local_owner()
    engine.update_state(me, StateUpdate(current_task="migrate", next_action="write tests"))
    timeline.record(engine, me, timeline.Event(content="merged"))
    reminders.create(engine, me, reminders.Reminder(content="tell Ida"))
    taken = restart.snapshot(engine, me, restart.SnapshotRequest(label="friday"))
    engine.update_state(me, StateUpdate(current_task="something else"))
    found = restart.find(engine, me, restart.Place(), state_key="active_task")
    assert found is not None
    assert found.memory.id == taken.memory.id
    restored = restart.restore(engine, me, found, restart.Place())
    assert restored.state is not None
    assert restored.state.metadata == {"current_task": "migrate", "next_action": "write tests"}
    assert restored.state.version == 3
    assert [each.content for each in found.reminders] == ["tell Ida"]
    assert timeline.events(engine, me, filters=Filters(), event_type=restart.RESTORE_EVENT, limit=5)


def test_a_pure_read_of_a_snapshot_writes_nothing(engine: Engine) -> None:
    me = engine.local_owner()
    engine.update_state(me, StateUpdate(current_task="migrate"))
    taken = restart.snapshot(engine, me, restart.SnapshotRequest())
    before = engine.stats(me)[0].records
    restored = restart.restore(engine, me, taken, restart.Place(), restore_state=False, record_event=False)
    assert restored.state is None
    assert engine.stats(me)[0].records == before


@pytest.mark.parametrize("mode", list(ForgetMode))
def test_what_was_forgotten_does_not_come_back_out_of_a_snapshot(engine: Engine, mode: ForgetMode) -> None:
    me = engine.local_owner()
    state = engine.update_state(me, StateUpdate(current_task="the secret plan")).memory
    event = timeline.record(engine, me, timeline.Event(content="the secret event"))
    taken = restart.snapshot(engine, me, restart.SnapshotRequest())
    for memory_id in (state.id, event.id):
        engine.forget(me, memory_id, mode)
    found = restart.find(engine, me, restart.Place(), snapshot_id=taken.memory.id)
    assert found is not None
    assert "secret" not in repr(found)


def test_snapshots_are_not_search_results(engine: Engine) -> None:
    me = engine.local_owner()
    restart.snapshot(engine, me, restart.SnapshotRequest())
    assert recalled(engine, "restart snapshot active_task") == []
    assert restart.find(engine, me, restart.Place(scope="elsewhere")) is None


def test_a_project_shows_its_own_scope_only(engine: Engine) -> None:
    me = engine.local_owner()
    inside = store(engine, "The parser is written in Rust.", scope=projects.scope_of("p1"))
    store(engine, "The parser is old.")
    found = projects.context(engine, me, "p1", durable_query="parser")
    assert [each.id for each in found.recent] == [inside.id]
    assert found.durable is not None
    assert [item.hit.memory.id for item in found.durable.items] == [inside.id]
    with pytest.raises(InvalidRequest):
        projects.context(engine, me, "no spaces here")


def test_each_kind_keeps_to_itself(engine: Engine) -> None:
    me = engine.local_owner()
    made = reminders.create(engine, me, reminders.Reminder(content="water the plants"))
    assert engine.get(me, made.id).kind is Kind.REMINDER
    with pytest.raises(NotFound):
        decisions.resolve(engine, me, made.id, "yes")
