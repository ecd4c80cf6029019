from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.domain.memory import Kind, Memory, MemoryType, Status
from engine.domain.query import TimeAxis
from engine.errors import Conflict, InvalidRequest, NotFound
from engine.store import memories, paths, spaces
from engine.store.database import Database
from engine.store.filters import ANY_LIVE
from engine.store.ids import new_id
from engine.text.patterns import parse_path_pattern
from tests.store.records import NOW, House, memory

SECOND = timedelta(seconds=1)

# What a writer lets through: no NUL, no lone surrogates, finite numbers.
storable = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40)
moments = st.datetimes(min_value=datetime(1900, 1, 1), timezones=st.just(UTC))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9) | storable,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(storable, inner, max_size=3),
    max_leaves=6,
)
records = st.fixed_dictionaries(
    {
        "content": storable,
        "path": storable,
        "memory_type": st.sampled_from(MemoryType),
        "kind": st.sampled_from(Kind),
        "status": st.sampled_from(Status),
        "bucket": storable,
        "scope": st.none() | storable,
        "importance": st.none() | st.floats(0, 1),
        "semantic_key": st.none() | storable,
        "state_key": st.none() | storable,
        "source": st.none() | storable,
        "due_at": st.none() | moments,
        "event_time": st.none() | moments,
        "created_at": moments,
        "expires_at": st.none() | moments,
        "version": st.integers(1, 1000),
        "last_accessed_at": st.none() | moments,
        "metadata": st.dictionaries(storable, json_values, max_size=3),
        "provenance": st.dictionaries(storable, json_values, max_size=3),
    }
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(records)
def test_a_record_comes_back_as_it_was_stored(house: House, fields: dict[str, Any]) -> None:
    stored = house.put(**fields)
    with house.database.reading() as connection:
        assert memories.get(connection, stored.id) == stored


def test_an_id_is_taken_once_and_the_whole_batch_is_refused(house: House) -> None:
    stored = house.put()
    batch = [memory(space_id=house.space_id), memory(id=stored.id, space_id=house.space_id, content="other")]
    with house.database.writing() as connection:
        with pytest.raises(Conflict):
            memories.insert_many(connection, batch)
        # The refused attempt must not have spoilt the transaction.
        assert memories.get_many(connection, [one.id for one in batch]) == {stored.id: stored}


def test_a_record_in_a_space_that_is_gone_is_not_found(house: House) -> None:
    with house.database.writing() as connection, pytest.raises(NotFound):
        memories.insert(connection, memory(space_id=new_id()))


def test_replacing_keeps_the_former_state_as_a_version(house: House) -> None:
    old = house.put(content="blue door", path="house", memory_type=MemoryType.EPISODIC)
    new = replace(old, content="red door", version=2, updated_at=NOW + SECOND)
    newest = replace(new, content="green door", version=3, updated_at=NOW + 2 * SECOND)
    with house.database.writing() as connection:
        memories.replace(connection, old, new)
        memories.replace(connection, new, newest)
    with house.database.reading() as connection:
        assert memories.get(connection, old.id) == newest
        former = memories.versions(connection, old.id)
    assert [(one.version, one.content, one.recorded_at) for one in former] == [
        (2, "red door", NOW + SECOND),
        (1, "blue door", NOW),
    ]
    assert {one.memory_type for one in former} == {MemoryType.EPISODIC}


def test_replacing_within_a_version_keeps_no_copy(house: House) -> None:
    old = house.put()
    with house.database.writing() as connection:
        memories.replace(connection, old, replace(old, status=Status.ARCHIVED))
        assert memories.versions(connection, old.id) == []


def test_replacing_what_another_writer_has_moved_on_is_a_conflict(house: House) -> None:
    old = house.put()
    with house.database.writing() as connection:
        memories.replace(connection, old, replace(old, content="theirs", version=2))
    with pytest.raises(Conflict), house.database.writing() as connection:
        memories.replace(connection, old, replace(old, content="mine", version=2))
    with house.database.reading() as connection:
        found = memories.get(connection, old.id)
    assert found is not None
    assert found.content == "theirs"


def test_redaction_leaves_the_former_text_nowhere(house: House) -> None:
    first = house.put(content="the secret word is plum")
    second = replace(first, content="the secret word was plum", version=2)
    gone = replace(second, content="[redacted]", version=3)
    with house.database.writing() as connection:
        memories.replace(connection, first, second)
        memories.redact(connection, second, gone)
    with house.database.reading() as connection:
        assert memories.versions(connection, first.id) == []
        assert memories.get(connection, first.id) == gone


def test_hard_delete_removes_record_versions_and_path(house: House) -> None:
    old = house.put(path="attic/box")
    new = replace(old, content="later", version=2)
    with house.database.writing() as connection:
        memories.replace(connection, old, new)
        assert memories.delete(connection, old.id)
        assert not memories.delete(connection, old.id)
        assert memories.get(connection, old.id) is None
        assert memories.versions(connection, old.id) == []
        assert _paths(connection, house) == set()


def test_forgotten_text_is_overwritten_in_the_sqlite_file(sqlite_file: Path) -> None:
    phrase = "zanzibar-quokka-marmalade"
    database = Database.open(f"sqlite:///{sqlite_file}")
    with database.writing() as connection:
        doomed = memory(space_id=spaces.ensure_owner(connection, NOW).space.id, content=phrase)
        memories.insert(connection, doomed)
    database.close()  # the last connection moves the WAL into the file
    assert phrase.encode() in sqlite_file.read_bytes()
    database = Database.open(f"sqlite:///{sqlite_file}")
    with database.writing() as connection:
        memories.delete(connection, doomed.id)
    database.close()
    assert phrase.encode() not in sqlite_file.read_bytes()


def test_paths_are_counted_with_every_write(house: House) -> None:
    one, two = house.put(path="Notes / Trip"), house.put(path="notes/trip")
    moved = replace(one, path="notes/home", version=2)
    with house.database.writing() as connection:
        assert _paths(connection, house) == {"notes/trip"}
        memories.replace(connection, one, moved)
        assert _paths(connection, house) == {"notes/trip", "notes/home"}
        memories.delete(connection, two.id)
        assert _paths(connection, house) == {"notes/home"}


def test_uses_are_counted_and_survive_a_writer_who_read_earlier(house: House) -> None:
    stored, other = house.put(), house.put()
    later = NOW + SECOND
    with house.database.writing() as connection:
        memories.touch(connection, [stored.id, stored.id], later)
        memories.touch(connection, [stored.id], later)
        memories.replace(connection, stored, replace(stored, content="new", version=2))
        found, untouched = memories.get(connection, stored.id), memories.get(connection, other.id)
    assert found is not None
    assert (found.access_count, found.last_accessed_at) == (2, later)
    assert untouched == other


def test_an_exact_id_or_key_is_found(house: House) -> None:
    stored = house.put(semantic_key="coffee")
    hidden = house.put(semantic_key="coffee", status=Status.DELETED)
    with house.database.reading() as connection:
        assert memories.find_exact(connection, house.space_id, stored.id.upper(), now=NOW) == [stored]
        assert memories.find_exact(connection, house.space_id, "coffee", now=NOW) == [stored]
        assert memories.find_exact(connection, house.space_id, hidden.id, now=NOW) == []
        assert memories.find_exact(connection, new_id(), stored.id, now=NOW) == []


def test_only_live_records_are_counted_and_due_ones_are_swept(house: House) -> None:
    live = house.put(expires_at=NOW + timedelta(microseconds=1))
    archived = house.put(status=Status.ARCHIVED)
    house.put(status=Status.DELETED)
    late, later = house.put(expires_at=NOW), house.put(expires_at=NOW - SECOND)
    with house.database.reading() as connection:
        assert memories.count_live(connection, house.space_id, NOW) == 2
        assert memories.live_ids(connection, NOW) == {live.id, archived.id}
        assert memories.live_ids(connection, NOW, space_id=new_id()) == set()
        assert memories.has_live(connection, [house.space_id], NOW)
        assert not memories.has_live(connection, [new_id()], NOW)
        assert not memories.has_live(connection, [], NOW)
        assert memories.expired_ids(connection, NOW, 10) == [later.id, late.id]
        assert memories.expired_ids(connection, NOW, 1) == [later.id]


def test_a_walk_meets_every_record_once(house: House) -> None:
    stored = sorted((house.put(status=status) for status in Status for _ in range(3)), key=lambda one: one.id)
    with house.database.reading() as connection:
        met: list[Memory] = []
        while batch := memories.batch_after(connection, met[-1].id if met else "", 2):
            met += batch
    assert met == stored


def test_a_page_is_cut_out_of_the_whole_order(house: House) -> None:
    stored = [house.put(created_at=NOW + number * SECOND, importance=number / 10 or None) for number in range(5)]
    with house.database.reading() as connection:

        def ids(**choices: Any) -> list[str]:
            return [one.id for one in memories.page(connection, [house.space_id], ANY_LIVE, NOW, 10, **choices)[0]]

        newest_first = [one.id for one in reversed(stored)]
        assert ids() == newest_first
        assert ids(descending=False) == newest_first[::-1]
        assert ids(offset=2) == newest_first[2:]
        # A record without the value comes last either way.
        assert ids(order_by="importance") == [*newest_first[:-1], stored[0].id]
        assert ids(order_by="importance", descending=False) == [*newest_first[-2::-1], stored[0].id]
        assert memories.page(connection, [house.space_id], ANY_LIVE, NOW, 2, 4) == ([stored[0]], 5)
        assert memories.page(connection, [house.space_id], ANY_LIVE, NOW, 2, 40) == ([], 5)
        assert memories.page(connection, [], ANY_LIVE, NOW, 2) == ([], 0)


def test_a_page_orders_by_every_documented_value_and_by_nothing_else(house: House) -> None:
    house.put()
    with house.database.reading() as connection:
        for order in memories.ORDERS:
            assert memories.page(connection, [house.space_id], ANY_LIVE, NOW, 10, order_by=order)[1] == 1
        with pytest.raises(InvalidRequest) as caught:
            memories.page(connection, [house.space_id], ANY_LIVE, NOW, 10, order_by="content")
    assert caught.value.field == "order_by"
    assert set(TimeAxis) <= memories.ORDERS


def _paths(connection: Any, house: House) -> frozenset[str]:
    return paths.matching_path_keys(connection, house.space_id, parse_path_pattern("%"))
