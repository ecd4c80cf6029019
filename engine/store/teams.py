"""Teams of a tenant and the roles of their members.

A team's spaces are reached through membership alone, by their creator too; see `access`.
"""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection
from sqlalchemy.exc import IntegrityError

from engine.domain.access import Role, Team, TeamMember
from engine.errors import Conflict, InvalidRequest, NotFound
from engine.store import accounts, spaces
from engine.store.database import hold
from engine.store.ids import new_id
from engine.store.schema import team_members, teams
from engine.store.upsert import insert_into

NAME_LIMIT_CHARACTERS = 255


def create(connection: Connection, *, tenant_id: str, owner_user_id: str, name: str, now: datetime) -> Team:
    """A new team whose first owner is the given user.

    Raises `Conflict` when the tenant has one of that name, `NotFound` for a user of another tenant.
    """
    trimmed = name.strip()
    if not 1 <= len(trimmed) <= NAME_LIMIT_CHARACTERS:
        raise InvalidRequest(f"A team's name has 1 to {NAME_LIMIT_CHARACTERS} characters.", field="name")
    accounts.get_user(connection, tenant_id, owner_user_id)
    team = Team(id=new_id(), tenant_id=tenant_id, name=trimmed, created_at=now)
    try:
        with connection.begin_nested():
            values = {"id": team.id, "tenant_id": tenant_id, "name": trimmed, "created_at": now}
            connection.execute(sa.insert(teams), values)
    except IntegrityError as error:
        raise Conflict(f"A team named {trimmed} exists already.") from error
    _put(connection, TeamMember(team.id, owner_user_id, Role.OWNER))
    return team


def get(connection: Connection, tenant_id: str, team_id: str) -> Team:
    """A team of the tenant. Raises `NotFound`, also for one of another tenant."""
    found = _select(connection, teams.c.tenant_id == tenant_id, teams.c.id == team_id)
    if not found:
        raise NotFound(f"Team {team_id} not found")
    return found[0]


def list_all(connection: Connection, tenant_id: str) -> list[Team]:
    """The teams of a tenant, oldest first."""
    return _select(connection, teams.c.tenant_id == tenant_id)


def of_user(connection: Connection, tenant_id: str, user_id: str) -> list[tuple[Team, Role]]:
    """The teams in which the user is a member, oldest first, with its role in each."""
    query = (
        sa.select(teams, team_members.c.role)
        .join(team_members, team_members.c.team_id == teams.c.id)
        .where(teams.c.tenant_id == tenant_id, team_members.c.user_id == user_id)
        .order_by(teams.c.created_at, teams.c.id)
    )
    return [
        (Team(id=row.id, tenant_id=row.tenant_id, name=row.name, created_at=row.created_at), Role(row.role))
        for row in connection.execute(query)
    ]


def role_of(connection: Connection, team_id: str, user_id: str) -> Role | None:
    """The user's role in a team; `None` for no member."""
    query = sa.select(team_members.c.role).where(team_members.c.team_id == team_id, team_members.c.user_id == user_id)
    role = connection.execute(query).scalar_one_or_none()
    return None if role is None else Role(role)


def members(connection: Connection, team_id: str) -> list[TeamMember]:
    """The members of a team, by user id."""
    query = sa.select(team_members).where(team_members.c.team_id == team_id).order_by(team_members.c.user_id)
    return [TeamMember(row.team_id, row.user_id, Role(row.role)) for row in connection.execute(query)]


def set_role(connection: Connection, team: Team, user_id: str, role: Role) -> None:
    """Make a user of the team's tenant a member with this role, or change its role.

    Raises `NotFound` for a user of another tenant, `Conflict` if the team would lose its last owner.
    """
    accounts.get_user(connection, team.tenant_id, user_id)
    if role is not Role.OWNER:
        _keep_an_owner(connection, team.id, without=user_id)
    _put(connection, TeamMember(team.id, user_id, role))


def remove_member(connection: Connection, team: Team, user_id: str) -> None:
    """Take a user out of a team; no member is fine. Raises `Conflict` for its last owner."""
    _keep_an_owner(connection, team.id, without=user_id)
    connection.execute(
        sa.delete(team_members).where(team_members.c.team_id == team.id, team_members.c.user_id == user_id)
    )


def delete(connection: Connection, team: Team) -> None:
    """Remove a team. Raises `Conflict` while it has spaces: delete or move those first."""
    if spaces.of_team(connection, team.id):
        raise Conflict(f"The team {team.name} still has spaces.")
    connection.execute(sa.delete(team_members).where(team_members.c.team_id == team.id))
    connection.execute(sa.delete(teams).where(teams.c.id == team.id))


def _keep_an_owner(connection: Connection, team_id: str, *, without: str) -> None:
    # Two owners who step down at once would each see the other.
    hold(connection, "team", team_id)
    owners = {member.user_id for member in members(connection, team_id) if member.role is Role.OWNER}
    if owners == {without}:
        raise Conflict("A team keeps at least one owner.")


def _put(connection: Connection, member: TeamMember) -> None:
    upsert = insert_into(connection, team_members)
    connection.execute(
        upsert.on_conflict_do_update(index_elements=["team_id", "user_id"], set_={"role": upsert.excluded.role}),
        {"team_id": member.team_id, "user_id": member.user_id, "role": member.role.value},
    )


def _select(connection: Connection, *conditions: ColumnElement[bool]) -> list[Team]:
    rows = connection.execute(sa.select(teams).where(*conditions).order_by(teams.c.created_at, teams.c.id))
    return [Team(id=row.id, tenant_id=row.tenant_id, name=row.name, created_at=row.created_at) for row in rows]
