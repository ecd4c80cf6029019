"""From an `IndexFilter` to plain conditions that each adapter translates word by word.

Two forms of the same filter:

* `flat`: one conjunction. For an engine that plans well.
* `lanes`: up to two disjoint conjunctions whose union is the filter. Qdrant Edge pays per point for
  every condition beyond the first (100,000 points, float16: 6 ms with one, 25 ms with two, 50 ms
  with the four that every search has). A *lane* is one payload key that stands for space, status,
  searchable kind and "has an expiry or not" together. Nearly all records never expire, so the
  usual search is one condition on the lasting lane, and a second, small one on the expiring lane.

Times are integers: microseconds since 1970, exact as long as they stay below 2**53 (the year 2255),
because engines compare ranges as doubles. A record without expiry expires at `NEVER`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from engine.domain.query import SEARCHABLE_KINDS
from engine.index.protocol import IndexFilter

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

TIME_AXES = ("created_at", "updated_at", "event_time")
EXACT_FIELDS = ("bucket", "scope", "team_id", "source", "source_id", "agent_id", "item_status")


def micros(moment: datetime) -> int:
    """Microseconds since 1970. Raises `TypeError` for a naive datetime."""
    return (moment - _EPOCH) // _MICROSECOND


NEVER = micros(datetime.max.replace(tzinfo=UTC))


@dataclass(frozen=True, slots=True)
class OneOf:
    """The keyword under `key` is one of `values` (never empty)."""

    key: str
    values: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Between:
    """The integer under `key` lies within the bounds that are given; a missing key never does."""

    key: str
    at_least: int | None = None
    below: int | None = None
    above: int | None = None


Condition = OneOf | Between


def can_match(where: IndexFilter) -> bool:
    """False when a set of allowed values is empty: then nothing matches and no engine is asked."""
    sets = (where.path_keys, where.memory_types, where.kinds, where.statuses, where.record_ids)
    return all(allowed is None or allowed for allowed in sets)


def flat(where: IndexFilter) -> tuple[Condition, ...]:
    """The filter as one conjunction. Raises `ValueError` for a window without a time axis."""
    return (
        OneOf("space_id", frozenset({where.space_id})),
        _alive(where),
        *_sets(status=where.statuses, kind=where.kinds),
        *_narrowing(where),
    )


def lanes(where: IndexFilter) -> tuple[tuple[Condition, ...], ...]:
    """The filter as disjoint conjunctions, cheapest form first. Raises as `flat` does."""
    if where.statuses is None or where.kinds is None:
        return (flat(where),)
    kinds = () if where.kinds == SEARCHABLE_KINDS else _sets(kind=where.kinds)
    rest = (*kinds, *_narrowing(where))
    lasting, expiring = (
        OneOf("lane", frozenset(_lanes_of(where.space_id, where.statuses, where.kinds, expires=expires)))
        for expires in (False, True)
    )
    return (lasting, *rest), (expiring, _alive(where), *rest)


def lane(space_id: str, status: str, kind: str, *, expires: bool) -> str:
    """The value that a point carries under the payload key `lane`."""
    searchable = "searchable" if kind in SEARCHABLE_KINDS else "other"
    return f"{space_id}/{status}/{searchable}/{'expiring' if expires else 'lasting'}"


def _lanes_of(space_id: str, statuses: Iterable[str], kinds: frozenset[str], *, expires: bool) -> set[str]:
    return {lane(space_id, status, kind, expires=expires) for status in statuses for kind in kinds}


def _alive(where: IndexFilter) -> Between:
    return Between(key="expires_at", above=micros(where.alive_at))


def _narrowing(where: IndexFilter) -> tuple[Condition, ...]:
    exact = {name: getattr(where, name) for name in EXACT_FIELDS}
    return (
        *_sets(path_key=where.path_keys, memory_type=where.memory_types, record_id=where.record_ids),
        *(OneOf(name, frozenset({value})) for name, value in exact.items() if value is not None),
        *_window(where),
    )


def _sets(**allowed: frozenset[str] | None) -> tuple[Condition, ...]:
    return tuple(OneOf(key, values) for key, values in allowed.items() if values is not None)


def _window(where: IndexFilter) -> tuple[Condition, ...]:
    if where.since is None and where.until is None:
        return ()
    if where.time_axis not in TIME_AXES:
        raise ValueError(f"a time window needs one of {TIME_AXES} as its axis, not {where.time_axis!r}")
    since = None if where.since is None else micros(where.since)
    until = None if where.until is None else micros(where.until)
    return (Between(key=where.time_axis, at_least=since, below=until),)
