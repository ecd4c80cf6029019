"""What OAuth clients were granted, and the tokens that came of it.

A person consents with an administrator's token; the access token is an ordinary token of that
person's user, never with the right to administer. Everything that came of one consent is a family:
a code or refresh token that is presented a second time was stolen, and ends its family.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection

from engine.domain.access import Principal, Scope
from engine.errors import Forbidden, NotFound, Unauthenticated
from engine.store import accounts, audit, grants, tokens
from engine.store.database import Database, hold
from engine.store.grants import Grant, GrantKind, GrantState
from engine.store.ids import new_id

GRANTABLE = (Scope.READ, Scope.WRITE, Scope.DELETE, Scope.RESTORE)
REQUEST_SECONDS = 600
CODE_SECONDS = 300
ACCESS_SECONDS = 3600
REFRESH_SECONDS = 60 * 86_400
DEVICE_TOKEN_SECONDS = 365 * 86_400
POLL_SECONDS = 5
_FAMILY = "oauth_family"
_USER_CODE_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
_USER_CODE_LENGTH = 8
_GONE = "This request does not exist or has expired. Start again in the application."


class GrantRefused(Exception):
    """A grant cannot be used; `error` is the word of OAuth for it."""

    def __init__(self, error: str) -> None:
        super().__init__(error)
        self.error = error


@dataclass(frozen=True, slots=True)
class Issued:
    """An access token with its refresh token, if it has one. Shown here and never again."""

    access_token: str
    refresh_token: str | None
    scopes: tuple[str, ...]
    expires_in_seconds: int
    user_id: str
    user_name: str


class Grants:
    """The storage behind the OAuth endpoints of one host."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # Clients

    def register(self, client_id: str, registration: Mapping[str, Any]) -> None:
        """Keep a client."""
        with self._database.writing() as connection:
            grants.add_client(connection, client_id, registration, _now())

    def client(self, client_id: str) -> Mapping[str, Any] | None:
        """A client's registration."""
        with self._database.reading() as connection:
            return grants.get_client(connection, client_id)

    # Consent

    def ask(self, client_id: str, detail: Mapping[str, Any]) -> str:
        """Keep a request that waits for consent; the handle that the consent page carries."""
        return self._add(GrantKind.REQUEST, client_id, detail, REQUEST_SECONDS)

    def request(self, handle: str) -> Grant:
        """A request that waits for consent. Raises `NotFound`."""
        with self._database.reading() as connection:
            found = grants.by_secret(connection, GrantKind.REQUEST, handle, _now())
        if found is None or found.state != GrantState.OPEN:
            raise NotFound(_GONE)
        return found

    def approve(self, person: Principal, request: Grant) -> str:
        """An authorization code. Raises `Forbidden` for a person who may not administer, `NotFound` for a used one."""
        _require_owner(person)
        now, code = _now(), secrets.token_urlsafe(32)
        with self._database.writing() as connection:
            if not grants.change(connection, request, state=GrantState.USED.value):
                raise NotFound(_GONE)
            grant = Grant(
                secret_digest=grants.digest_of(code),
                kind=GrantKind.CODE.value,
                family=request.family,
                client_id=request.client_id,
                detail=request.detail,
                tenant_id=person.tenant_id,
                user_id=person.user_id,
                expires_at=now + timedelta(seconds=CODE_SECONDS),
            )
            grants.add(connection, grant, now)
            _audit(connection, person, "oauth.consent", request)
        return code

    def deny(self, request: Grant) -> None:
        """End a request."""
        with self._database.writing() as connection:
            grants.change(connection, request, state=GrantState.DENIED.value)

    # Codes and tokens

    def code(self, secret: str) -> Grant | None:
        """An authorization code, used or not."""
        with self._database.reading() as connection:
            return grants.by_secret(connection, GrantKind.CODE, secret, _now())

    def refresh(self, secret: str) -> Grant | None:
        """A refresh token, used or not."""
        with self._database.reading() as connection:
            return grants.by_secret(connection, GrantKind.REFRESH, secret, _now())

    def exchange(self, grant: Grant, scopes: Sequence[str], client_name: str) -> Issued:
        """New tokens for a code or refresh token, which is used up. Raises `GrantRefused`, and ends the family."""
        with self._database.writing() as connection:
            hold(connection, _FAMILY, grant.family)
            fresh = grant.state == GrantState.OPEN and grants.change(connection, grant, state=GrantState.USED.value)
            if fresh:
                self._revoke(connection, grant.token_id, grant)
                return self._issue(connection, grant, scopes, client_name, ACCESS_SECONDS, refreshable=True)
            self._end(connection, grant)
        raise GrantRefused("invalid_grant")

    def of_access_token(self, raw: str) -> Grant | None:
        """The grant that an access token was issued with."""
        with self._database.reading() as connection:
            try:
                found = tokens.authenticate(connection, raw, _now())
            except Unauthenticated:
                return None
            return grants.family_of_token(connection, found.token_id) if found.token_id else None

    def end(self, grant: Grant) -> None:
        """Revoke everything that came of the same consent."""
        with self._database.writing() as connection:
            hold(connection, _FAMILY, grant.family)
            self._end(connection, grant)

    # Devices

    def start_device(self, client_id: str, scopes: Sequence[str]) -> tuple[str, str]:
        """A device code for the client and a code for the person to type."""
        user_code = "".join(secrets.choice(_USER_CODE_LETTERS) for _ in range(_USER_CODE_LENGTH))
        detail = {"scopes": list(scopes)}
        secret = self._add(GrantKind.DEVICE, client_id, detail, REQUEST_SECONDS, user_code=user_code)
        return secret, f"{user_code[:4]}-{user_code[4:]}"

    def device(self, user_code: str) -> Grant:
        """The device that waits under a person's code, however it is typed. Raises `NotFound`."""
        plain = "".join(letter for letter in user_code.upper() if letter.isalpha())
        with self._database.reading() as connection:
            found = grants.by_user_code(connection, plain, _now())
        if found is None or found.state != GrantState.OPEN:
            raise NotFound(_GONE)
        return found

    def approve_device(self, person: Principal, device: Grant) -> None:
        """Let a device have its token. Raises as `approve` does."""
        _require_owner(person)
        with self._database.writing() as connection:
            values = {"state": GrantState.APPROVED.value, "tenant_id": person.tenant_id, "user_id": person.user_id}
            if not grants.change(connection, device, **values):
                raise NotFound(_GONE)
            _audit(connection, person, "oauth.device", device)

    def poll_device(self, secret: str) -> Issued:
        """The device's token, once. Raises `GrantRefused` with the reason to wait or to stop."""
        now = _now()
        with self._database.writing() as connection:
            found = grants.by_secret(connection, GrantKind.DEVICE, secret, now)
            if found is None:
                raise GrantRefused("expired_token")
            if found.state == GrantState.APPROVED and grants.change(connection, found, state=GrantState.USED.value):
                name = f"device {found.client_id}"
                scopes = found.detail["scopes"]
                used = replace(found, state=GrantState.USED.value)
                return self._issue(connection, used, scopes, name, DEVICE_TOKEN_SECONDS, refreshable=False)
            early = found.polled_at is not None and now - found.polled_at < timedelta(seconds=POLL_SECONDS - 1)
            grants.change(connection, found, polled_at=now)
        if found.state == GrantState.OPEN:
            raise GrantRefused("slow_down" if early else "authorization_pending")
        raise GrantRefused("access_denied" if found.state == GrantState.DENIED else "invalid_grant")

    def _add(
        self, kind: GrantKind, client_id: str, detail: Mapping[str, Any], seconds: int, user_code: str | None = None
    ) -> str:
        now, secret = _now(), secrets.token_urlsafe(32)
        grant = Grant(
            secret_digest=grants.digest_of(secret),
            kind=kind.value,
            family=new_id(),
            client_id=client_id,
            detail=detail,
            user_code_digest=grants.digest_of(user_code) if user_code else None,
            expires_at=now + timedelta(seconds=seconds),
        )
        with self._database.writing() as connection:
            grants.add(connection, grant, now)
        return secret

    def _issue(
        self,
        connection: Connection,
        grant: Grant,
        scopes: Sequence[str],
        client_name: str,
        seconds: int,
        *,
        refreshable: bool,
    ) -> Issued:
        if grant.tenant_id is None or grant.user_id is None:
            raise GrantRefused("invalid_grant")
        now = _now()
        user = accounts.get_user(connection, grant.tenant_id, grant.user_id)
        issued = tokens.create(
            connection,
            tenant_id=grant.tenant_id,
            user_id=grant.user_id,
            name=f"OAuth: {client_name}"[: tokens.NAME_LIMIT_CHARACTERS],
            now=now,
            scopes={Scope(scope) for scope in scopes},
            expires_at=now + timedelta(seconds=seconds),
        )
        refresh = secrets.token_urlsafe(32) if refreshable else None
        if refresh is None:
            grants.change(connection, grant, token_id=issued.token.id)
        else:
            following = Grant(
                secret_digest=grants.digest_of(refresh),
                kind=GrantKind.REFRESH.value,
                family=grant.family,
                client_id=grant.client_id,
                detail=grant.detail,
                tenant_id=grant.tenant_id,
                user_id=grant.user_id,
                token_id=issued.token.id,
                expires_at=now + timedelta(seconds=REFRESH_SECONDS),
            )
            grants.add(connection, following, now)
        actor = Principal(tenant_id=grant.tenant_id, user_id=grant.user_id, token_id=issued.token.id)
        detail = {"client_id": grant.client_id, "scopes": sorted(scopes)}
        audit.append(connection, actor, "token.create", now, target=issued.token.id, detail=detail)
        return Issued(issued.secret, refresh, tuple(scopes), seconds, user.id, user.name)

    def _end(self, connection: Connection, grant: Grant) -> None:
        for token_id in grants.end_family(connection, grant.family):
            self._revoke(connection, token_id, grant)

    @staticmethod
    def _revoke(connection: Connection, token_id: str | None, grant: Grant) -> None:
        if token_id is not None and grant.tenant_id is not None and grant.user_id is not None:
            tokens.revoke(connection, grant.tenant_id, token_id, _now())
            actor = Principal(tenant_id=grant.tenant_id, user_id=grant.user_id)
            audit.append(connection, actor, "token.revoke", _now(), target=token_id)


def _require_owner(person: Principal) -> None:
    if Scope.ADMIN not in person.scopes or person.space_rights is not None:
        raise Forbidden("Only an administrator's token can give consent.")


def _audit(connection: Connection, person: Principal, action: str, grant: Grant) -> None:
    detail = {"client_id": grant.client_id, "scopes": sorted(grant.detail["scopes"])}
    audit.append(connection, person, action, _now(), detail=detail)


def _now() -> datetime:
    return datetime.now(UTC)
