"""Working state: one slot per key, versions, an end."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from engine.domain.memory import Kind, MemoryType, StateUpdate, WriteStatus
from engine.domain.outcome import Leg, Matches
from engine.domain.query import Filters, ListQuery, Mode, Query
from engine.engine import Engine
from engine.errors import InvalidRequest
from engine.writing.working_state import draft
from tests.engines import store


def test_a_slot_holds_one_record_whose_version_grows(engine: Engine) -> None:
    me = engine.local_owner()
    first = engine.update_state(me, StateUpdate(current_task="Migrate the login"))
    second = engine.update_state(me, StateUpdate(current_task="Migrate the login", next_action="Write tests"))
    assert (first.status, second.status) == (WriteStatus.CREATED, WriteStatus.UPDATED)
    assert (second.memory.id, second.memory.version) == (first.memory.id, 2)
    states = engine.list_memories(me, ListQuery(filters=Filters(kinds=frozenset({Kind.STATE}))))
    assert states.total == 1
    assert states.memories[0].metadata == {"current_task": "Migrate the login", "next_action": "Write tests"}
    assert states.memories[0].memory_type is MemoryType.WORKING


def test_slots_differ_by_key_bucket_and_scope(engine: Engine) -> None:
    me = engine.local_owner()
    ids = {
        engine.update_state(me, StateUpdate(state_key=key, bucket=bucket, scope=scope, content="x")).memory.id
        for key in ("a", "b")
        for bucket in ("work", "home")
        for scope in (None, "s")
    }
    assert len(ids) == 8


def test_prefer_working_puts_active_state_ahead_of_other_hits(engine: Engine) -> None:
    me = engine.local_owner()
    store(engine, "The login migration plan has four steps for the login.")
    state = engine.update_state(me, StateUpdate(current_task="login migration")).memory
    query = Query(text="login migration plan steps", mode=Mode.FORGIVING, prefer_working=True)
    outcome = engine.search(me, query)
    assert isinstance(outcome, Matches)
    assert outcome.hits[0].memory.id == state.id
    assert Leg.WORKING in outcome.hits[0].signals.legs


def test_a_time_to_live_sets_the_end(engine: Engine) -> None:
    now = datetime(2026, 5, 1, 12, tzinfo=UTC)
    new = draft(StateUpdate(content="x", ttl_seconds=90), now)
    assert new.expires_at == datetime(2026, 5, 1, 12, 1, 30, tzinfo=UTC)
    assert draft(StateUpdate(content="x", ttl_seconds=0), now).expires_at is None


@pytest.mark.parametrize(
    ("update", "field"),
    [
        (StateUpdate(), "content"),
        (StateUpdate(content="x", state_key=" "), "state_key"),
        (StateUpdate(content="x", ttl_seconds=-1), "ttl_seconds"),
        (StateUpdate(content="x", ttl_seconds=2_592_001), "ttl_seconds"),
    ],
)
def test_a_bad_state_is_refused_by_field(engine: Engine, update: StateUpdate, field: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        engine.update_state(engine.local_owner(), update)
    assert caught.value.field == field
