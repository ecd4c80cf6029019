"""Counts over the live records of a space."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection

from engine.domain.memory import Status
from engine.errors import InvalidRequest
from engine.store.schema import memories

GROUPS = frozenset({"memory_type", "kind", "bucket", "path", "status", "source", "scope", "agent_id"})


@dataclass(frozen=True, slots=True)
class Figures:
    """How much a space holds, and since when."""

    records: int
    content_bytes: int
    oldest: datetime | None
    newest: datetime | None


def figures(connection: Connection, space_id: str, now: datetime) -> Figures:
    """Number and size of the live records."""
    table = memories.c
    query = sa.select(
        sa.func.count(),
        sa.func.coalesce(sa.func.sum(content_bytes(connection)), 0),
        sa.func.min(table.created_at),
        sa.func.max(table.created_at),
    ).where(*_live(space_id, now))
    row = connection.execute(query).one()
    return Figures(row[0], int(row[1]), row[2], row[3])


def distribution(connection: Connection, space_id: str, group: str, now: datetime, limit: int = 200) -> dict[str, int]:
    """Live records by one of `GROUPS`, largest first, then by name. Raises `InvalidRequest` for another group."""
    if group not in GROUPS:
        raise InvalidRequest(f"records can be grouped by {', '.join(sorted(GROUPS))}", field="group_by")
    column = sa.func.coalesce(memories.c[group], "")
    query = (
        sa.select(column, sa.func.count())
        .where(*_live(space_id, now))
        .group_by(column)
        .order_by(sa.func.count().desc(), column)
        .limit(limit)
    )
    return {row[0]: row[1] for row in connection.execute(query)}


def _live(space_id: str, now: datetime) -> tuple[ColumnElement[bool], ...]:
    table = memories.c
    unexpired = sa.or_(table.expires_at.is_(None), table.expires_at > now)
    return table.space_id == space_id, table.status != Status.DELETED.value, unexpired


def content_bytes(connection: Connection) -> ColumnElement[int]:
    """The size of a content in UTF-8 bytes, as SQL."""
    # SQLite before 3.43 has no octet_length; PostgreSQL's cast to bytea would read backslashes.
    if connection.dialect.name == "sqlite":
        return sa.func.length(sa.cast(memories.c.content, sa.LargeBinary))
    return sa.func.octet_length(memories.c.content)
