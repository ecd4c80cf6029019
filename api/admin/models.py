"""The requests of the admin routes. They are ours alone, so an unknown field is refused, not ignored."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from api.xmemo.wire import JsonObject, Moment, ReadModel
from engine.domain.access import DEFAULT_SCOPES, Role, Scope
from engine.upkeep.administration import TokenKind

Name = Annotated[str, StringConstraints(min_length=1, max_length=255, strip_whitespace=True)]


class SpaceGrant(ReadModel):
    """One space that a token is narrowed to."""

    space: str = Field(description="A space by id or name.")
    can_write: bool = True


class TokenBody(ReadModel):
    """A token to be issued."""

    name: Name
    user_id: str | None = Field(None, description="A user of the tenant; unset: your own.")
    scopes: frozenset[Scope] = Field(DEFAULT_SCOPES, min_length=1)
    spaces: list[SpaceGrant] | None = Field(None, description="Unset: all of the user. The first is the default.")
    expires_at: Moment | None = None
    kind: TokenKind = TokenKind.GENERAL


class UserBody(ReadModel):
    """A user to be made."""

    name: Name


class TeamBody(ReadModel):
    """A team to be made."""

    name: Name


class MemberBody(ReadModel):
    """A member's role."""

    role: Role


class SpaceBody(ReadModel):
    """A space to be made."""

    name: Name
    description: str | None = None
    metadata: JsonObject = Field(default_factory=dict)
    team_id: str | None = Field(None, description="The team that it belongs to; you must own it.")


class AuditParams(ReadModel):
    """A page of the audit."""

    target: str | None = Field(None, description="The id of a memory, token, team, user or space.")
    limit: int = Field(100, ge=1, le=1000)
    before: int | None = Field(None, ge=0, le=2**53, description="Entries before this `sequence`.")
