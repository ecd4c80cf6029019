"""Records: one row each, with their former states in `memory_versions`.

Every write keeps `space_paths` in step; term counts and the outbox are for the caller, in the same
transaction. Reads for a caller (`authorized`, `page`, `get_any`) carry the authorization or the
liveness in the query; `get`, `get_many` and `batch_after` are the engine's own and ask nothing.

A *slot* is the digest of (bucket, scope, key): one indexed equality finds the record of a semantic
key or a working state, however long the key is (`namesakes`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection
from sqlalchemy.exc import IntegrityError

from engine.domain.access import Principal
from engine.domain.memory import Memory, MemoryType, MemoryVersion, Status
from engine.domain.query import TimeAxis
from engine.errors import Conflict, InvalidRequest
from engine.store import entities, paths, spaces
from engine.store.access import caller, readable_spaces
from engine.store.columns import KeyText
from engine.store.database import hold_space
from engine.store.filters import StoreFilter, conditions, now_parameter
from engine.store.rows import memory_of, values_of
from engine.store.schema import memories, memory_versions
from engine.text.folding import path_key

_CHUNK = 500
_ORDERS: dict[str, ColumnElement[Any]] = {
    TimeAxis.CREATED: memories.c.created_at,
    TimeAxis.UPDATED: memories.c.updated_at,
    TimeAxis.EVENT: memories.c.event_time,
    "importance": memories.c.importance,
    "access_count": memories.c.access_count,
    "last_accessed_at": sa.func.coalesce(memories.c.last_accessed_at, memories.c.created_at),
    "path": memories.c.path_key,
}
_NULLABLE_ORDERS = frozenset({TimeAxis.EVENT, "importance"})
ORDERS = frozenset(_ORDERS)
"""What `page` can order by."""


_UNDELETED = sorted(status.value for status in Status if status is not Status.DELETED)
_BY_IDS = sa.select(memories).where(memories.c.id.in_(sa.bindparam("ids", type_=KeyText, expanding=True)))


@dataclass(frozen=True, slots=True)
class Held:
    """A record that the caller may read, in any status, and whether it may change it."""

    memory: Memory
    can_write: bool


def insert(connection: Connection, memory: Memory) -> None:
    """Add one record; see `insert_many`."""
    insert_many(connection, [memory])


def insert_many(connection: Connection, records: Sequence[Memory]) -> None:
    """Add records, all or none. Raises `Conflict` if an id is taken, by whomever, `NotFound` without the space."""
    if not records:
        return
    for space_id in sorted({record.space_id for record in records}):
        hold_space(connection, space_id)
    try:
        with connection.begin_nested():
            connection.execute(sa.insert(memories), [values_of(record) for record in records])
    except IntegrityError as error:
        ids = [record.id for record in records]
        if len(set(ids)) < len(ids) or get_many(connection, ids):
            raise Conflict("A record with this id cannot be added.") from error
        for space_id in {record.space_id for record in records}:
            spaces.get(connection, space_id)
        raise
    paths.shift(connection, Counter(_place(record) for record in records))


def replace(connection: Connection, old: Memory, new: Memory) -> None:
    """Write `new` over `old`; if its version differs, keep the former content as a version.

    Raises `Conflict` if the stored record is no longer at `old.version`.
    """
    _overwrite(connection, old, new)
    if new.version != old.version:
        former = {
            "memory_id": old.id,
            "version": old.version,
            "content": old.content,
            "path": old.path,
            "memory_type": old.memory_type.value,
            "recorded_at": old.updated_at,
        }
        connection.execute(sa.insert(memory_versions), former)


def redact(connection: Connection, old: Memory, new: Memory) -> None:
    """Write `new` over `old` for good: no version keeps the former text, neither this one nor older ones.

    What the former text named is forgotten too.

    Raises `Conflict` as `replace` does.
    """
    _overwrite(connection, old, new)
    connection.execute(sa.delete(memory_versions).where(memory_versions.c.memory_id == old.id))
    entities.forget(connection, old.id)


def delete(connection: Connection, memory_id: str) -> bool:
    """Remove a record with all its versions. Whether it was there."""
    seen = get(connection, memory_id)
    if seen is None:
        return False
    hold_space(connection, seen.space_id)
    memory = get(connection, memory_id)
    if memory is None:
        return False
    connection.execute(sa.delete(memory_versions).where(memory_versions.c.memory_id == memory_id))
    entities.forget(connection, memory_id)
    connection.execute(sa.delete(memories).where(memories.c.id == memory_id))
    paths.shift(connection, {_place(memory): -1})
    return True


def touch(connection: Connection, ids: Collection[str], at: datetime) -> None:
    """Count one use of each record."""
    used = {"access_count": memories.c.access_count + 1, "last_accessed_at": at}
    for chunk in _chunks(sorted(set(ids))):
        connection.execute(sa.update(memories).where(memories.c.id.in_(chunk)).values(used))


def get(connection: Connection, memory_id: str) -> Memory | None:
    """A record in any status, without authorization: for the engine's own work."""
    return get_many(connection, [memory_id]).get(memory_id)


def get_many(connection: Connection, ids: Collection[str]) -> dict[str, Memory]:
    """Those of the records that exist, in any status, without authorization."""
    found: dict[str, Memory] = {}
    for chunk in _chunks(list(ids)):
        rows = connection.execute(_BY_IDS, {"ids": chunk})
        found.update((row.id, memory_of(row)) for row in rows)
    return found


def authorized(
    connection: Connection, principal: Principal, ids: Collection[str], where: StoreFilter, now: datetime
) -> dict[str, Memory]:
    """Those of the records that the principal may read, that the filter admits and that are alive at `now`."""
    query = _authorized_query(readable_spaces(principal), where)
    parameters = {**caller(principal), "now": now}
    found: dict[str, Memory] = {}
    for chunk in _chunks(list(ids)):
        rows = connection.execute(query, {**parameters, "ids": chunk})
        found.update((row.id, memory_of(row)) for row in rows)
    return found


def get_any(connection: Connection, principal: Principal, memory_id: str, now: datetime) -> Held | None:
    """A record in any status, deleted ones too but not expired ones, if the principal may read its space."""
    allowed = readable_spaces(principal).subquery("allowed")
    query = (
        sa.select(memories, allowed.c.can_write)
        .join(allowed, allowed.c.space_id == memories.c.space_id)
        .where(memories.c.id == memory_id, _unexpired(now))
    )
    row = connection.execute(query, caller(principal)).one_or_none()
    return None if row is None else Held(memory_of(row), bool(row.can_write))


def page(
    connection: Connection,
    space_ids: Collection[str],
    where: StoreFilter,
    now: datetime,
    limit: int,
    offset: int = 0,
    order_by: str = TimeAxis.CREATED,
    descending: bool = True,
) -> tuple[list[Memory], int]:
    """A page of the records of these spaces, and how many the filter admits in all.

    The caller has to have resolved the spaces. `order_by` is one of `ORDERS`; records without that
    value come last, ties go by id. Raises `InvalidRequest` for another order.
    """
    if order_by not in _ORDERS:
        raise InvalidRequest(f"Lists can be ordered by {', '.join(sorted(ORDERS))}.", field="order_by")
    admitted = [memories.c.space_id.in_(list(space_ids)), *conditions(where, now)]
    key = _ORDERS[order_by]
    # Said only where there may be NULLs: PostgreSQL would not use an index of a column that has none.
    last = sa.nulls_last if order_by in _NULLABLE_ORDERS else (lambda ordered: ordered)
    order = (last(key.desc()), memories.c.id.desc()) if descending else (last(key.asc()), memories.c.id.asc())
    rows = connection.execute(sa.select(memories).where(*admitted).order_by(*order).limit(limit).offset(offset))
    total = connection.execute(sa.select(sa.func.count()).select_from(memories).where(*admitted)).scalar_one()
    return [memory_of(row) for row in rows], total


def find_exact(connection: Connection, space_id: str, text: str, *, now: datetime | None = None) -> list[Memory]:
    """The live records of a space whose id or semantic key is `text`."""
    parameters = {"space": space_id, "now": now or datetime.now(UTC)}
    found: dict[str, Memory] = {}
    for query, name in zip(_exact_queries(), (text.lower(), text), strict=True):
        rows = connection.execute(query, {**parameters, "name": name})
        found.update((row.id, memory_of(row)) for row in rows)
    return list(found.values())


def versions(connection: Connection, memory_id: str) -> list[MemoryVersion]:
    """Former states of a record, newest first, without authorization."""
    query = (
        sa.select(memory_versions)
        .where(memory_versions.c.memory_id == memory_id)
        .order_by(memory_versions.c.version.desc())
    )
    return [
        MemoryVersion(
            memory_id=row.memory_id,
            version=row.version,
            content=row.content,
            path=row.path,
            memory_type=MemoryType(row.memory_type),
            recorded_at=row.recorded_at,
        )
        for row in connection.execute(query)
    ]


def count_live(connection: Connection, space_id: str, now: datetime) -> int:
    """How many records of the space are neither deleted nor expired."""
    query = sa.select(sa.func.count()).select_from(memories).where(memories.c.space_id == space_id, *alive(now))
    return connection.execute(query).scalar_one()


def has_live(connection: Connection, space_ids: Collection[str], now: datetime) -> bool:
    """Whether any of the spaces holds a record that is neither deleted nor expired; cheaper than counting."""
    query = sa.select(memories.c.id).where(memories.c.space_id.in_(list(space_ids)), *alive(now)).limit(1)
    return connection.execute(query).first() is not None


def batch_after(connection: Connection, after_id: str, limit: int, *, space_id: str | None = None) -> list[Memory]:
    """Up to `limit` records in any status with an id above `after_id`, by id: for walks over the whole store."""
    query = sa.select(memories).where(memories.c.id > after_id).order_by(memories.c.id).limit(limit)
    if space_id is not None:
        query = query.where(memories.c.space_id == space_id)
    return [memory_of(row) for row in connection.execute(query)]


def live_ids(connection: Connection, now: datetime, *, space_id: str | None = None) -> set[str]:
    """Ids of all records that are neither deleted nor expired: what the index should hold."""
    query = sa.select(memories.c.id).where(*alive(now))
    if space_id is not None:
        query = query.where(memories.c.space_id == space_id)
    return set(connection.execute(query).scalars())


def expired_ids(connection: Connection, now: datetime, limit: int) -> list[str]:
    """Up to `limit` records whose time has run out, longest ago first."""
    query = (
        sa.select(memories.c.id)
        .where(memories.c.expires_at <= now)
        .order_by(memories.c.expires_at, memories.c.id)
        .limit(limit)
    )
    return list(connection.execute(query).scalars())


def alive(now: datetime | sa.BindParameter[datetime] | None) -> tuple[ColumnElement[bool], ...]:
    """The conditions of a record that is neither deleted nor expired; `now` defaults to the clock."""
    return memories.c.status.in_(_UNDELETED), _unexpired(datetime.now(UTC) if now is None else now)


@lru_cache(maxsize=256)
def _authorized_query(reach: sa.Select[tuple[str, str, bool]], where: StoreFilter) -> sa.Select[Any]:
    """The statement of `authorized`; kept, since building it costs more than running it.

    The rights are asked per record, by EXISTS: joined to them, SQLite would walk all records of the
    readable spaces instead of looking up the few ids.
    """
    allowed = reach.subquery("allowed")
    may_read = sa.exists().where(allowed.c.space_id == memories.c.space_id)
    return _BY_IDS.where(may_read, *conditions(where, now_parameter()))


@cache
def _exact_queries() -> tuple[sa.Select[Any], sa.Select[Any]]:
    """The statements of `find_exact`: by id, by semantic key.

    One for each: joined by OR, they would be looked for in the whole space.
    """
    space, name = sa.bindparam("space", type_=KeyText), sa.bindparam("name", type_=KeyText)
    here = sa.select(memories).where(memories.c.space_id == space, *alive(now_parameter()))
    return here.where(memories.c.id == name), here.where(memories.c.semantic_key == name)


def _overwrite(connection: Connection, old: Memory, new: Memory) -> None:
    hold_space(connection, old.space_id)
    values = values_of(new)
    # Uses are counted by `touch` alone: a writer that read the record earlier must not undo them.
    for name in ("id", "access_count", "last_accessed_at"):
        del values[name]
    unmoved = (memories.c.id == old.id) & (memories.c.version == old.version)
    if connection.execute(sa.update(memories).where(unmoved).values(values)).rowcount != 1:
        raise Conflict(f"Memory {old.id} was changed by another writer; read it again.")
    if _place(old) != _place(new):
        paths.shift(connection, {_place(old): -1, _place(new): 1})


def _unexpired(now: datetime | sa.BindParameter[datetime]) -> ColumnElement[bool]:
    return sa.or_(memories.c.expires_at.is_(None), memories.c.expires_at > now)


def _place(memory: Memory) -> tuple[str, str]:
    return memory.space_id, path_key(memory.path)


def _chunks(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    return (ids[start : start + _CHUNK] for start in range(0, len(ids), _CHUNK))
