"""Every condition of an `IndexFilter`, in both legs, on every index."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from engine.domain.query import SEARCHABLE_KINDS
from engine.index.protocol import Index, Point
from tests.index.examples import EVERYTHING, NOW, USUAL, matching, narrowed, point

SECOND = timedelta(seconds=1)
MICROSECOND = timedelta(microseconds=1)

SET_FIELDS = {
    "path_keys": ("path_key", "work/acme"),
    "memory_types": ("memory_type", "episodic"),
    "kinds": ("kind", "event"),
    "statuses": ("status", "archived"),
    "record_ids": ("record_id", "wanted"),
}
EXACT_FIELDS = ("bucket", "scope", "team_id", "source", "source_id", "agent_id", "item_status")


@pytest.mark.parametrize("name", SET_FIELDS)
def test_a_set_keeps_the_records_whose_value_it_holds(index: Index, name: str) -> None:
    field, value = SET_FIELDS[name]
    index.upsert([_valued("wanted", field, value), point("other")])
    assert matching(index, narrowed(EVERYTHING, **{name: frozenset({value})})) == {"wanted"}
    assert matching(index, narrowed(EVERYTHING, **{name: frozenset({value, "no such value"})})) == {"wanted"}
    assert matching(index, narrowed(EVERYTHING, **{name: frozenset({"no such value"})})) == set()


@pytest.mark.parametrize("name", SET_FIELDS)
def test_an_empty_set_matches_nothing_and_no_set_matches_all(index: Index, name: str) -> None:
    index.upsert([point("a"), point("b")])
    assert matching(index, narrowed(EVERYTHING, **{name: frozenset()})) == set()
    assert matching(index, narrowed(EVERYTHING, **{name: None})) == {"a", "b"}


@pytest.mark.parametrize("name", EXACT_FIELDS)
def test_an_exact_field_keeps_equal_values_only(index: Index, name: str) -> None:
    index.upsert([_valued("wanted", name, "x"), _valued("longer", name, "xx"), point("unset", bucket="unset")])
    assert matching(index, narrowed(EVERYTHING, **{name: "x"})) == {"wanted"}
    assert matching(index, narrowed(EVERYTHING, **{name: "X"})) == set()


@pytest.mark.parametrize("name", EXACT_FIELDS)
def test_the_value_of_one_field_is_never_taken_for_that_of_another(index: Index, name: str) -> None:
    others: dict[str, Any] = {other: "x" for other in EXACT_FIELDS if other != name} | {name: "y"}
    index.upsert([point("a", **others)])
    assert matching(index, narrowed(EVERYTHING, **{name: "x"})) == set()
    assert matching(index, narrowed(EVERYTHING, **{name: f"y={name}"})) == set()


def test_conditions_add_up(index: Index) -> None:
    index.upsert(
        [
            point("both", bucket="home", path_key="a"),
            point("bucket only", bucket="home", path_key="b"),
            point("path only", path_key="a"),
        ]
    )
    assert matching(index, replace(USUAL, bucket="home", path_keys=frozenset({"a"}))) == {"both"}


def test_statuses_and_kinds_combine_in_every_way(index: Index) -> None:
    index.upsert(
        [
            point(f"{status} {kind}", status=status, kind=kind)
            for status in ("active", "archived", "deleted")
            for kind in ("memory", "event", "snapshot")
        ]
    )
    usual = replace(EVERYTHING, statuses=frozenset({"active"}), kinds=frozenset(SEARCHABLE_KINDS))
    assert matching(index, usual) == {"active memory", "active event"}
    assert matching(index, replace(usual, kinds=frozenset({"event"}))) == {"active event"}
    assert matching(index, replace(usual, kinds=frozenset({"snapshot", "event"}))) == {
        "active snapshot",
        "active event",
    }
    assert matching(index, replace(usual, statuses=frozenset({"archived", "deleted"}))) == {
        f"{status} {kind}" for status in ("archived", "deleted") for kind in ("memory", "event")
    }
    assert matching(index, replace(usual, statuses=None, kinds=frozenset({"snapshot"}))) == {
        f"{status} snapshot" for status in ("active", "archived", "deleted")
    }
    assert len(matching(index, replace(usual, kinds=None))) == 3


@pytest.mark.parametrize("where", [USUAL, EVERYTHING], ids=["usual", "everything"])
def test_a_record_is_gone_in_the_very_microsecond_in_which_it_expires(index: Index, where: Any) -> None:
    index.upsert(
        [
            point("never"),
            point("later", expires_at=NOW + MICROSECOND),
            point("now", expires_at=NOW),
            point("gone", expires_at=NOW - SECOND),
        ]
    )
    assert matching(index, where) == {"never", "later"}
    assert matching(index, replace(where, alive_at=NOW - MICROSECOND)) == {"never", "later", "now"}
    assert matching(index, replace(where, alive_at=NOW + MICROSECOND)) == {"never"}


def test_expiring_and_lasting_records_are_ranked_together(index: Index) -> None:
    index.upsert([point(f"record-{number}", expires_at=NOW + SECOND if number % 2 else None) for number in range(8)])
    assert matching(index, USUAL) == {f"record-{number}" for number in range(8)}


@pytest.mark.parametrize("axis", ["created_at", "updated_at", "event_time"])
def test_a_window_is_half_open_to_the_microsecond(index: Index, axis: str) -> None:
    since, until = NOW, NOW + SECOND
    moments: dict[str, datetime] = {
        "before": since - MICROSECOND,
        "first": since,
        "last": until - MICROSECOND,
        "after": until,
    }
    index.upsert([_valued(name, axis, moment) for name, moment in moments.items()])
    window = replace(USUAL, time_axis=axis)
    assert matching(index, replace(window, since=since, until=until)) == {"first", "last"}
    assert matching(index, replace(window, since=until)) == {"after"}
    assert matching(index, replace(window, until=since)) == {"before"}
    assert matching(index, replace(window, since=until, until=since)) == set()


def test_windows_compare_moments_and_not_wall_clocks(index: Index) -> None:
    here = timezone(timedelta(hours=5, minutes=30))
    index.upsert(
        [point("a", created_at=NOW.astimezone(here)), point("old", created_at=datetime(1969, 7, 20, tzinfo=UTC))]
    )
    window = replace(USUAL, time_axis="created_at", since=NOW, until=(NOW + SECOND).astimezone(here))
    assert matching(index, window) == {"a"}
    assert matching(index, replace(window, since=datetime(1960, 1, 1, tzinfo=UTC), until=NOW)) == {"old"}


def test_a_record_without_event_time_lies_outside_every_window_of_event_time(index: Index) -> None:
    index.upsert([point("timeless"), point("timed", event_time=NOW)])
    assert matching(index, replace(USUAL, time_axis="event_time", until=NOW + SECOND)) == {"timed"}
    assert matching(index, replace(USUAL, time_axis="event_time")) == {"timeless", "timed"}


def test_a_window_without_a_time_axis_is_refused_rather_than_ignored(index: Index) -> None:
    index.upsert([point("a")])
    for axis in (None, "expires_at"):
        with pytest.raises(ValueError, match="axis"):
            matching(index, replace(USUAL, time_axis=axis, since=NOW))


def test_many_paths_are_an_exact_set_as_well(index: Index) -> None:
    index.upsert([point(f"record-{number:04d}", path_key=f"path/{number}") for number in range(60)])
    wanted = frozenset(f"path/{number}" for number in range(50, 2000))
    assert matching(index, replace(USUAL, path_keys=wanted)) == {f"record-{number:04d}" for number in range(50, 60)}


def _valued(record_id: str, field: str, value: Any) -> Point:
    changes: dict[str, Any] = {} if field == "record_id" else {field: value}
    return point(record_id, **changes)
