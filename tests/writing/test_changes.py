"""Update, forget, restore: after each of them, no read shows the old text."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from engine.domain.access import Scope
from engine.domain.memory import ForgetMode, Memory, MemoryPatch, MemoryType, NewMemory, Status
from engine.domain.outcome import NoMatch
from engine.domain.query import Query
from engine.engine import Engine
from engine.errors import Conflict, Forbidden, InvalidRequest, NotFound
from engine.store.ids import new_id
from tests.engines import recalled, store

OLD = "Guest parking is behind the bakery."
NEW = "Guest parking moved to the harbour."


@pytest.fixture
def memory(engine: Engine) -> Memory:
    return store(engine, OLD, "office/parking")


def test_an_update_is_found_by_its_new_text_and_not_by_the_old(engine: Engine, memory: Memory) -> None:
    updated = engine.update(engine.local_owner(), memory.id, MemoryPatch(content=NEW))
    assert (updated.version, updated.content) == (2, NEW)
    assert recalled(engine, "parking harbour bakery") == [NEW]
    assert [each.content for each in engine.versions(engine.local_owner(), memory.id)] == [OLD]


def test_an_empty_patch_changes_nothing(engine: Engine, memory: Memory) -> None:
    assert engine.update(engine.local_owner(), memory.id, MemoryPatch()).version == 1


def test_an_update_of_a_stale_version_is_a_conflict(engine: Engine, memory: Memory) -> None:
    me = engine.local_owner()
    engine.update(me, memory.id, MemoryPatch(content=NEW))
    with pytest.raises(Conflict, match="version 2"):
        engine.update(me, memory.id, MemoryPatch(content="third", expected_version=1))


def test_metadata_is_replaced_or_merged_as_asked(engine: Engine, memory: Memory) -> None:
    me = engine.local_owner()
    engine.update(me, memory.id, MemoryPatch(metadata={"a": 1, "b": 2}))
    merged = engine.update(me, memory.id, MemoryPatch(metadata={"b": 3}, merge_metadata=True))
    assert merged.metadata == {"a": 1, "b": 3}
    assert engine.update(me, memory.id, MemoryPatch(metadata={"c": 4})).metadata == {"c": 4}


def test_an_expiry_can_be_set_and_cleared(engine: Engine, memory: Memory) -> None:
    me, later = engine.local_owner(), datetime.now(UTC) + timedelta(days=1)
    assert engine.update(me, memory.id, MemoryPatch(expires_at=later)).expires_at == later
    assert engine.update(me, memory.id, MemoryPatch(clear_expiry=True)).expires_at is None


def test_a_moved_record_is_found_at_its_new_path_only(engine: Engine, memory: Memory) -> None:
    me = engine.local_owner()
    engine.update(me, memory.id, MemoryPatch(path="city/parking", memory_type=MemoryType.PROCEDURAL))
    found = engine.search(me, Query(text="*", filters=replace(Query(text="*").filters, path_filter="office/%")))
    assert isinstance(found, NoMatch)


def test_deleting_through_a_patch_is_refused(engine: Engine, memory: Memory) -> None:
    with pytest.raises(InvalidRequest, match="forget"):
        engine.update(engine.local_owner(), memory.id, MemoryPatch(status=Status.DELETED))


def test_a_softly_forgotten_record_is_gone_from_every_read_and_can_be_restored(engine: Engine, memory: Memory) -> None:
    me = engine.local_owner()
    engine.forget(me, memory.id)
    assert recalled(engine, "guest parking bakery") == []
    for read in (engine.get, engine.versions, engine.explain, engine.forget):
        with pytest.raises(NotFound):
            read(me, memory.id)
    restored = engine.restore(me, memory.id)
    assert (restored.id, restored.status) == (memory.id, Status.ACTIVE)
    assert recalled(engine, "guest parking bakery") == [OLD]


def test_a_hard_delete_leaves_nothing_to_restore(engine: Engine, memory: Memory) -> None:
    me = engine.local_owner()
    engine.update(me, memory.id, MemoryPatch(content=NEW))
    assert engine.forget(me, memory.id, ForgetMode.HARD) is None
    with pytest.raises(NotFound):
        engine.restore(me, memory.id)
    assert recalled(engine, "guest parking") == []


def test_a_softly_deleted_record_can_still_be_deleted_for_good(engine: Engine, memory: Memory) -> None:
    me = engine.local_owner()
    engine.forget(me, memory.id)
    assert engine.forget(me, memory.id, ForgetMode.HARD) is None


def test_a_redacted_record_keeps_its_place_and_loses_every_former_text(engine: Engine, memory: Memory) -> None:
    me = engine.local_owner()
    engine.update(me, memory.id, MemoryPatch(content=NEW, metadata={"chip": "4711"}))
    redacted = engine.forget(me, memory.id, ForgetMode.REDACT, replacement="Ask at the desk.")
    assert redacted is not None
    assert (redacted.content, redacted.path, dict(redacted.metadata)) == ("Ask at the desk.", "office/parking", {})
    assert engine.versions(me, memory.id) == []
    assert recalled(engine, "parking harbour bakery desk") == ["Ask at the desk."]


@pytest.mark.parametrize("verb", ["update", "forget", "restore", "get"])
def test_a_missing_id_is_not_found(engine: Engine, verb: str) -> None:
    arguments = (MemoryPatch(content="x"),) if verb == "update" else ()
    with pytest.raises(NotFound, match="Memory not found"):
        getattr(engine, verb)(engine.local_owner(), new_id(), *arguments)


def test_a_reader_token_cannot_forget(engine: Engine, memory: Memory) -> None:
    reader = replace(engine.local_owner(), scopes=frozenset({Scope.READ}))
    with pytest.raises(Forbidden):
        engine.forget(reader, memory.id)


def test_a_caller_who_may_not_read_is_told_nothing_by_a_write(engine: Engine) -> None:
    me = engine.local_owner()
    fields: dict[str, Any] = {
        "semantic_key": "secret",
        "source": "secret",
        "metadata": {"a": "secret"},
        "provenance": {"b": "secret"},
    }
    memory = engine.remember(me, NewMemory(content="A secret.", path="secret", **fields)).memory
    writer = replace(me, scopes=frozenset({Scope.WRITE}))
    same = NewMemory(content="A secret.", path="secret", dedupe=True)
    answers = [
        engine.update(writer, memory.id, MemoryPatch()),
        engine.restore(writer, memory.id),
        engine.remember(writer, same).memory,
        engine.remember(writer, replace(same, dedupe=False, semantic_key="secret"), idempotency_key="k").memory,
        engine.remember(writer, replace(same, dedupe=False, semantic_key="secret"), idempotency_key="k").memory,
        engine.remember_many(writer, [same])[0].memory,
        engine.forget(writer, memory.id),
    ]
    for answer in answers:
        assert answer is not None and answer.id == memory.id
        assert "secret" not in str(answer)
    for read in (engine.ingest.memories, engine.ingest.sources, engine.ingest.entities):
        with pytest.raises(Forbidden, match="memory:read"):
            read(writer, None)


def test_statistics_follow_forget_and_restore(engine: Engine, memory: Memory) -> None:
    from engine.store import terms

    def frequency() -> int:
        with engine.database.reading() as connection:
            return terms.document_frequencies(connection, memory.space_id, ["bakeri"]).get("bakeri", 0)

    assert frequency() == 1
    engine.forget(engine.local_owner(), memory.id)
    assert frequency() == 0
    engine.restore(engine.local_owner(), memory.id)
    assert frequency() == 1
