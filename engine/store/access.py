"""Which spaces a principal may read, and why: one subquery, used by every read of records.

Default is deny. A principal reaches

    owner            the personal spaces (no team) of its own user, in its own tenant
    team:<role>      the spaces of the teams of its tenant in which its user is a member

and, with a token narrowed to some spaces, only those of them. A narrowed token never adds a space or
the right to write. Spaces outside answer exactly like spaces that do not exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, false, literal, or_, select, true, union_all

from engine.domain.access import Principal, ReadableSpace, Role
from engine.errors import Forbidden, InvalidIdentifier, NotFound
from engine.store.ids import parse_id
from engine.store.schema import spaces, team_members, teams
from engine.store.spaces import from_row

OWNER = "owner"
TEAM = "team:"
_WRITERS = (Role.WRITER.value, Role.OWNER.value)


def readable_spaces(principal: Principal) -> Select[tuple[str, str, bool]]:
    """The query (space_id, reason, can_write) over all spaces that the principal may read."""
    mine = select(
        spaces.c.id.label("space_id"),
        literal(OWNER).label("reason"),
        true().label("can_write"),
    ).where(
        spaces.c.tenant_id == principal.tenant_id,
        spaces.c.owner_user_id == principal.user_id,
        spaces.c.team_id.is_(None),
    )
    shared = (
        select(
            spaces.c.id.label("space_id"),
            (literal(TEAM) + team_members.c.role).label("reason"),
            team_members.c.role.in_(_WRITERS).label("can_write"),
        )
        .join(teams, (teams.c.id == spaces.c.team_id) & (teams.c.tenant_id == spaces.c.tenant_id))
        .join(team_members, team_members.c.team_id == teams.c.id)
        .where(spaces.c.tenant_id == principal.tenant_id, team_members.c.user_id == principal.user_id)
    )
    every = union_all(mine, shared).subquery("every")
    may_write: ColumnElement[bool] = every.c.can_write
    if principal.space_rights is None:
        return select(every.c.space_id, every.c.reason, may_write)
    reached = [right.space_id for right in principal.space_rights]
    writable = [right.space_id for right in principal.space_rights if right.can_write]
    narrowed = (may_write & every.c.space_id.in_(writable)).label("can_write")
    return select(every.c.space_id, every.c.reason, narrowed).where(every.c.space_id.in_(reached))


def readable(connection: Connection, principal: Principal) -> list[ReadableSpace]:
    """All spaces that the principal may read, oldest first."""
    return _load(connection, principal, true())


def resolve(
    connection: Connection, principal: Principal, refs: Sequence[str], *, write: bool = False
) -> list[ReadableSpace]:
    """The spaces behind ids or names, in the given order and without repetition.

    An id wins over a name. Raises `NotFound` for one that is missing or foreign, with the same text,
    and `Forbidden` for one that may be read but not written, if `write` is asked.
    """
    ids = {ref: _id_or_none(ref) for ref in refs}
    wanted = or_(
        false(),
        spaces.c.id.in_([found for found in ids.values() if found is not None]),
        spaces.c.name.in_(list(refs)),
    )
    visible = _load(connection, principal, wanted)
    by_id = {entry.space.id: entry for entry in visible}
    by_name = {entry.space.name: entry for entry in visible}
    resolved: dict[str, ReadableSpace] = {}
    for ref in refs:
        entry = by_id.get(ids[ref] or "") or by_name.get(ref)
        if entry is None:
            raise NotFound(f"Space {ref} not found")
        if write and not entry.can_write:
            raise Forbidden(f"You may read the space {entry.space.name} but not write to it.")
        resolved.setdefault(entry.space.id, entry)
    return list(resolved.values())


def default_space(connection: Connection, principal: Principal, *, write: bool = False) -> ReadableSpace:
    """The space for a request that names none: the token's default, else the oldest own, else the oldest.

    Raises `NotFound` when there is none, `Forbidden` as `resolve` does.
    """
    if principal.default_space_id is not None:
        return resolve(connection, principal, [principal.default_space_id], write=write)[0]
    visible = [entry for entry in readable(connection, principal) if entry.can_write or not write]
    if not visible:
        raise NotFound("There is no space for this. Create one first.")
    return next((entry for entry in visible if entry.reason == OWNER), visible[0])


def _load(connection: Connection, principal: Principal, wanted: ColumnElement[bool]) -> list[ReadableSpace]:
    allowed = readable_spaces(principal).subquery("allowed")
    query = (
        select(spaces, allowed.c.reason, allowed.c.can_write)
        .join(allowed, allowed.c.space_id == spaces.c.id)
        .where(wanted)
        .order_by(spaces.c.created_at, spaces.c.id)
    )
    return [_readable(row) for row in connection.execute(query)]


def _readable(row: Row[Any]) -> ReadableSpace:
    return ReadableSpace(space=from_row(row), reason=row.reason, can_write=bool(row.can_write))


def _id_or_none(ref: str) -> str | None:
    try:
        return parse_id(ref)
    except InvalidIdentifier:
        return None
