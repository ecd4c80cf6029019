"""Making and removing spaces. Removing one leaves nothing of it, in the truth or the index."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from engine.domain.access import Principal, Role, Scope, Space
from engine.errors import Forbidden, NotFound
from engine.store import access, audit, teams
from engine.store import spaces as space_store
from engine.store.database import Database
from engine.writing.applier import Applier
from engine.writing.rights import require_scope


def create(
    database: Database,
    principal: Principal,
    name: str,
    now: datetime,
    *,
    description: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    team_id: str | None = None,
) -> Space:
    """A new space of the caller, or of a team that the caller owns.

    Raises `Conflict` when the tenant has a space of that name.
    """
    require_scope(principal, Scope.WRITE)
    if principal.space_rights is not None:
        raise Forbidden("a token that is narrowed to spaces cannot create one")
    with database.writing() as connection:
        if team_id is not None:
            _require_owner(connection, principal, team_id)
        space = space_store.create(
            connection,
            tenant_id=principal.tenant_id,
            owner_user_id=principal.user_id,
            name=name,
            now=now,
            description=description,
            metadata=metadata,
            team_id=team_id,
        )
        audit.append(connection, principal, "create_space", now, target=space.id, space_id=space.id)
    return space


def delete(database: Database, applier: Applier, principal: Principal, ref: str, now: datetime) -> Space:
    """Remove a space and all that is in it, for good."""
    require_scope(principal, Scope.DELETE, Scope.WRITE)
    with applier.paused():
        with database.writing() as connection:
            found = access.resolve(connection, principal, [ref], write=True)[0]
            if not found.may_manage:
                raise Forbidden("only an owner may delete a space")
            audit.append(connection, principal, "delete_space", now, target=found.space.id, space_id=found.space.id)
            space_store.delete(connection, found.space.id)
        applier.index.delete_space(found.space.id)
        if applier.mirror is not None:
            applier.mirror.delete_space(found.space.id)
    return found.space


def _require_owner(connection: Connection, principal: Principal, team_id: str) -> None:
    team = teams.get(connection, principal.tenant_id, team_id)
    role = teams.role_of(connection, team.id, principal.user_id)
    if role is None:
        raise NotFound(f"Team {team_id} not found")
    if role is not Role.OWNER:
        raise Forbidden("only an owner of the team may give it a space")
