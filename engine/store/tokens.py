"""Tokens: a printable prefix, by which one is found, and a secret, of which only a hash is stored.

A token reads `mv_<8 characters>_<secret>`, or `csk_...` for clients that tell keys by that start.
The secret has 256 random bits, so a plain SHA-256 is enough: there is nothing to guess. Comparison
takes the same time whether the prefix is known or not.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import string
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection, Row

from engine.domain.access import DEFAULT_SCOPES, Principal, Scope, SpaceRight, Token
from engine.errors import InvalidRequest, NotFound, Unauthenticated
from engine.store.ids import new_id
from engine.store.schema import token_spaces, tokens

NAME_LIMIT_CHARACTERS = 255
_SECRET_BYTES = 32
_PUBLIC_LENGTH = 8
_PUBLIC_ALPHABET = string.ascii_lowercase + string.digits
_FORM = re.compile(r"((?:mv|csk)_[a-z0-9]{8})_[A-Za-z0-9_-]{43}")
_NO_HASH = "0" * 64
_READ_ONLY_SCOPES = frozenset({Scope.READ})
# Built once: every request asks for its token.
_BY_PREFIX = sa.select(tokens).where(tokens.c.prefix == sa.bindparam("prefix"))


class TokenKind(StrEnum):
    """How a token begins."""

    GENERAL = "mv"
    SPACE_KEY = "csk"


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A new token with its `secret`, the whole text to send. It is shown here and never again."""

    token: Token
    secret: str = field(repr=False)


def create(
    connection: Connection,
    *,
    tenant_id: str,
    user_id: str,
    name: str,
    now: datetime,
    scopes: Collection[Scope] = DEFAULT_SCOPES,
    space_rights: Sequence[SpaceRight] | None = None,
    default_space_id: str | None = None,
    expires_at: datetime | None = None,
    kind: TokenKind = TokenKind.GENERAL,
    read_only: bool = False,
) -> IssuedToken:
    """A new token of a user. `space_rights=None` reaches all of the user's spaces.

    Whether the user has these rights is asked at each use, not here. Raises `InvalidRequest` for a
    bad name, no scope at all, or an expiry that has passed.
    """
    if not 1 <= len(name.strip()) <= NAME_LIMIT_CHARACTERS:
        raise InvalidRequest(f"A token's name has 1 to {NAME_LIMIT_CHARACTERS} characters.", field="name")
    if not scopes:
        raise InvalidRequest("A token needs at least one scope.", field="scopes")
    if expires_at is not None and expires_at <= now:
        raise InvalidRequest("A token must expire in the future.", field="expires_at")
    prefix = _free_prefix(connection, kind)
    secret = f"{prefix}_{secrets.token_urlsafe(_SECRET_BYTES)}"
    token_id = new_id()
    connection.execute(
        sa.insert(tokens),
        {
            "id": token_id,
            "prefix": prefix,
            "secret_hash": _hash(secret),
            "name": name.strip(),
            "tenant_id": tenant_id,
            "user_id": user_id,
            "scopes": sorted(scope.value for scope in scopes),
            "is_narrowed": space_rights is not None,
            "default_space_id": default_space_id,
            "read_only": read_only,
            "created_at": now,
            "expires_at": expires_at,
        },
    )
    if space_rights:
        rows = [
            {"token_id": token_id, "space_id": right.space_id, "can_write": right.can_write} for right in space_rights
        ]
        connection.execute(sa.insert(token_spaces), rows)
    return IssuedToken(get(connection, tenant_id, token_id), secret)


def authenticate(connection: Connection, raw: str, now: datetime) -> Principal:
    """The principal behind a token. Raises `Unauthenticated` for an unknown, revoked or expired one."""
    form = _FORM.fullmatch(raw)
    row = connection.execute(_BY_PREFIX, {"prefix": form[1] if form else ""}).one_or_none()
    known = hmac.compare_digest(_hash(raw), row.secret_hash if row else _NO_HASH)
    if row is None or not known or row.revoked_at is not None:
        raise Unauthenticated("Invalid or revoked token.")
    if row.expires_at is not None and row.expires_at <= now:
        raise Unauthenticated("The token has expired.")
    token = _token(row, _rights(connection, row))
    return Principal(
        tenant_id=token.tenant_id,
        user_id=token.user_id,
        scopes=token.scopes & _READ_ONLY_SCOPES if token.read_only else token.scopes,
        token_id=token.id,
        space_rights=token.space_rights,
        default_space_id=token.default_space_id,
    )


def mark_used(connection: Connection, token_id: str, at: datetime) -> None:
    """Note the latest use of a token."""
    connection.execute(sa.update(tokens).where(tokens.c.id == token_id).values(last_used_at=at))


def get(connection: Connection, tenant_id: str, ref: str) -> Token:
    """A token of the tenant by id or prefix. Raises `NotFound`, also for one of another tenant."""
    found = _select(connection, tokens.c.tenant_id == tenant_id, (tokens.c.id == ref) | (tokens.c.prefix == ref))
    if not found:
        raise NotFound(f"Token {ref} not found")
    return found[0]


def list_all(connection: Connection, tenant_id: str, *, user_id: str | None = None) -> list[Token]:
    """The tokens of a tenant, or of one of its users, oldest first, revoked and expired ones too."""
    of_user = sa.true() if user_id is None else tokens.c.user_id == user_id
    return _select(connection, tokens.c.tenant_id == tenant_id, of_user)


def revoke(connection: Connection, tenant_id: str, ref: str, now: datetime) -> Token:
    """Revoke a token by id or prefix for good; again is fine. Raises `NotFound` as `get` does."""
    token = get(connection, tenant_id, ref)
    unrevoked = (tokens.c.id == token.id) & tokens.c.revoked_at.is_(None)
    connection.execute(sa.update(tokens).where(unrevoked).values(revoked_at=now))
    return get(connection, tenant_id, token.id)


def _select(connection: Connection, *conditions: ColumnElement[bool]) -> list[Token]:
    rows = connection.execute(sa.select(tokens).where(*conditions).order_by(tokens.c.created_at, tokens.c.id)).all()
    return [_token(row, _rights(connection, row)) for row in rows]


def _rights(connection: Connection, row: Row[Any]) -> tuple[SpaceRight, ...] | None:
    if not row.is_narrowed:
        return None
    query = (
        sa.select(token_spaces.c.space_id, token_spaces.c.can_write)
        .where(token_spaces.c.token_id == row.id)
        .order_by(token_spaces.c.space_id)
    )
    return tuple(SpaceRight(right.space_id, right.can_write) for right in connection.execute(query))


def _token(row: Row[Any], rights: tuple[SpaceRight, ...] | None) -> Token:
    return Token(
        id=row.id,
        prefix=row.prefix,
        name=row.name,
        tenant_id=row.tenant_id,
        user_id=row.user_id,
        scopes=frozenset(Scope(scope) for scope in row.scopes),
        space_rights=rights,
        default_space_id=row.default_space_id,
        created_at=row.created_at,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
        last_used_at=row.last_used_at,
        read_only=row.read_only,
    )


def _free_prefix(connection: Connection, kind: TokenKind) -> str:
    while True:
        public = "".join(secrets.choice(_PUBLIC_ALPHABET) for _ in range(_PUBLIC_LENGTH))
        prefix = f"{kind.value}_{public}"
        if connection.execute(sa.select(tokens.c.id).where(tokens.c.prefix == prefix)).first() is None:
            return prefix


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
