"""Who calls and what they may see. Default is deny; a token only ever narrows its user's rights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class Scope(StrEnum):
    """What a token may do at all."""

    READ = "memory:read"
    WRITE = "memory:write"
    DELETE = "memory:delete"
    RESTORE = "memory:restore"
    ADMIN = "memory:admin"


DEFAULT_SCOPES = frozenset({Scope.READ, Scope.WRITE})
ALL_SCOPES = frozenset(Scope)


class Role(StrEnum):
    """A member's role in a team; each includes the one before it."""

    READER = "reader"
    WRITER = "writer"
    OWNER = "owner"


@dataclass(frozen=True, slots=True)
class SpaceRight:
    """One space that a token is narrowed to."""

    space_id: str
    can_write: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """The caller of one request.

    `space_rights` is `None` for a token that reaches all spaces of its user, else the only spaces
    it reaches. `agent_id` is attribution, never authorization.
    """

    tenant_id: str
    user_id: str
    scopes: frozenset[Scope] = DEFAULT_SCOPES
    token_id: str | None = None
    space_rights: tuple[SpaceRight, ...] | None = None
    default_space_id: str | None = None
    agent_id: str | None = None
    agent_instance_hash: str | None = None

    def has(self, *scopes: Scope) -> bool:
        """Whether its token has one of these scopes; `memory:admin` stands for all."""
        return not self.scopes.isdisjoint({*scopes, Scope.ADMIN})


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """A set of memories with statistics and rights of its own. Names are unique in a tenant."""

    id: str
    tenant_id: str
    name: str
    owner_user_id: str
    team_id: str | None
    description: str | None
    metadata: Mapping[str, Any]
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadableSpace:
    """A space the caller may read, and why (`owner`, `team:reader`, `team:writer`, `team:owner`)."""

    space: Space
    reason: str
    can_write: bool

    @property
    def may_manage(self) -> bool:
        """Whether the caller may rename, share or delete the space."""
        return self.can_write and self.reason in ("owner", "team:owner")


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token as it is stored: never its secret. `prefix` is its public, printable start."""

    id: str
    prefix: str
    name: str
    tenant_id: str
    user_id: str
    scopes: frozenset[Scope]
    space_rights: tuple[SpaceRight, ...] | None
    default_space_id: str | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None
    read_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """A team of one tenant; its spaces are shared by its members according to their roles."""

    id: str
    tenant_id: str
    name: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class TeamMember:
    """One user's role in a team."""

    team_id: str
    user_id: str
    role: Role
