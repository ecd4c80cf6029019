"""OAuth clients and grants. What a client holds is stored as a digest only.

A grant is a row of one kind: a `request` that waits for consent, a `code`, a `refresh` token or a
`device` code. Grants that came of one consent share a family; an access token is an ordinary token
whose id stands in the row that it was issued with.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection

from engine.store.schema import oauth_clients, oauth_grants

UNUSED_CLIENT_LIFE = timedelta(days=1)


class GrantKind(StrEnum):
    """What a client holds."""

    REQUEST = "request"
    CODE = "code"
    REFRESH = "refresh"
    DEVICE = "device"


class GrantState(StrEnum):
    """`OPEN` waits for consent or use; a `USED` one that comes again was stolen."""

    OPEN = "open"
    APPROVED = "approved"
    DENIED = "denied"
    USED = "used"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """One row. `detail` holds what the grant was asked with, nothing secret."""

    secret_digest: str
    kind: str
    family: str
    client_id: str
    expires_at: datetime
    detail: Mapping[str, Any]
    state: str = GrantState.OPEN.value
    user_code_digest: str | None = None
    tenant_id: str | None = None
    user_id: str | None = None
    token_id: str | None = None
    polled_at: datetime | None = None


def digest_of(secret: str) -> str:
    """The stored form of a secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def add_client(connection: Connection, client_id: str, registration: Mapping[str, Any], now: datetime) -> None:
    """Keep a client; those that registered a day ago and were never granted anything go."""
    granted = sa.select(oauth_grants.c.client_id)
    unused = sa.and_(oauth_clients.c.created_at < now - UNUSED_CLIENT_LIFE, oauth_clients.c.id.not_in(granted))
    connection.execute(sa.delete(oauth_clients).where(unused))
    row = {"id": client_id, "registration": dict(registration), "created_at": now}
    connection.execute(sa.insert(oauth_clients), row)


def get_client(connection: Connection, client_id: str) -> Mapping[str, Any] | None:
    """A client's registration."""
    query = sa.select(oauth_clients.c.registration).where(oauth_clients.c.id == client_id)
    found: Mapping[str, Any] | None = connection.execute(query).scalar()
    return found


def add(connection: Connection, grant: Grant, now: datetime) -> None:
    """Keep a grant; those that have expired go."""
    connection.execute(sa.delete(oauth_grants).where(oauth_grants.c.expires_at <= now))
    row = {column.name: getattr(grant, column.name) for column in oauth_grants.c}
    connection.execute(sa.insert(oauth_grants), row)


def by_secret(connection: Connection, kind: GrantKind, secret: str, now: datetime) -> Grant | None:
    """The unexpired grant of a kind that a secret stands for, used or not."""
    return _one(connection, kind, oauth_grants.c.secret_digest == digest_of(secret), now)


def by_user_code(connection: Connection, user_code: str, now: datetime) -> Grant | None:
    """The unexpired device grant that a person's code stands for."""
    return _one(connection, GrantKind.DEVICE, oauth_grants.c.user_code_digest == digest_of(user_code), now)


def family_of_token(connection: Connection, token_id: str) -> Grant | None:
    """A grant that an access token was issued with."""
    row = connection.execute(sa.select(oauth_grants).where(oauth_grants.c.token_id == token_id).limit(1)).one_or_none()
    return None if row is None else Grant(**row._mapping)


def change(connection: Connection, grant: Grant, **values: Any) -> bool:
    """Change a grant if its state is still the one that it was read with; whether it was."""
    same = sa.and_(oauth_grants.c.secret_digest == grant.secret_digest, oauth_grants.c.state == grant.state)
    return connection.execute(sa.update(oauth_grants).where(same).values(**values)).rowcount == 1


def end_family(connection: Connection, family: str) -> list[str]:
    """Mark all grants of a family as used; the ids of its access tokens."""
    same = oauth_grants.c.family == family
    connection.execute(sa.update(oauth_grants).where(same).values(state=GrantState.USED.value))
    query = sa.select(oauth_grants.c.token_id).where(same, oauth_grants.c.token_id.is_not(None))
    return [row[0] for row in connection.execute(query)]


def _one(connection: Connection, kind: GrantKind, condition: ColumnElement[bool], now: datetime) -> Grant | None:
    query = sa.select(oauth_grants).where(condition, oauth_grants.c.kind == kind.value, oauth_grants.c.expires_at > now)
    row = connection.execute(query).one_or_none()
    return None if row is None else Grant(**row._mapping)
