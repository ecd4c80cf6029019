"""Lists of records as the ingest surface shows them: by nature of the statement, without working state."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection

from engine.domain.memory import Kind, Memory, MemoryType, Status
from engine.domain.source import Nature
from engine.errors import InvalidRequest
from engine.store.rows import memory_of
from engine.store.schema import memories

NATURE = "nature"
_SHOWN_KINDS = sorted(kind.value for kind in Kind if kind not in (Kind.STATE, Kind.SNAPSHOT))
_ORDERS: dict[str, ColumnElement[object]] = {
    "created_at": memories.c.created_at,
    "importance_score": memories.c.importance,
    "event_time": memories.c.event_time,
    "last_accessed_at": sa.func.coalesce(memories.c.last_accessed_at, memories.c.created_at),
    "access_frequency": memories.c.access_count,
}


def nature_of(memory: Memory) -> Nature:
    """The nature of a record: as ingest noted it, else by its type."""
    noted = memory.provenance.get(NATURE)
    if noted in tuple(Nature):
        return Nature(str(noted))
    return Nature.EPISODE if memory.memory_type is MemoryType.EPISODIC else Nature.SEMANTIC


def is_shown(memory: Memory) -> bool:
    """Whether the surface shows a record at all."""
    return memory.kind.value in _SHOWN_KINDS and memory.memory_type is not MemoryType.WORKING


def page(
    connection: Connection,
    space_ids: Collection[str],
    now: datetime,
    *,
    nature: str | None = None,
    order_by: str = "created_at",
    descending: bool = True,
    limit: int = 100,
    offset: int = 0,
) -> tuple[list[Memory], int]:
    """A page of live records and how many there are in all; those without the sorted value come last."""
    if order_by not in _ORDERS:
        raise InvalidRequest(f"memories can be sorted by {', '.join(_ORDERS)}", field="sort_by")
    unexpired = sa.or_(memories.c.expires_at.is_(None), memories.c.expires_at > now)
    admitted = [
        memories.c.space_id.in_(list(space_ids)),
        memories.c.status != Status.DELETED.value,
        memories.c.kind.in_(_SHOWN_KINDS),
        memories.c.memory_type != MemoryType.WORKING.value,
        unexpired,
    ]
    if nature is not None:
        admitted.append(_nature() == nature)
    key = _ORDERS[order_by]
    order = (sa.nulls_last(key.desc() if descending else key.asc()), memories.c.id.desc())
    rows = connection.execute(sa.select(memories).where(*admitted).order_by(*order).limit(limit).offset(offset))
    total = connection.execute(sa.select(sa.func.count()).select_from(memories).where(*admitted)).scalar_one()
    return [memory_of(row) for row in rows], total


def _nature() -> ColumnElement[str]:
    by_type = sa.case(
        (memories.c.memory_type == MemoryType.EPISODIC.value, Nature.EPISODE.value), else_=Nature.SEMANTIC.value
    )
    return sa.func.coalesce(memories.c.provenance[NATURE].as_string(), by_type)
