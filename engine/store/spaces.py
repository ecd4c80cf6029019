"""Spaces: created, listed and deleted with everything in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection, Row
from sqlalchemy.exc import IntegrityError

from engine.domain.access import Space
from engine.errors import Conflict, InvalidRequest, NotFound
from engine.store import accounts, marks, outbox
from engine.store.database import hold, hold_space
from engine.store.ids import new_id
from engine.store.schema import memories, memory_versions, space_paths, space_terms, space_totals, spaces

DEFAULT_SPACE = "default"
NAME_LIMIT_CHARACTERS = 255
_LOCAL_TENANT = "local_tenant_id"
_LOCAL_USER = "local_user_id"


@dataclass(frozen=True, slots=True)
class LocalOwner:
    """Who owns the data folder, and the space that takes what names no space."""

    tenant_id: str
    user_id: str
    space: Space


def create(
    connection: Connection,
    *,
    tenant_id: str,
    owner_user_id: str,
    name: str,
    now: datetime,
    description: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    team_id: str | None = None,
) -> Space:
    """A new, empty space. Raises `Conflict` when the tenant has one of that name, `InvalidRequest` for a bad name.

    Whether the user may give it to `team_id` is for the caller to check.
    """
    trimmed = name.strip()
    if not 1 <= len(trimmed) <= NAME_LIMIT_CHARACTERS:
        raise InvalidRequest(f"A space's name has 1 to {NAME_LIMIT_CHARACTERS} characters.", field="name")
    space = Space(
        id=new_id(),
        tenant_id=tenant_id,
        name=trimmed,
        owner_user_id=owner_user_id,
        team_id=team_id,
        description=description,
        metadata=dict(metadata or {}),
        created_at=now,
        updated_at=now,
    )
    try:
        with connection.begin_nested():
            connection.execute(sa.insert(spaces), {name: getattr(space, name) for name in spaces.c.keys()})  # noqa: SIM118
    except IntegrityError as error:
        if find_by_name(connection, tenant_id, trimmed) is None:
            raise
        raise Conflict(f"A space named {trimmed} exists already.") from error
    return space


def get(connection: Connection, space_id: str) -> Space:
    """A space by id, without asking who may read it. Raises `NotFound`."""
    found = _select(connection, spaces.c.id == space_id)
    if not found:
        raise NotFound(f"Space {space_id} not found")
    return found[0]


def find_by_name(connection: Connection, tenant_id: str, name: str) -> Space | None:
    """A tenant's space by its exact name, without asking who may read it."""
    found = _select(connection, spaces.c.tenant_id == tenant_id, spaces.c.name == name)
    return found[0] if found else None


def list_all(connection: Connection) -> list[Space]:
    """Every space of every tenant, oldest first; for upkeep, never for a surface."""
    return _select(connection)


def of_team(connection: Connection, team_id: str) -> list[Space]:
    """The spaces of a team, oldest first."""
    return _select(connection, spaces.c.team_id == team_id)


def touch(connection: Connection, space_id: str, now: datetime) -> None:
    """Note that something in the space has changed."""
    connection.execute(sa.update(spaces).where(spaces.c.id == space_id).values(updated_at=now))


def delete(connection: Connection, space_id: str) -> None:
    """Remove a space with all its records, versions and counts, and ask the index to follow.

    Raises `NotFound`.
    """
    hold_space(connection, space_id)
    get(connection, space_id)
    outbox.append_space(connection, space_id)
    of_space = sa.select(memories.c.id).where(memories.c.space_id == space_id)
    connection.execute(sa.delete(memory_versions).where(memory_versions.c.memory_id.in_(of_space)))
    for table in (memories, space_terms, space_totals, space_paths):
        connection.execute(sa.delete(table).where(table.c.space_id == space_id))
    connection.execute(sa.delete(spaces).where(spaces.c.id == space_id))


def ensure_owner(connection: Connection, now: datetime) -> LocalOwner:
    """The local tenant, its user and a space named `default`; created where they are missing."""
    hold(connection, _LOCAL_USER)
    tenant_id, user_id = marks.get(connection, _LOCAL_TENANT), marks.get(connection, _LOCAL_USER)
    if tenant_id is None or user_id is None:
        tenant_id = accounts.create_tenant(connection, "local", now)
        user_id = accounts.create_user(connection, tenant_id, "owner", now)
        marks.put(connection, _LOCAL_TENANT, tenant_id)
        marks.put(connection, _LOCAL_USER, user_id)
    own = _select(connection, spaces.c.owner_user_id == user_id, spaces.c.team_id.is_(None))
    space = (
        own[0] if own else create(connection, tenant_id=tenant_id, owner_user_id=user_id, name=DEFAULT_SPACE, now=now)
    )
    return LocalOwner(tenant_id, user_id, space)


def from_row(row: Row[Any]) -> Space:
    """The space in a row that holds all columns of `spaces`."""
    return Space(
        id=row.id,
        tenant_id=row.tenant_id,
        name=row.name,
        owner_user_id=row.owner_user_id,
        team_id=row.team_id,
        description=row.description,
        metadata=row.metadata,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def _select(connection: Connection, *conditions: ColumnElement[bool]) -> list[Space]:
    query = sa.select(spaces).where(*conditions).order_by(spaces.c.created_at, spaces.c.id)
    return [from_row(row) for row in connection.execute(query)]
