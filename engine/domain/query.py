"""What is asked: filters, strict and forgiving queries, context packs and lists."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from engine.domain.memory import Kind, MemoryType, Status

MATCH_ALL = "%"
LIST_ALL = "*"
"""The query text that lists instead of searching."""

MAX_LIMIT = 100
SEARCHABLE_KINDS = frozenset({Kind.MEMORY, Kind.EVENT, Kind.REMINDER, Kind.DECISION, Kind.STATE})


class Mode(StrEnum):
    """`STRICT` answers only what it can vouch for; `FORGIVING` always gives its best effort."""

    STRICT = "strict"
    FORGIVING = "forgiving"


class TimeAxis(StrEnum):
    """Which time of a record a window filters and an order sorts by."""

    CREATED = "created_at"
    UPDATED = "updated_at"
    EVENT = "event_time"


class TimeOrder(StrEnum):
    """Chronological order of an answer."""

    ASCENDING = "asc"
    DESCENDING = "desc"


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """Half-open `[since, until)`, both aware or `None`."""

    since: datetime | None = None
    until: datetime | None = None
    axis: TimeAxis = TimeAxis.CREATED


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Conditions that every returned record meets, applied inside every leg and again in SQL.

    `path_filter` and `memory_type` are ILIKE patterns (`%` any run, `_` one character, backslash
    escapes), case-insensitive under NFC and Unicode case folding. `bucket`, `scope`, `team_id`,
    `source`, `agent_id`, `item_status` are exact; `None` or `%` means any.
    """

    path_filter: str = MATCH_ALL
    path_prefix: str | None = None
    memory_type: str = MATCH_ALL
    bucket: str | None = None
    scope: str | None = None
    team_id: str | None = None
    statuses: frozenset[Status] = frozenset({Status.ACTIVE})
    kinds: frozenset[Kind] = SEARCHABLE_KINDS
    source: str | None = None
    source_id: str | None = None
    agent_id: str | None = None
    item_status: str | None = None
    window: TimeWindow = field(default_factory=TimeWindow)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One question. `limit` is 1..100. `min_confidence` (0..1) overrides the strict threshold.

    `spaces` are ids or names; empty means all spaces that the caller may read.
    `hypothetical_answer` is extra text for the dense leg only.
    """

    text: str
    mode: Mode = Mode.STRICT
    limit: int = 5
    spaces: tuple[str, ...] = ()
    filters: Filters = field(default_factory=Filters)
    prefer_working: bool = False
    explain: bool = False
    min_confidence: float | None = None
    time_order: TimeOrder | None = None
    hypothetical_answer: str | None = None
    recency_bias: float = 0.0
    diversify: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextQuery:
    """A question whose answers are packed into `max_tokens` of rendered text."""

    query: Query
    max_items: int = 8
    max_tokens: int = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class ListQuery:
    """A page of records without ranking."""

    spaces: tuple[str, ...] = ()
    filters: Filters = field(default_factory=Filters)
    limit: int = 100
    offset: int = 0
    order_by: TimeAxis | str = TimeAxis.CREATED
    order: TimeOrder = TimeOrder.DESCENDING


__all__ = [
    "LIST_ALL",
    "MATCH_ALL",
    "MAX_LIMIT",
    "SEARCHABLE_KINDS",
    "ContextQuery",
    "Filters",
    "ListQuery",
    "MemoryType",
    "Mode",
    "Query",
    "TimeAxis",
    "TimeOrder",
    "TimeWindow",
]
