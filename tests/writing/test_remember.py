"""Storing: what is new, what is the same, what becomes the next version."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
from sqlalchemy import event

from engine.domain.access import Role, Scope
from engine.domain.memory import MemoryPatch, MemoryType, NewMemory, WriteStatus
from engine.domain.query import ListQuery
from engine.engine import Engine
from engine.errors import Conflict, ContentTooLarge, Forbidden, InvalidIdentifier, InvalidRequest, NotFound
from engine.store.ids import new_id
from engine.upkeep.administration import Administration, TokenRequest
from tests.engines import open_engine, recalled, store


def test_a_memory_can_be_found_as_soon_as_remember_returns(engine: Engine) -> None:
    store(engine, "The ferry to Brenholm leaves at noon.")
    assert recalled(engine, "ferry Brenholm") == ["The ferry to Brenholm leaves at noon."]


def test_the_same_idempotency_key_gives_the_first_answer_and_writes_nothing(engine: Engine) -> None:
    me = engine.local_owner()
    new = NewMemory(content="Drill passed in 23 minutes.", path="drills")
    first = engine.remember(me, new, idempotency_key="k-1")
    again = engine.remember(me, new, idempotency_key="k-1")
    assert (again.memory.id, again.status) == (first.memory.id, WriteStatus.CREATED)
    assert engine.list_memories(me, ListQuery()).total == 1


def test_parallel_writes_with_one_key_leave_one_record(engine: Engine) -> None:
    me = engine.local_owner()
    new = NewMemory(content="Drill passed in 23 minutes.", path="drills")
    with ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(lambda _: engine.remember(me, new, idempotency_key="same").memory.id, range(16)))
    assert len(ids) == 1
    assert engine.list_memories(me, ListQuery()).total == 1


def test_a_key_survives_a_restart(tmp_path: Path) -> None:
    new = NewMemory(content="Drill passed in 23 minutes.")
    with open_engine(tmp_path) as engine:
        first = engine.remember(engine.local_owner(), new, idempotency_key="k")
    with open_engine(tmp_path) as engine:
        assert engine.remember(engine.local_owner(), new, idempotency_key="k").memory.id == first.memory.id


def test_a_key_that_comes_back_with_other_content_is_a_conflict(engine: Engine) -> None:
    me = engine.local_owner()
    engine.remember(me, NewMemory(content="one"), idempotency_key="k")
    with pytest.raises(Conflict):
        engine.remember(me, NewMemory(content="two"), idempotency_key="k")


def test_a_key_gives_nothing_back_to_a_caller_who_lost_the_space(engine: Engine) -> None:
    me = engine.local_owner()
    administration = Administration(engine.database)
    guest = administration.user_named(me, "bea", create=True)
    team = administration.create_team(me, "ferry crew")
    administration.set_role(me, team.id, guest.id, Role.WRITER)
    issued = administration.issue_token(me, TokenRequest(name="bea", user_id=guest.id))
    caller = engine.authenticate(issued.secret)
    new, move = NewMemory(content="The pier is closed.", space=team.name), MemoryPatch(path="harbour")
    stored = engine.remember(caller, new, idempotency_key="w").memory
    engine.update(caller, stored.id, move, idempotency_key="u")
    administration.remove_member(me, team.id, guest.id)
    engine.update(me, stored.id, MemoryPatch(content="Said after she had left."))
    with pytest.raises(NotFound):
        engine.remember(caller, new, idempotency_key="w")
    with pytest.raises(NotFound):
        engine.update(caller, stored.id, move, idempotency_key="u")


def test_a_key_does_not_bring_a_forgotten_text_back(engine: Engine) -> None:
    me, new = engine.local_owner(), NewMemory(content="The chip is under the mat.")
    first = engine.remember(me, new, idempotency_key="k")
    engine.forget(me, first.memory.id)
    again = engine.remember(me, new, idempotency_key="k")
    assert (again.memory.id, again.memory.content) == (first.memory.id, "")


def test_dedupe_leaves_an_equal_text_at_the_same_place_alone(engine: Engine) -> None:
    first = store(engine, "Backups run nightly.", "ops")
    again = engine.remember(engine.local_owner(), NewMemory(content="Backups run nightly.", path="ops", dedupe=True))
    elsewhere = engine.remember(
        engine.local_owner(), NewMemory(content="Backups run nightly.", path="other", dedupe=True)
    )
    assert (again.memory.id, again.status) == (first.id, WriteStatus.UNCHANGED)
    assert elsewhere.status is WriteStatus.CREATED


def test_without_dedupe_equal_texts_are_two_records(engine: Engine) -> None:
    assert store(engine, "Backups run nightly.").id != store(engine, "Backups run nightly.").id


def test_dedupe_sees_earlier_drafts_of_the_same_batch(engine: Engine) -> None:
    draft = NewMemory(content="Backups run nightly.", path="ops", dedupe=True)
    first, second = engine.remember_many(engine.local_owner(), [draft, draft])
    assert (first.status, second.status) == (WriteStatus.CREATED, WriteStatus.UNCHANGED)
    assert first.memory.id == second.memory.id


def test_drafts_of_one_batch_see_what_earlier_ones_made_of_a_record(engine: Engine) -> None:
    owner, given = engine.local_owner(), str(uuid.uuid4())
    engine.remember(owner, NewMemory(content="Tea at four.", id=given, semantic_key="tea"))
    drafts = [
        NewMemory(content="Tea at five.", semantic_key="tea"),
        NewMemory(content="Tea at five.", semantic_key="tea"),
        NewMemory(content="Coffee at six.", id=given, semantic_key="coffee"),
        NewMemory(content="Coffee at seven.", semantic_key="coffee"),
        NewMemory(content="Tea at eight.", semantic_key="tea"),
        NewMemory(content="Tea at eight.", dedupe=True),
    ]
    written = engine.remember_many(owner, drafts)
    made, same = WriteStatus.UPDATED, WriteStatus.UNCHANGED
    assert [each.status for each in written] == [made, same, made, made, WriteStatus.CREATED, same]
    assert [each.memory.id == given for each in written] == [True, True, True, True, False, False]
    assert (engine.get(owner, given).content, engine.get(owner, given).version) == ("Coffee at seven.", 4)


@pytest.mark.parametrize("field", ["id", "dedupe", "semantic_key", "state_key"])
def test_a_bulk_write_sends_no_statement_for_each_record(engine: Engine, field: str) -> None:
    owner, sent = engine.local_owner(), []
    values: dict[str, Any] = {"dedupe": True}
    news = [
        replace(NewMemory(content=f"Note {number}."), **{field: values.get(field, str(uuid.uuid4()))})
        for number in range(100)
    ]

    def note(*told: object) -> None:
        sent.append(told[2])

    event.listen(sqlalchemy.Engine, "before_cursor_execute", note)
    try:
        written = engine.remember_many(owner, news)
    finally:
        event.remove(sqlalchemy.Engine, "before_cursor_execute", note)
    assert {each.status for each in written} == {WriteStatus.CREATED}
    assert 5 < len(sent) < 30, sent


def test_a_semantic_key_makes_versions_of_one_record(engine: Engine) -> None:
    me = engine.local_owner()
    draft = NewMemory(content="The region is falkenau-1.", path="infra", semantic_key="region")
    first = engine.remember(me, draft)
    same = engine.remember(me, draft)
    moved = engine.remember(me, replace(draft, content="The region is falkenau-2."))
    assert (same.status, same.memory.version) == (WriteStatus.UNCHANGED, 1)
    assert (moved.status, moved.memory.id, moved.memory.version) == (WriteStatus.UPDATED, first.memory.id, 2)
    assert [each.content for each in engine.versions(me, first.memory.id)] == ["The region is falkenau-1."]
    assert recalled(engine, "region falkenau") == ["The region is falkenau-2."]


def test_a_given_id_is_kept_and_writing_it_again_updates(engine: Engine) -> None:
    me, chosen = engine.local_owner(), new_id()
    first = engine.remember(me, NewMemory(content="one", id=chosen))
    again = engine.remember(me, NewMemory(content="two", id=chosen))
    assert first.memory.id == again.memory.id == chosen
    assert again.memory.version == 2


def test_an_id_of_another_space_is_refused_without_telling_whose(engine: Engine) -> None:
    me, chosen = engine.local_owner(), new_id()
    engine.create_space(me, "other")
    engine.remember(me, NewMemory(content="one", id=chosen))
    with pytest.raises(Conflict, match="cannot be used"):
        engine.remember(me, NewMemory(content="two", id=chosen, space="other"))


def test_a_batch_that_comes_twice_with_its_key_is_written_once(engine: Engine) -> None:
    me = engine.local_owner()
    drafts = [NewMemory(content="busy", state_key="task"), NewMemory(content="Backups run nightly.")]
    first = engine.remember_many(me, drafts, idempotency_key="batch-1")
    again = engine.remember_many(me, drafts, idempotency_key="batch-1")
    assert [each.memory.id for each in again] == [each.memory.id for each in first]
    assert [each.memory.version for each in again] == [1, 1]
    assert engine.list_memories(me, ListQuery()).total == 2


def test_a_batch_is_written_whole_or_not_at_all(engine: Engine) -> None:
    me = engine.local_owner()
    with pytest.raises(InvalidRequest):
        engine.remember_many(me, [NewMemory(content="fine"), NewMemory(content="   ")])
    assert engine.list_memories(me, ListQuery()).total == 0


@pytest.mark.parametrize(
    ("draft", "field"),
    [
        (NewMemory(content="\u200b \n"), "content"),
        (NewMemory(content="a\ud800"), "content"),
        (NewMemory(content="a\x00b"), "content"),
        (NewMemory(content="a", path="a\x00b"), "path"),
        (NewMemory(content="a", path="p" * 1025), "path"),
        (NewMemory(content="a", importance=1.5), "importance"),
        (NewMemory(content="a", expires_at=datetime(2030, 1, 1)), "expires_at"),
        (NewMemory(content="a", semantic_key="k" * 513), "semantic_key"),
    ],
)
def test_a_bad_draft_is_refused_by_field(engine: Engine, draft: NewMemory, field: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        engine.remember(engine.local_owner(), draft)
    assert caught.value.field == field


def test_content_up_to_512_kib_is_stored_and_more_is_refused(engine: Engine) -> None:
    text = "word " * (512 * 1024 // 5)
    assert len(engine.get(engine.local_owner(), store(engine, text).id).content) == len(text)
    with pytest.raises(ContentTooLarge):
        store(engine, text + "word word")


def test_an_id_that_is_no_uuid_is_refused(engine: Engine) -> None:
    with pytest.raises(InvalidIdentifier):
        engine.remember(engine.local_owner(), NewMemory(content="a", id="abc"))


def test_a_type_that_is_not_given_is_derived_by_rule(engine: Engine) -> None:
    assert store(engine, "My name is Ines.").memory_type is MemoryType.IDENTITY
    assert store(engine, "Always run the linter before a push.").memory_type is MemoryType.PROCEDURAL
    assert store(engine, "Yesterday the build broke.").memory_type is MemoryType.EPISODIC
    assert store(engine, "The build takes nine minutes.").memory_type is MemoryType.SEMANTIC


def test_a_token_without_the_write_scope_cannot_write(engine: Engine) -> None:
    reader = replace(engine.local_owner(), scopes=frozenset({Scope.READ}))
    with pytest.raises(Forbidden, match="memory:write"):
        engine.remember(reader, NewMemory(content="a"))


def test_an_unknown_space_is_not_found(engine: Engine) -> None:
    with pytest.raises(NotFound):
        engine.remember(engine.local_owner(), NewMemory(content="a", space="nowhere"))


def test_a_record_is_gone_at_the_second_it_expires(engine: Engine) -> None:
    past = datetime.now(UTC) - timedelta(microseconds=1)
    gone = store(engine, "The wifi phrase is on the board.", expires_at=past)
    with pytest.raises(NotFound):
        engine.get(engine.local_owner(), gone.id)
    assert recalled(engine, "wifi phrase") == []
