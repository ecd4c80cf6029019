"""Filters, checked once and turned into SQL conditions.

`compile` parses patterns and refuses what cannot be applied; `conditions` yields the conjunction
that every read of records carries. Deleted and expired records meet it never: what was forgotten
comes back only through `memories.get_any`, for `restore`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import BindParameter, ColumnElement, bindparam, false, or_

from engine.domain.memory import Kind, MemoryType, Status
from engine.domain.query import MATCH_ALL, Filters, TimeAxis, TimeWindow
from engine.errors import InvalidRequest
from engine.store.columns import Moment
from engine.store.schema import memories
from engine.text.folding import fold, path_key
from engine.text.patterns import Pattern, parse_path_pattern, parse_value_pattern

ANY_TYPE = "auto"
"""Reads take this memory type for any; writes take it for: classify."""

_ESCAPE = "\\"
_AXES = {
    TimeAxis.CREATED: memories.c.created_at,
    TimeAxis.UPDATED: memories.c.updated_at,
    TimeAxis.EVENT: memories.c.event_time,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreFilter:
    """Checked filters. `None` means no condition; an empty set matches nothing.

    `path_prefix` is a folded literal. `statuses` never holds `Status.DELETED`.
    """

    path: Pattern | None = None
    path_prefix: str | None = None
    memory_types: frozenset[MemoryType] | None = None
    bucket: str | None = None
    scope: str | None = None
    team_id: str | None = None
    statuses: frozenset[Status] = frozenset(Status) - {Status.DELETED}
    kinds: frozenset[Kind] | None = None
    source: str | None = None
    source_id: str | None = None
    agent_id: str | None = None
    item_status: str | None = None
    window: TimeWindow = field(default_factory=TimeWindow)

    @property
    def limits_paths(self) -> bool:
        """Whether only some of a space's paths can match."""
        return self.path is not None or self.path_prefix is not None


ANY_LIVE = StoreFilter()
"""Every record that is neither deleted nor expired."""


def compile(filters: Filters) -> StoreFilter:  # noqa: A001  the verb of the field, as in re.compile
    """Check filters. Raises `InvalidPattern`, or `InvalidRequest` for an unknown type or an empty window."""
    window = filters.window
    if window.since is not None and window.until is not None and window.until <= window.since:
        raise InvalidRequest("`until` must be later than `since`.", field="until")
    return StoreFilter(
        path=_path(filters.path_filter),
        path_prefix=_prefix(filters.path_prefix),
        memory_types=_memory_types(filters.memory_type),
        bucket=_exact(filters.bucket),
        scope=_exact(filters.scope),
        team_id=_exact(filters.team_id),
        statuses=filters.statuses - {Status.DELETED},
        kinds=filters.kinds,
        source=_exact(filters.source),
        source_id=_exact(filters.source_id),
        agent_id=_exact(filters.agent_id),
        item_status=_exact(filters.item_status),
        window=window,
    )


def now_parameter() -> BindParameter[datetime]:
    """A `now` for `conditions` that is given when the statement runs, as parameter `now`."""
    return bindparam("now", type_=Moment)


def conditions(where: StoreFilter, now: datetime | BindParameter[datetime]) -> list[ColumnElement[bool]]:
    """The conjunction over `memories` for records that are alive at `now`."""
    table = memories.c
    found = [table.status.in_(sorted(where.statuses)), or_(table.expires_at.is_(None), table.expires_at > now)]
    found += path_conditions(where, table.path_key)
    if where.memory_types is not None:
        found.append(table.memory_type.in_(sorted(where.memory_types)))
    if where.kinds is not None:
        found.append(table.kind.in_(sorted(where.kinds)))
    for name in ("bucket", "scope", "team_id", "source", "source_id", "agent_id", "item_status"):
        value = getattr(where, name)
        if value is not None:
            found.append(table[name] == value)
    axis = _AXES[where.window.axis]
    if where.window.since is not None:
        found.append(axis >= where.window.since)
    if where.window.until is not None:
        found.append(axis < where.window.until)
    return found


def path_conditions(where: StoreFilter, column: ColumnElement[str]) -> list[ColumnElement[bool]]:
    """The part of the conjunction that is about paths, over a column of path keys."""
    found: list[ColumnElement[bool]] = []
    if where.path is not None:
        found.append(pattern_condition(where.path, column))
    if where.path_prefix is not None:
        found.append(column.startswith(where.path_prefix, autoescape=True))
    return found


def pattern_condition(pattern: Pattern, column: ColumnElement[str]) -> ColumnElement[bool]:
    """A pattern's alternatives as LIKE over a column of folded keys."""
    return or_(false(), *(column.like(alternative, escape=_ESCAPE) for alternative in pattern.like))


def _path(text: str) -> Pattern | None:
    if not text.strip():
        return None
    pattern = parse_path_pattern(text)
    return None if pattern.is_match_all else pattern


def _prefix(text: str | None) -> str | None:
    if text is None or not text.strip() or text == MATCH_ALL:
        return None
    key = path_key(text)
    if not key:
        return None
    # A prefix that ends in a slash names a folder, so `notes/` must not match `notes-old`.
    return f"{key}/" if text.rstrip().endswith("/") else key


def _memory_types(text: str) -> frozenset[MemoryType] | None:
    folded = fold(text.strip())
    if folded in ("", MATCH_ALL, ANY_TYPE):
        return None
    pattern = parse_value_pattern(text.strip())
    found = frozenset(kind for kind in MemoryType if pattern.matches(kind.value))
    if not found and pattern.literal is not None:
        known = ", ".join(MemoryType)
        raise InvalidRequest(f"Unknown memory type. Known are {known}; `%` is any.", field="memory_type")
    return found


def _exact(value: str | None) -> str | None:
    return None if value in (None, "", MATCH_ALL) else value
