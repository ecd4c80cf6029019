"""A query, checked and made ready: what every later step may take for granted.

Blank text, limits out of range, patterns that do not parse and types that do not exist are refused
here. Patterns are resolved to exact sets per space, against the space's distinct paths.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from engine.domain.query import MAX_LIMIT, Query
from engine.errors import InvalidRequest
from engine.index.protocol import IndexFilter
from engine.store import filters, paths
from engine.store.filters import StoreFilter
from engine.text.folding import clean

QUERY_LIMIT_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class Prepared:
    """A checked query. `text` is cleaned, never blank."""

    query: Query
    text: str
    where: StoreFilter
    now: datetime


def prepare(query: Query, now: datetime) -> Prepared:
    """Check a query.

    Raises:
        InvalidRequest: blank or overlong text, limit outside 1..100, confidence outside 0..1,
            an unknown memory type, a window that ends before it starts.
        InvalidPattern: a pattern that does not parse.
    """
    if any("\ud800" <= character <= "\udfff" or character == "\x00" for character in query.text):
        raise InvalidRequest("query is not valid text (a lone surrogate or NUL)", field="query")
    text = clean(query.text).strip()
    if not text:
        raise InvalidRequest("query is blank; say what to look for, or use * to list", field="query")
    if len(text) > QUERY_LIMIT_CHARACTERS:
        raise InvalidRequest(f"query is longer than {QUERY_LIMIT_CHARACTERS} characters", field="query")
    if not 1 <= query.limit <= MAX_LIMIT:
        raise InvalidRequest(f"limit must lie between 1 and {MAX_LIMIT}", field="limit")
    if query.min_confidence is not None and not 0.0 <= query.min_confidence <= 1.0:
        raise InvalidRequest("min_confidence must lie between 0 and 1", field="min_confidence")
    if not 0.0 <= query.recency_bias <= 1.0:
        raise InvalidRequest("recency_bias must lie between 0 and 1", field="recency_bias")
    return Prepared(query, text, filters.compile(query.filters), now)


def index_filter(connection: Connection, prepared: Prepared, space_id: str) -> IndexFilter | None:
    """The filter of one space for every leg; `None` when the patterns leave nothing there."""
    where = prepared.where
    path_keys = paths.admitted_path_keys(connection, space_id, where)
    if path_keys is not None:
        if not path_keys:
            return None
        if len(path_keys) == paths.count(connection, space_id):
            # No condition is quicker in the index than one that every record meets.
            path_keys = None
    if where.memory_types is not None and not where.memory_types:
        return None
    return IndexFilter(
        space_id=space_id,
        alive_at=prepared.now,
        path_keys=path_keys,
        memory_types=None if where.memory_types is None else frozenset(each.value for each in where.memory_types),
        kinds=None if where.kinds is None else frozenset(kind.value for kind in where.kinds),
        statuses=frozenset(status.value for status in where.statuses),
        bucket=where.bucket,
        scope=where.scope,
        team_id=where.team_id,
        source=where.source,
        source_id=where.source_id,
        agent_id=where.agent_id,
        item_status=where.item_status,
        time_axis=_axis(where),
        since=where.window.since,
        until=where.window.until,
    )


def _axis(where: StoreFilter) -> str | None:
    window = where.window
    return window.axis.value if window.since is not None or window.until is not None else None
