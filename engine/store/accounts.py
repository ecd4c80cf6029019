"""Tenants and their users."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, insert, select
from sqlalchemy.exc import IntegrityError

from engine.errors import Conflict, NotFound
from engine.store.ids import new_id
from engine.store.schema import tenants, users


@dataclass(frozen=True, slots=True)
class Tenant:
    """An organization. What one tenant has is as if it were not there for another."""

    id: str
    name: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class User:
    """A person or a service in a tenant. Names are unique in it."""

    id: str
    tenant_id: str
    name: str
    created_at: datetime


def create_tenant(connection: Connection, name: str, now: datetime) -> str:
    """The id of a new tenant."""
    tenant_id = new_id()
    connection.execute(insert(tenants), {"id": tenant_id, "name": name, "created_at": now})
    return tenant_id


def list_tenants(connection: Connection) -> list[Tenant]:
    """All tenants, oldest first; for whoever holds the folder, never for a surface."""
    query = select(tenants).order_by(tenants.c.created_at, tenants.c.id)
    return [Tenant(row.id, row.name, row.created_at) for row in connection.execute(query)]


def get_tenant(connection: Connection, tenant_id: str) -> Tenant:
    """A tenant by id. Raises `NotFound`."""
    row = connection.execute(select(tenants).where(tenants.c.id == tenant_id)).one_or_none()
    if row is None:
        raise NotFound("There is no such tenant.")
    return Tenant(row.id, row.name, row.created_at)


def create_user(connection: Connection, tenant_id: str, name: str, now: datetime) -> str:
    """The id of a new user. Raises `Conflict` when the tenant has one of that name."""
    user_id = new_id()
    try:
        with connection.begin_nested():
            connection.execute(insert(users), {"id": user_id, "tenant_id": tenant_id, "name": name, "created_at": now})
    except IntegrityError as error:
        raise Conflict(f"A user named {name} exists already.") from error
    return user_id


def get_user(connection: Connection, tenant_id: str, user_id: str) -> User:
    """A user of the tenant. Raises `NotFound`, also for one of another tenant."""
    query = select(users).where(users.c.tenant_id == tenant_id, users.c.id == user_id)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise NotFound(f"User {user_id} not found")
    return User(row.id, row.tenant_id, row.name, row.created_at)


def list_users(connection: Connection, tenant_id: str) -> list[User]:
    """The users of a tenant, oldest first."""
    query = select(users).where(users.c.tenant_id == tenant_id).order_by(users.c.created_at, users.c.id)
    return [User(row.id, row.tenant_id, row.name, row.created_at) for row in connection.execute(query)]
