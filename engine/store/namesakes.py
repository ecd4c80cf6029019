"""Live records that a write may be about without knowing their id.

A record answers to up to three names in its space: its semantic key and its state key, each within
its bucket and scope, and its cleaned content at its path, bucket and scope. Of several records with
one name the newest counts for a key, the oldest for a content.

The names of a whole batch are looked up together: one narrow statement a kind and space, then the
records that were found.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection

from engine.domain.memory import Memory
from engine.store import memories as records
from engine.store.columns import digest
from engine.store.database import hold_space
from engine.store.rows import content_digest, slot
from engine.store.schema import memories
from engine.text.folding import path_key

_CHUNK = 500


class NameKind(StrEnum):
    """By what a record is found; the column that holds the name."""

    SEMANTIC = "semantic_slot"
    STATE = "state_slot"
    CONTENT = "content_digest"


@dataclass(frozen=True, slots=True)
class Name:
    """What a record of a space answers to. `place` is the digest of where a content lies, else empty."""

    kind: NameKind
    space_id: str
    value: str
    place: str = ""


def by_semantic_key(space_id: str, bucket: str, scope: str | None, key: str) -> Name:
    """The name of a concept."""
    return Name(NameKind.SEMANTIC, space_id, slot(bucket, scope, key))


def by_state_key(space_id: str, bucket: str, scope: str | None, key: str) -> Name:
    """The name of a working state."""
    return Name(NameKind.STATE, space_id, slot(bucket, scope, key))


def by_content(space_id: str, bucket: str, scope: str | None, path: str, content: str) -> Name:
    """The name of a content at its place, however either is spelt."""
    return Name(NameKind.CONTENT, space_id, content_digest(content), _place(path_key(path), bucket, scope))


def of(memory: Memory) -> set[Name]:
    """All names of a record."""
    here = (memory.space_id, memory.bucket, memory.scope)
    names = {by_content(*here, memory.path, memory.content)}
    if memory.semantic_key:
        names.add(by_semantic_key(*here, memory.semantic_key))
    if memory.state_key:
        names.add(by_state_key(*here, memory.state_key))
    return names


def find(connection: Connection, names: Collection[Name], now: datetime) -> dict[Name, Memory]:
    """The record of each name that a live one answers to.

    In a write transaction nobody else can write to the spaces until it ends, so a record that was not
    found is not there when it is added.
    """
    wanted: dict[tuple[str, NameKind], set[str]] = defaultdict(set)
    for name in names:
        wanted[name.space_id, name.kind].add(name.value)
    ids: dict[Name, str] = {}
    for space_id in sorted({space_id for space_id, _ in wanted}):
        hold_space(connection, space_id)
    for (space_id, kind), values in wanted.items():
        for start in range(0, len(values), _CHUNK):
            chunk = sorted(values)[start : start + _CHUNK]
            for row in connection.execute(_query(kind, space_id, chunk, now)):
                place = _place(row.path_key, row.bucket, row.scope) if kind is NameKind.CONTENT else ""
                ids.setdefault(Name(kind, space_id, row.value, place), row.id)
    ids = {name: ids[name] for name in names if name in ids}
    found = records.get_many(connection, set(ids.values()))
    return {name: found[memory_id] for name, memory_id in ids.items()}


def _query(kind: NameKind, space_id: str, values: Sequence[str], now: datetime) -> sa.Select[Any]:
    column = memories.c[kind]
    order: tuple[ColumnElement[Any], ...] = (memories.c.updated_at.desc(), memories.c.id.desc())
    if kind is NameKind.CONTENT:
        order = (memories.c.created_at, memories.c.id)
    shown = (memories.c.id, column.label("value"), memories.c.path_key, memories.c.bucket, memories.c.scope)
    return (
        sa.select(*shown)
        .where(memories.c.space_id == space_id, column.in_(values), *records.alive(now))
        .order_by(*order)
    )


def _place(key: str, bucket: str, scope: str | None) -> str:
    return digest(key, bucket, scope)
