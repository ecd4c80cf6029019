"""Counts over the records that meet a filter, in total and by group.

A record without a value counts under the empty text. Days are those of `created_at` in UTC.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import BigInteger, ColumnElement, Connection

from engine.errors import InvalidRequest
from engine.store.columns import from_microseconds
from engine.store.figures import Figures, content_bytes
from engine.store.filters import StoreFilter, conditions
from engine.store.schema import memories

_COLUMNS = {
    "path": memories.c.path,
    "type": memories.c.memory_type,
    "memory_type": memories.c.memory_type,
    "status": memories.c.status,
    "source": memories.c.source,
    "bucket": memories.c.bucket,
    "scope": memories.c.scope,
    "kind": memories.c.kind,
    "agent": memories.c.agent_id,
}
GROUPS = (*_COLUMNS, "day", "metadata:<key>")
_METADATA = "metadata:"
_METADATA_KEY = re.compile(r"[\w.-]{1,128}")
_DAY_MICROSECONDS = 86_400_000_000


def totals(connection: Connection, space_ids: Collection[str], where: StoreFilter, now: datetime) -> Figures:
    """Number, size and age of the records of these spaces that the filter admits."""
    table = memories.c
    query = sa.select(
        sa.func.count(),
        sa.func.coalesce(sa.func.sum(content_bytes(connection)), 0),
        sa.func.min(table.created_at),
        sa.func.max(table.created_at),
    ).where(table.space_id.in_(list(space_ids)), *conditions(where, now))
    row = connection.execute(query).one()
    return Figures(row[0], int(row[1]), row[2], row[3])


def grouped(
    connection: Connection, space_ids: Collection[str], where: StoreFilter, now: datetime, group: str, limit: int
) -> dict[str, int]:
    """The `limit` largest groups, by one of `GROUPS`. Raises `InvalidRequest` for another."""
    value = _value(group).label("value")
    admitted = (
        sa.select(value).where(memories.c.space_id.in_(list(space_ids)), *conditions(where, now)).subquery("admitted")
    )
    number = sa.func.count()
    query = (
        sa.select(admitted.c.value, number)
        .group_by(admitted.c.value)
        .order_by(number.desc(), admitted.c.value)
        .limit(limit)
    )
    return {_name(group, row[0]): row[1] for row in connection.execute(query)}


def _value(group: str) -> ColumnElement[str] | ColumnElement[int]:
    if group == "day":
        return sa.type_coerce(memories.c.created_at, BigInteger) // _DAY_MICROSECONDS
    if group.startswith(_METADATA):
        key = group.removeprefix(_METADATA)
        if not _METADATA_KEY.fullmatch(key):
            raise InvalidRequest("a metadata key to group by has letters, digits, `_`, `.` and `-`", field="group_by")
        value: ColumnElement[str] = memories.c.metadata[key].as_string()
        return value
    if group not in _COLUMNS:
        raise InvalidRequest(f"records can be grouped by {', '.join(GROUPS)}", field="group_by")
    return sa.func.coalesce(_COLUMNS[group], "")


def _name(group: str, value: object) -> str:
    if group == "day" and isinstance(value, int):
        return from_microseconds(value * _DAY_MICROSECONDS).date().isoformat()
    return "" if value is None else str(value)
