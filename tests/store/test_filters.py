from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.domain.memory import Kind, Memory, MemoryType, Status
from engine.domain.query import Filters, TimeAxis, TimeWindow
from engine.errors import InvalidPattern, InvalidRequest
from engine.store import filters, memories, paths
from engine.text.folding import path_key
from engine.text.patterns import parse_path_pattern
from tests.store.records import NOW, House, memory

MICROSECOND = timedelta(microseconds=1)


def found(house: House, **conditions: Any) -> set[str]:
    """Contents that a page under these filters holds, after checking that `authorized` agrees."""
    where = filters.compile(Filters(**conditions))
    with house.database.reading() as connection:
        records, total = memories.page(connection, [house.space_id], where, NOW, 100)
        every = [one.id for one in memories.batch_after(connection, "", 100)]
        readable = memories.authorized(connection, house.principal, every, where, NOW)
    assert readable == {one.id: one for one in records}
    assert total == len(records)
    return {one.content for one in records}


@pytest.mark.parametrize("name", ["bucket", "scope", "team_id", "source", "source_id", "agent_id", "item_status"])
def test_an_exact_condition_matches_its_value_and_nothing_like_it(house: House, name: str) -> None:
    for content, value in {"same": "alpha", "case": "Alpha", "longer": "alphabet"}.items():
        house.put(content=content, **{name: value})
    if name != "bucket":
        house.put(content="none", **{name: None})
    everything = {"same", "case", "longer"} | ({"none"} if name != "bucket" else set())
    assert found(house, **{name: "alpha"}) == {"same"}
    assert found(house, **{name: "alph_"}) == set()
    for unset in (None, "", "%"):
        assert found(house, **{name: unset}) == everything


def test_deleted_and_expired_records_never_come_out_whatever_is_asked(house: House) -> None:
    house.put(content="deleted", status=Status.DELETED)
    house.put(content="expired now", expires_at=NOW)
    house.put(content="expires next", expires_at=NOW + MICROSECOND)
    house.put(content="archived", status=Status.ARCHIVED)
    assert found(house) == {"expires next"}
    assert found(house, statuses=frozenset(Status)) == {"expires next", "archived"}
    assert found(house, statuses=frozenset({Status.DELETED})) == set()
    assert found(house, statuses=frozenset({Status.ARCHIVED})) == {"archived"}


def test_kinds_are_a_set_and_the_empty_set_matches_nothing(house: House) -> None:
    for kind in Kind:
        house.put(content=kind.value, kind=kind)
    assert found(house) == {kind.value for kind in Kind} - {Kind.SNAPSHOT.value}
    assert found(house, kinds=frozenset({Kind.REMINDER, Kind.SNAPSHOT})) == {"reminder", "snapshot"}
    assert found(house, kinds=frozenset()) == set()


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("", set(MemoryType)),
        ("%", set(MemoryType)),
        ("auto", set(MemoryType)),
        ("AUTO", set(MemoryType)),
        ("Semantic", {MemoryType.SEMANTIC}),
        ("%ic", {MemoryType.SEMANTIC, MemoryType.EPISODIC}),
        ("e%", {MemoryType.EPISODIC}),
        ("%x", set()),
        ("_dentity%", {MemoryType.IDENTITY}),
    ],
)
def test_a_memory_type_is_a_pattern_over_the_whole_value(house: House, pattern: str, expected: set[MemoryType]) -> None:
    for kind in MemoryType:
        house.put(content=kind.value, memory_type=kind)
    assert found(house, memory_type=pattern) == {kind.value for kind in expected}


@pytest.mark.parametrize("text", ["semantics", "fact", "_emantic"])
def test_an_unknown_memory_type_is_refused_by_name(text: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        filters.compile(Filters(memory_type=text))
    assert caught.value.field == "memory_type"


@pytest.mark.parametrize("axis", TimeAxis)
def test_a_window_holds_its_start_and_not_its_end(house: House, axis: TimeAxis) -> None:
    moments = {"before": NOW - MICROSECOND, "start": NOW, "inside": NOW + MICROSECOND, "end": NOW + 2 * MICROSECOND}
    for content, moment in moments.items():
        house.put(content=content, **{axis.value: moment})
    window = TimeWindow(NOW, NOW + 2 * MICROSECOND, axis)
    assert found(house, window=window) == {"start", "inside"}
    assert found(house, window=TimeWindow(since=NOW, axis=axis)) == {"start", "inside", "end"}
    assert found(house, window=TimeWindow(until=NOW, axis=axis)) == {"before"}


def test_a_record_without_event_time_is_in_no_window_of_event_times(house: House) -> None:
    house.put(content="timeless")
    assert found(house, window=TimeWindow(until=NOW + timedelta(days=999), axis=TimeAxis.EVENT)) == set()


@pytest.mark.parametrize("shift", [timedelta(0), -MICROSECOND])
def test_a_window_that_cannot_hold_anything_is_refused(shift: timedelta) -> None:
    with pytest.raises(InvalidRequest) as caught:
        filters.compile(Filters(window=TimeWindow(NOW, NOW + shift)))
    assert caught.value.field == "until"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("%", {"notes", "Notes/Trip", "notes_old/x", "notes-old", "straße/ä", "100%/done", "a\\b"}),
        ("notes", {"notes", "Notes/Trip"}),
        ("NOTES/trip", {"Notes/Trip"}),
        ("notes%", {"notes", "Notes/Trip", "notes_old/x", "notes-old"}),
        ("notes*", {"notes", "Notes/Trip", "notes_old/x", "notes-old"}),
        ("notes_old", {"notes_old/x"}),
        ("notes_old%", {"notes_old/x", "notes-old"}),
        (r"notes\_old%", {"notes_old/x"}),
        ("STRASSE/Ä", {"straße/ä"}),
        (r"100\%", {"100%/done"}),
        (r"a\\b", {"a\\b"}),
        ("[ROOT]/notes", {"notes", "Notes/Trip"}),
        ("nowhere", set()),
    ],
)
def test_a_path_filter_means_in_sql_what_it_means_in_the_pattern(
    house: House, pattern: str, expected: set[str]
) -> None:
    for path in ("notes", "Notes/Trip", "notes_old/x", "notes-old", "straße/ä", "100%/done", "a\\b"):
        house.put(content=path, path=path)
    assert found(house, path_filter=pattern) == expected
    with house.database.reading() as connection:
        where = filters.compile(Filters(path_filter=pattern))
        admitted = paths.admitted_path_keys(connection, house.space_id, where)
        matching = paths.matching_path_keys(connection, house.space_id, parse_path_pattern(pattern))
    assert matching == {path_key(path) for path in expected}
    assert admitted == (None if pattern == "%" else matching)


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("notes", {"notes", "notes/a", "notes-b", "notes%c"}),
        ("notes/", {"notes/a"}),
        ("NOTES%", {"notes%c"}),
        ("note_", set()),
        ("", {"notes", "notes/a", "notes-b", "notes%c", "other"}),
        ("/", {"notes", "notes/a", "notes-b", "notes%c", "other"}),
        ("%", {"notes", "notes/a", "notes-b", "notes%c", "other"}),
    ],
)
def test_a_path_prefix_is_literal_and_a_slash_at_its_end_counts(house: House, prefix: str, expected: set[str]) -> None:
    for path in ("notes", "notes/a", "notes-b", "notes%c", "other"):
        house.put(content=path, path=path)
    assert found(house, path_prefix=prefix) == expected


def test_a_pattern_that_does_not_parse_is_refused() -> None:
    with pytest.raises(InvalidPattern):
        filters.compile(Filters(path_filter="ends\\"))


letters = st.text(st.sampled_from("aAbß%_\\/*é İ"), max_size=6)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(letters.filter(str.strip), min_size=1, max_size=4), letters)
def test_sql_and_pattern_agree_on_every_path(house: House, stored: list[str], text: str) -> None:
    try:
        pattern = parse_path_pattern(text)
    except InvalidPattern:
        return
    keys = {path_key(path) for path in stored}
    with house.database.writing() as connection:
        records: list[Memory] = [memory(space_id=house.space_id, path=path) for path in stored]
        memories.insert_many(connection, records)
        matching = paths.matching_path_keys(connection, house.space_id, pattern)
        for record in records:
            memories.delete(connection, record.id)
        assert paths.matching_path_keys(connection, house.space_id, parse_path_pattern("%")) == frozenset()
    assert matching == {key for key in keys if pattern.matches(key)}


def test_filters_can_key_a_cache() -> None:
    one, other = (filters.compile(Filters(path_filter="a%", bucket="work")) for _ in range(2))
    assert len({one, other, replace(one, bucket=None)}) == 2
