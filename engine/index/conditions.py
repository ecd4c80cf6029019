"""From an `IndexFilter` to plain conditions that each adapter translates word by word.

Times are integers: microseconds since 1970, exact as long as they stay below 2**53 (the year 2255),
because engines compare ranges as doubles. A record without expiry expires at `NEVER`, so that
"alive" is one range and not "absent or later".
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

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


def conjunction(where: IndexFilter) -> tuple[Condition, ...]:
    """All conditions of the filter. Raises `ValueError` for a window without a time axis."""
    return (
        one_of("space_id", where.space_id),
        alive(where.alive_at),
        *allowed(status=where.statuses, kind=where.kinds),
        *narrowing(where),
    )


def narrowing(where: IndexFilter) -> tuple[Condition, ...]:
    """The conditions that a usual search does not have: all but space, status, kind and expiry."""
    exact = {name: getattr(where, name) for name in EXACT_FIELDS}
    return (
        *allowed(path_key=where.path_keys, memory_type=where.memory_types, record_id=where.record_ids),
        *(one_of(name, value) for name, value in exact.items() if value is not None),
        *_window(where),
    )


def alive(at: datetime) -> Between:
    """Not expired at that moment."""
    return Between(key="expires_at", above=micros(at))


def allowed(**values: frozenset[str] | None) -> tuple[OneOf, ...]:
    """A condition for each key whose set is given."""
    return tuple(OneOf(key, chosen) for key, chosen in values.items() if chosen is not None)


def one_of(key: str, *values: str) -> OneOf:
    """The condition in short."""
    return OneOf(key, frozenset(values))


def _window(where: IndexFilter) -> tuple[Condition, ...]:
    if where.since is None and where.until is None:
        return ()
    if where.time_axis not in TIME_AXES:
        raise ValueError(f"a time window needs one of {TIME_AXES} as its axis, not {where.time_axis!r}")
    since = None if where.since is None else micros(where.since)
    until = None if where.until is None else micros(where.until)
    return (Between(key=where.time_axis, at_least=since, below=until),)
