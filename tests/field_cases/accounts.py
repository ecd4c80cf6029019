"""Tenants, users, teams, spaces and tokens for the actors of a case, made through the store.

Every caller is a principal that the engine itself has read from a token, so that authorization is
real. `keeper_of(space)` is a caller who may write there; it stores the rows of the case.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from sqlalchemy import Connection

from engine.domain.access import Principal, Role, Scope, Space, SpaceRight
from engine.engine import Engine
from engine.store import accounts as account_store
from engine.store import spaces as space_store
from engine.store import teams, tokens
from tests.field_cases.surface import Arrangement

SCOPES = frozenset({Scope.READ, Scope.WRITE, Scope.DELETE, Scope.RESTORE})
KEEPER = "keeper"
Rights = Mapping[str, Mapping[str, str]]


@dataclass(slots=True)
class Accounts:
    """Principals and raw tokens by actor, and for each space one who may write to it."""

    rights: Rights
    principals: dict[str, Principal] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    keepers: dict[str, Principal] = field(default_factory=dict)

    def principal(self, actor: str | None) -> Principal:
        """The principal of an actor; `None` is the keeper of all spaces of a case without actors."""
        return self.principals[KEEPER if actor is None else actor]

    def keeper_of(self, space: str) -> Principal:
        return self.keepers[space]

    def may_read(self, actor: str | None, space: str) -> bool:
        return actor is None or space in self.rights[actor]


def open_accounts(engine: Engine, spaces: Sequence[str], actors: Rights, arrangement: Arrangement) -> Accounts:
    """Make the spaces and actors of a case, with the rights of its actors arranged as asked."""
    with engine.database.writing() as connection:
        match arrangement:
            case Arrangement.TOKENS:
                made = _narrowed_tokens(connection, spaces, actors)
            case Arrangement.TEAMS:
                made = _teams(connection, spaces, actors)
            case Arrangement.TENANTS:
                made = _tenants(connection, spaces, actors)
    accounts = Accounts(actors)
    for name, secret in made.secrets.items():
        accounts.principals[name] = engine.authenticate(secret)
        accounts.secrets[name] = secret
    accounts.keepers = {space: accounts.principals[keeper] for space, keeper in made.keepers.items()}
    return accounts


def can_be_arranged(actors: Rights, arrangement: Arrangement) -> bool:
    """Whether rights can come about that way: two tenants can share no space."""
    named = [space for rights in actors.values() for space in rights]
    return arrangement is not Arrangement.TENANTS or len(named) == len(set(named))


@dataclass(slots=True)
class _Made:
    """Raw tokens by actor, and the actor who keeps each space."""

    secrets: dict[str, str] = field(default_factory=dict)
    keepers: dict[str, str] = field(default_factory=dict)


def _narrowed_tokens(connection: Connection, spaces: Sequence[str], actors: Rights) -> _Made:
    """One user owns every space; each actor's token reaches only its own."""
    tenant, made = _tenant(connection), _Made(keepers=dict.fromkeys(spaces, KEEPER))
    user = _user(connection, tenant, KEEPER)
    existing = {name: _space(connection, tenant, user, name) for name in spaces}
    made.secrets[KEEPER] = _token(connection, tenant, user, KEEPER)
    for actor, rights in actors.items():
        made.secrets[actor] = _token(connection, tenant, user, actor, _space_rights(existing, rights))
    return made


def _teams(connection: Connection, spaces: Sequence[str], actors: Rights) -> _Made:
    """Every space belongs to a team; actors are members with a role."""
    tenant, made = _tenant(connection), _Made(keepers=dict.fromkeys(spaces, KEEPER))
    keeper = _user(connection, tenant, KEEPER)
    made.secrets[KEEPER] = _token(connection, tenant, keeper, KEEPER)
    users = {actor: _user(connection, tenant, actor) for actor in actors}
    for name in spaces:
        team = teams.create(connection, tenant_id=tenant, owner_user_id=keeper, name=name, now=_now())
        _space(connection, tenant, keeper, name, team.id)
        for actor, rights in actors.items():
            if name in rights:
                role = Role.WRITER if rights[name] == "rw" else Role.READER
                teams.set_role(connection, team, users[actor], role)
    for actor, user in users.items():
        made.secrets[actor] = _token(connection, tenant, user, actor)
    return made


def _tenants(connection: Connection, spaces: Sequence[str], actors: Rights) -> _Made:
    """Every actor owns its spaces in a tenant of its own; nobody's spaces belong to a stranger."""
    made = _Made()
    homes = {space: actor for actor, rights in actors.items() for space in rights}
    for owner in (*actors, KEEPER):
        tenant = _tenant(connection)
        user = _user(connection, tenant, owner)
        own = {name: _space(connection, tenant, user, name) for name in spaces if homes.get(name, KEEPER) == owner}
        keeper = f"keeper of {owner}" if owner in actors else KEEPER
        made.secrets[keeper] = _token(connection, tenant, user, keeper)
        made.keepers |= dict.fromkeys(own, keeper)
        if owner in actors:
            made.secrets[owner] = _token(connection, tenant, user, owner, _space_rights(own, actors[owner]))
    return made


def _space_rights(existing: Mapping[str, Space], rights: Mapping[str, str]) -> list[SpaceRight]:
    return [SpaceRight(existing[name].id, right == "rw") for name, right in rights.items()]


def _tenant(connection: Connection) -> str:
    return account_store.create_tenant(connection, "field case", _now())


def _user(connection: Connection, tenant_id: str, name: str) -> str:
    return account_store.create_user(connection, tenant_id, name, _now())


def _space(connection: Connection, tenant_id: str, user_id: str, name: str, team_id: str | None = None) -> Space:
    return space_store.create(
        connection, tenant_id=tenant_id, owner_user_id=user_id, name=name, now=_now(), team_id=team_id
    )


def _token(
    connection: Connection, tenant_id: str, user_id: str, name: str, rights: Sequence[SpaceRight] | None = None
) -> str:
    issued = tokens.create(
        connection, tenant_id=tenant_id, user_id=user_id, name=name, now=_now(), scopes=SCOPES, space_rights=rights
    )
    return issued.secret


def _now() -> datetime:
    return datetime.now(UTC)
