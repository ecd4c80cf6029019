"""Who may use the store: tenants, users, teams, spaces and tokens, and the record of who changed that.

It needs the database and nothing else, so it works beside a running host on the same folder.

Rights: `memory:admin` is the right to administer the token's own tenant; an owner of a team may
manage its members without it. A token that is narrowed to spaces administers nothing, since what
it could hand out would be wider than itself. Everything of another tenant is as if it were not
there. Every change of a permission is written to the audit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection

from engine.domain.access import (
    ALL_SCOPES,
    DEFAULT_SCOPES,
    Principal,
    ReadableSpace,
    Role,
    Scope,
    Space,
    SpaceRight,
    Team,
    TeamMember,
    Token,
)
from engine.errors import Conflict, Forbidden, NotFound
from engine.settings import Settings
from engine.store import access, accounts, audit, teams, tokens
from engine.store import spaces as space_store
from engine.store.accounts import User
from engine.store.audit import AuditEntry, answer_id
from engine.store.database import Database
from engine.store.tokens import IssuedToken, TokenKind

__all__ = [
    "Administration",
    "AuditEntry",
    "IssuedToken",
    "TokenKind",
    "TokenRequest",
    "User",
    "answer_id",
    "public_view",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRequest:
    """A token to be issued. `spaces` are names or ids with the right to write; `None` is all of the user's.

    The first space is the default for requests that name none.
    """

    name: str
    user_id: str | None = None
    scopes: frozenset[Scope] = DEFAULT_SCOPES
    spaces: tuple[tuple[str, bool], ...] | None = None
    expires_at: datetime | None = None
    kind: TokenKind = TokenKind.GENERAL


class Administration:
    """Changes of permissions, for a host's admin routes and for the command line."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    def open(cls, settings: Settings) -> Self:
        """Open the store of a data folder for administration only; a host may have it open too."""
        return cls(Database.open(settings.store_url))

    def close(self) -> None:
        """Close the store. Not for an administration that shares a host's database."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Who acts

    def local_owner(self) -> Principal:
        """The owner of the folder, with all scopes; made on first use."""
        with self._database.writing() as connection:
            owner = space_store.ensure_owner(connection, _now())
        return Principal(
            tenant_id=owner.tenant_id, user_id=owner.user_id, scopes=ALL_SCOPES, default_space_id=owner.space.id
        )

    def operator(self, tenant_name: str, *, create: bool = False) -> Principal:
        """An administrator of a tenant, its first user; for whoever has the folder itself.

        Raises `NotFound` for a tenant that does not exist, unless `create` is set.
        """
        now = _now()
        with self._database.writing() as connection:
            found = [each for each in accounts.list_tenants(connection) if each.name == tenant_name]
            if not found and not create:
                raise NotFound(f"There is no tenant named {tenant_name}.")
            if found:
                tenant_id = found[0].id
                user_id = accounts.list_users(connection, tenant_id)[0].id
            else:
                tenant_id = accounts.create_tenant(connection, tenant_name, now)
                user_id = accounts.create_user(connection, tenant_id, "owner", now)
                self._first_space(connection, tenant_id, user_id, tenant_name, now)
        return Principal(tenant_id=tenant_id, user_id=user_id, scopes=ALL_SCOPES)

    # Users

    def users(self, principal: Principal) -> list[User]:
        """The users of the caller's tenant, oldest first."""
        _require_admin(principal)
        with self._database.reading() as connection:
            return accounts.list_users(connection, principal.tenant_id)

    def user_named(self, principal: Principal, name: str, *, create: bool = False) -> User:
        """A user of the caller's tenant by name. A new one gets a space of the same name.

        Raises `NotFound` unless `create` is set.
        """
        _require_admin(principal)
        now = _now()
        with self._database.writing() as connection:
            found = [each for each in accounts.list_users(connection, principal.tenant_id) if each.name == name]
            if found:
                return found[0]
            if not create:
                raise NotFound(f"There is no user named {name}.")
            user_id = accounts.create_user(connection, principal.tenant_id, name, now)
            self._first_space(connection, principal.tenant_id, user_id, name, now)
            audit.append(connection, principal, "user.create", now, target=user_id)
            return accounts.get_user(connection, principal.tenant_id, user_id)

    # Tokens

    def issue_token(self, principal: Principal, request: TokenRequest) -> IssuedToken:
        """A new token for a user of the tenant, by default the caller's own user.

        Raises `NotFound` for a user or space that is not there for that user, `InvalidRequest`.
        """
        _require_admin(principal)
        now = _now()
        user_id = request.user_id or principal.user_id
        with self._database.writing() as connection:
            accounts.get_user(connection, principal.tenant_id, user_id)
            holder = Principal(tenant_id=principal.tenant_id, user_id=user_id)
            rights = None if request.spaces is None else _rights(connection, holder, request.spaces)
            issued = tokens.create(
                connection,
                tenant_id=principal.tenant_id,
                user_id=user_id,
                name=request.name,
                now=now,
                scopes=request.scopes,
                space_rights=rights,
                default_space_id=rights[0].space_id if rights else None,
                expires_at=request.expires_at,
                kind=request.kind,
            )
            detail = {"scopes": sorted(request.scopes), "narrowed": rights is not None}
            audit.append(connection, principal, "token.create", now, target=issued.token.id, detail=detail)
        return issued

    def tokens(self, principal: Principal) -> list[Token]:
        """All tokens of the tenant, oldest first; revoked and expired ones too."""
        _require_admin(principal)
        with self._database.reading() as connection:
            return tokens.list_all(connection, principal.tenant_id)

    def token(self, principal: Principal, ref: str) -> Token:
        """A token by id or prefix: any of the tenant for an administrator, else only the caller's own."""
        with self._database.reading() as connection:
            found = tokens.get(connection, principal.tenant_id, ref)
        if found.id != principal.token_id and not _is_admin(principal):
            raise NotFound(f"Token {ref} not found")
        return found

    def revoke_token(self, principal: Principal, ref: str) -> Token:
        """End a token for good: any of the tenant for an administrator, else only the caller's own."""
        found = self.token(principal, ref)
        with self._database.writing() as connection:
            revoked = tokens.revoke(connection, principal.tenant_id, found.id, _now())
            audit.append(connection, principal, "token.revoke", _now(), target=found.id)
        return revoked

    def note_used(self, token_ids: Sequence[str]) -> None:
        """Note that tokens were used just now."""
        with self._database.writing() as connection:
            for token_id in token_ids:
                tokens.mark_used(connection, token_id, _now())

    # Teams

    def create_team(self, principal: Principal, name: str) -> Team:
        """A new team of the tenant with the caller as its owner, and its first space, of the same name.

        Raises `Conflict` when a team or a space of that name exists.
        """
        _require_admin(principal)
        now = _now()
        with self._database.writing() as connection:
            team = teams.create(
                connection, tenant_id=principal.tenant_id, owner_user_id=principal.user_id, name=name, now=now
            )
            space_store.create(
                connection,
                tenant_id=principal.tenant_id,
                owner_user_id=principal.user_id,
                name=team.name,
                now=now,
                team_id=team.id,
            )
            audit.append(connection, principal, "team.create", now, target=team.id)
        return team

    def teams(self, principal: Principal) -> list[Team]:
        """All teams of the tenant for an administrator, else those that the caller is in."""
        with self._database.reading() as connection:
            if _is_admin(principal):
                return teams.list_all(connection, principal.tenant_id)
            return [team for team, _ in teams.of_user(connection, principal.tenant_id, principal.user_id)]

    def team(self, principal: Principal, ref: str) -> Team:
        """A team by id or name, under the same rights as `teams`. Raises `NotFound`."""
        found = self.teams(principal)
        for each in found:
            if each.id == ref:
                return each
        for each in found:
            if each.name == ref:
                return each
        raise NotFound(f"Team {ref} not found")

    def members(self, principal: Principal, ref: str) -> list[TeamMember]:
        """The members of a team that the caller may know of."""
        team = self.team(principal, ref)
        with self._database.reading() as connection:
            return teams.members(connection, team.id)

    def set_role(self, principal: Principal, ref: str, user_id: str, role: Role) -> TeamMember:
        """Make a user a member or change a role. Raises `Forbidden`, `Conflict` for the last owner."""
        team = self.team(principal, ref)
        with self._database.writing() as connection:
            _require_owner(connection, principal, team)
            teams.set_role(connection, team, user_id, role)
            detail = {"user_id": user_id, "role": role.value}
            audit.append(connection, principal, "team.set_role", _now(), target=team.id, detail=detail)
        return TeamMember(team.id, user_id, role)

    def remove_member(self, principal: Principal, ref: str, user_id: str) -> None:
        """Take a user out of a team. Raises `Forbidden`, `Conflict` for the last owner."""
        team = self.team(principal, ref)
        with self._database.writing() as connection:
            _require_owner(connection, principal, team)
            teams.remove_member(connection, team, user_id)
            audit.append(
                connection, principal, "team.remove_member", _now(), target=team.id, detail={"user_id": user_id}
            )

    def delete_team(self, principal: Principal, ref: str) -> Team:
        """Remove a team without spaces. Raises `Forbidden`, `Conflict` while it has spaces."""
        team = self.team(principal, ref)
        with self._database.writing() as connection:
            _require_owner(connection, principal, team)
            teams.delete(connection, team)
            audit.append(connection, principal, "team.delete", _now(), target=team.id)
        return team

    # Spaces

    def ensure_space(self, principal: Principal, name: str) -> tuple[Space, bool]:
        """The caller's space of that name or id, and whether it had to be made."""
        now = _now()
        with self._database.writing() as connection:
            try:
                return access.resolve(connection, principal, [name])[0].space, False
            except NotFound:
                _require_admin(principal)
            space = space_store.create(
                connection, tenant_id=principal.tenant_id, owner_user_id=principal.user_id, name=name, now=now
            )
            audit.append(connection, principal, "space.create", now, space_id=space.id)
            return space, True

    def team_spaces(self, principal: Principal, ref: str) -> list[ReadableSpace]:
        """The spaces that `team_id` means on the wire: those of a team, or one that belongs to a team.

        Raises `NotFound` with the same text for a missing and a foreign one.
        """
        with self._database.reading() as connection:
            visible = [each for each in access.readable(connection, principal) if each.space.team_id is not None]
        found = [each for each in visible if ref in (each.space.team_id, each.space.id, each.space.name)]
        if not found:
            raise NotFound(f"Team {ref} not found")
        return found

    # Audit

    def audit_trail(
        self,
        principal: Principal,
        *,
        target: str | None = None,
        limit: int = 100,
        before_sequence: int | None = None,
    ) -> list[AuditEntry]:
        """What was written, deleted and permitted in the tenant, newest first."""
        _require_admin(principal)
        with self._database.reading() as connection:
            return audit.entries(
                connection, principal.tenant_id, target=target, limit=limit, before_sequence=before_sequence
            )

    @staticmethod
    def _first_space(connection: Connection, tenant_id: str, user_id: str, name: str, now: datetime) -> None:
        if space_store.find_by_name(connection, tenant_id, name) is not None:
            raise Conflict(f"A space named {name} exists already; choose another name.")
        space_store.create(connection, tenant_id=tenant_id, owner_user_id=user_id, name=name, now=now)


def public_view(token: Token) -> Mapping[str, Any]:
    """A token as it may be shown: everything but its secret, which is not stored at all."""
    return {
        "id": token.id,
        "prefix": token.prefix,
        "name": token.name,
        "user_id": token.user_id,
        "scopes": sorted(token.scopes),
        "spaces": None
        if token.space_rights is None
        else [{"space_id": right.space_id, "can_write": right.can_write} for right in token.space_rights],
        "default_space_id": token.default_space_id,
        "created_at": token.created_at.isoformat(),
        "expires_at": token.expires_at.isoformat() if token.expires_at else None,
        "revoked_at": token.revoked_at.isoformat() if token.revoked_at else None,
        "last_used_at": token.last_used_at.isoformat() if token.last_used_at else None,
    }


def _is_admin(principal: Principal) -> bool:
    return Scope.ADMIN in principal.scopes and principal.space_rights is None


def _require_admin(principal: Principal) -> None:
    if Scope.ADMIN not in principal.scopes:
        raise Forbidden("this token lacks the scope memory:admin")
    if principal.space_rights is not None:
        raise Forbidden("a token that is narrowed to spaces cannot administer")


def _require_owner(connection: Connection, principal: Principal, team: Team) -> None:
    is_owner = teams.role_of(connection, team.id, principal.user_id) is Role.OWNER
    may_manage = is_owner and Scope.WRITE in principal.scopes and principal.space_rights is None
    if not may_manage and not _is_admin(principal):
        raise Forbidden("only an owner of the team may do that")


def _rights(connection: Connection, holder: Principal, wanted: Sequence[tuple[str, bool]]) -> tuple[SpaceRight, ...]:
    found = access.resolve(connection, holder, [ref for ref, _ in wanted])
    by_ref = {each.space.id: each for each in found} | {each.space.name: each for each in found}
    return tuple(dict.fromkeys(SpaceRight(by_ref[ref].space.id, can_write) for ref, can_write in wanted))


def _now() -> datetime:
    return datetime.now(UTC)
