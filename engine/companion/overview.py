"""How much there is, of what kind, and what was done lately; of what the caller may read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from engine.companion.usage import ACTION as USED
from engine.domain.access import Principal
from engine.domain.memory import ForgetMode, Kind
from engine.domain.query import Filters
from engine.engine import Engine
from engine.store import audit
from engine.store.audit import Deed
from engine.store.figures import Figures
from engine.store.filters import compile as compile_filters
from engine.store.groups import grouped, totals

SHOWN_CHARACTERS = 200
_WRITES = ("remember", "update", "restore")
_DELETIONS = tuple(mode.value for mode in ForgetMode)


class ActivityType(StrEnum):
    """What activity is asked for."""

    ALL = "all"
    WRITES = "writes"
    DELETIONS = "deletions"
    READS = "reads"
    REMINDERS = "reminders"
    TIMELINE = "timeline"


_ACTIONS: Mapping[ActivityType, tuple[str, ...]] = {
    ActivityType.WRITES: _WRITES,
    ActivityType.DELETIONS: _DELETIONS,
    ActivityType.READS: (USED,),
}
_KINDS: Mapping[ActivityType, tuple[str, ...]] = {
    ActivityType.REMINDERS: (Kind.REMINDER.value,),
    ActivityType.TIMELINE: (Kind.EVENT.value,),
}


@dataclass(frozen=True, slots=True)
class Statistics:
    """`groups` map each group that was asked for to its largest values and their numbers of records."""

    totals: Figures
    groups: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Activity:
    """The latest `deeds`, newest first, and how many there are in all."""

    deeds: tuple[Deed, ...]
    total: int


def statistics(
    engine: Engine,
    principal: Principal,
    *,
    filters: Filters,
    spaces: Sequence[str] = (),
    groups: Sequence[str] = (),
    top_n: int = 10,
) -> Statistics:
    """Counts of the records that the filters admit. Raises `InvalidRequest` for a group that does not exist."""
    space_ids = _space_ids(engine, principal, spaces)
    where, now = compile_filters(filters), datetime.now(UTC)
    with engine.database.reading() as connection:
        return Statistics(
            totals(connection, space_ids, where, now),
            {group: grouped(connection, space_ids, where, now, group, top_n) for group in groups},
        )


def activity(
    engine: Engine,
    principal: Principal,
    *,
    wanted: ActivityType = ActivityType.ALL,
    spaces: Sequence[str] = (),
    since: datetime | None = None,
    until: datetime | None = None,
    include_timeline: bool = True,
    limit: int = 20,
) -> Activity:
    """What was done to records in `[since, until)`. What was forgotten is named by its id only."""
    space_ids = _space_ids(engine, principal, spaces)
    hides_events = wanted is ActivityType.ALL and not include_timeline
    with engine.database.reading() as connection:
        found, total = audit.deeds(
            connection,
            principal.tenant_id,
            space_ids,
            datetime.now(UTC),
            actions=_ACTIONS.get(wanted, (*_WRITES, *_DELETIONS, USED)),
            kinds=_KINDS.get(wanted),
            other_than=Kind.EVENT.value if hides_events else None,
            since=since,
            until=until,
            limit=limit,
        )
    return Activity(tuple(found), total)


def kind_of_deed(deed: Deed) -> str:
    """`write`, `deletion` or `read`."""
    if deed.action in _WRITES:
        return "write"
    return "deletion" if deed.action in _DELETIONS else "read"


def _space_ids(engine: Engine, principal: Principal, spaces: Sequence[str]) -> list[str]:
    found = [engine.space(principal, ref) for ref in spaces] if spaces else engine.spaces(principal)
    return [each.space.id for each in found]
