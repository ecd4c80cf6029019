"""Entities of a space: what its records name, with the records that name it.

An entity's id follows from its space and key, so finding it again changes nothing. One that no live
record names any more is not shown; it comes back when a record names it again. With the last record that
names it, deleted or not, it goes for good.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, Row

from engine.domain.memory import Memory, Status
from engine.domain.source import Entity, Mention
from engine.errors import InvalidRequest
from engine.store.database import hold_space
from engine.store.rows import memory_of
from engine.store.schema import entities, entity_mentions, memories
from engine.store.upsert import insert_into
from engine.text.folding import fold

_LINKED_LIMIT = 200
_CHUNK = 200


def entity_id(space_id: str, key: str) -> str:
    """The id of an entity: the same whenever and wherever it is found."""
    return str(uuid.uuid5(uuid.UUID(space_id), f"entity:{key}"))


def record(
    connection: Connection, space_id: str, found: Mapping[str, Sequence[Mention]], now: datetime
) -> tuple[int, int]:
    """Note what records (by id) name. Returns the number of distinct entities and of links."""
    hold_space(connection, space_id)
    named = {mention.key: mention for mentions in found.values() for mention in mentions}
    links = {(entity_id(space_id, each.key), memory_id) for memory_id, each_of in found.items() for each in each_of}
    _upsert(connection, space_id, list(named.values()), now)
    rows = [{"entity_id": entity, "memory_id": memory} for entity, memory in sorted(links)]
    for start in range(0, len(rows), _CHUNK):
        statement = insert_into(connection, entity_mentions).values(rows[start : start + _CHUNK])
        connection.execute(statement.on_conflict_do_nothing())
    return len(named), len(links)


def forget(connection: Connection, memory_id: str) -> None:
    """Let a record name nothing, and remove what no record names any more: its name is text of the record."""
    links = entity_mentions.c.memory_id == memory_id
    named = list(connection.execute(sa.select(entity_mentions.c.entity_id).where(links)).scalars())
    if not named:
        return
    connection.execute(sa.delete(entity_mentions).where(links))
    still = sa.exists().where(entity_mentions.c.entity_id == entities.c.id)
    connection.execute(sa.delete(entities).where(entities.c.id.in_(named), ~still))


def page(
    connection: Connection,
    space_ids: Collection[str],
    now: datetime,
    *,
    entity_type: str | None = None,
    text: str | None = None,
    order_by: str = "name",
    descending: bool = False,
    limit: int = 50,
    offset: int = 0,
) -> tuple[list[Entity], int]:
    """A page of the entities of these spaces, and how many there are in all.

    `text` is looked for in names, ignoring case. `order_by` is `name`, `edge_count` or `created_at`.
    """
    counted = _counted(space_ids, now)
    if entity_type is not None:
        counted = counted.where(entities.c.entity_type == entity_type)
    if text:
        counted = counted.where(entities.c.key.contains(fold(text), autoescape=True))
    shown = counted.subquery("shown")
    orders = {"name": shown.c.key, "edge_count": shown.c.edge_count, "created_at": shown.c.created_at}
    if order_by not in orders:
        raise InvalidRequest(f"entities can be sorted by {', '.join(orders)}", field="sort_by")
    key = orders[order_by].desc() if descending else orders[order_by].asc()
    rows = connection.execute(sa.select(shown).order_by(key, shown.c.id).limit(limit).offset(offset))
    total = connection.execute(sa.select(sa.func.count()).select_from(shown)).scalar_one()
    return [_entity(row) for row in rows], total


def get(
    connection: Connection, space_ids: Collection[str], wanted: str, now: datetime
) -> tuple[Entity, list[Memory]] | None:
    """An entity of these spaces with the newest live records that name it."""
    shown = _counted(space_ids, now).where(entities.c.id == wanted)
    row = connection.execute(shown).one_or_none()
    if row is None:
        return None
    query = (
        sa.select(memories)
        .join(entity_mentions, entity_mentions.c.memory_id == memories.c.id)
        .where(entity_mentions.c.entity_id == wanted, *_live(now))
        .order_by(memories.c.created_at.desc(), memories.c.id)
        .limit(_LINKED_LIMIT)
    )
    return _entity(row), [memory_of(each) for each in connection.execute(query)]


def _upsert(connection: Connection, space_id: str, named: Sequence[Mention], now: datetime) -> None:
    rows = [
        {
            "id": entity_id(space_id, each.key),
            "space_id": space_id,
            "key": each.key,
            "name": each.name,
            "entity_type": each.entity_type,
            "created_at": now,
            "updated_at": now,
        }
        for each in sorted(named, key=lambda mention: mention.key)
    ]
    for start in range(0, len(rows), _CHUNK):
        statement = insert_into(connection, entities).values(rows[start : start + _CHUNK])
        refreshed = {
            "updated_at": statement.excluded.updated_at,
            "entity_type": sa.func.coalesce(entities.c.entity_type, statement.excluded.entity_type),
        }
        connection.execute(statement.on_conflict_do_update(index_elements=["id"], set_=refreshed))


def _counted(space_ids: Collection[str], now: datetime) -> sa.Select[Any]:
    return (
        sa.select(entities, sa.func.count().label("edge_count"))
        .join(entity_mentions, entity_mentions.c.entity_id == entities.c.id)
        .join(memories, memories.c.id == entity_mentions.c.memory_id)
        .where(entities.c.space_id.in_(list(space_ids)), *_live(now))
        .group_by(*entities.c)
    )


def _live(now: datetime) -> tuple[sa.ColumnElement[bool], ...]:
    unexpired = sa.or_(memories.c.expires_at.is_(None), memories.c.expires_at > now)
    return memories.c.status != Status.DELETED.value, unexpired


def _entity(row: Row[Any]) -> Entity:
    names = ("id", "space_id", "name", "entity_type", "edge_count", "created_at", "updated_at")
    return Entity(**{name: getattr(row, name) for name in names})
