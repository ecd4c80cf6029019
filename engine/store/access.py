"""Which spaces a principal may read, and why: one subquery, used by every read of records.

Default is deny. A principal reaches

    owner            the personal spaces (no team) of its own user, in its own tenant
    team:<role>      the spaces of the teams of its tenant in which its user is a member

and, with a token narrowed to some spaces, only those of them. A narrowed token never adds a space or
the right to write. Spaces outside answer exactly like spaces that do not exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, literal, or_, select, true, union_all

from engine.domain.access import Principal, ReadableSpace, Role
from engine.errors import Forbidden, InvalidIdentifier, NotFound
from engine.store.columns import KeyText
from engine.store.ids import parse_id
from engine.store.schema import spaces, team_members, teams
from engine.store.spaces import from_row

OWNER = "owner"
TEAM = "team:"
_WRITERS = (Role.WRITER.value, Role.OWNER.value)


def readable_spaces(principal: Principal) -> Select[tuple[str, str, bool]]:
    """The query (space_id, reason, can_write) over all spaces that the principal may read.

    Its parameters are those of `caller(principal)`: the statement is one object for all callers, so
    that SQLAlchemy builds and compiles it once instead of with every search.
    """
    return _reach() if principal.space_rights is None else _narrowed_reach()


def caller(principal: Principal) -> dict[str, Any]:
    """The parameters that make `readable_spaces` the principal's own."""
    parameters: dict[str, Any] = {"caller_tenant": principal.tenant_id, "caller_user": principal.user_id}
    if principal.space_rights is not None:
        parameters["caller_reaches"] = [right.space_id for right in principal.space_rights]
        parameters["caller_writes"] = [right.space_id for right in principal.space_rights if right.can_write]
    return parameters


@cache
def _reach() -> Select[tuple[str, str, bool]]:
    tenant, user = bindparam("caller_tenant", type_=KeyText), bindparam("caller_user", type_=KeyText)
    mine = select(
        spaces.c.id.label("space_id"),
        literal(OWNER).label("reason"),
        true().label("can_write"),
    ).where(spaces.c.tenant_id == tenant, spaces.c.owner_user_id == user, spaces.c.team_id.is_(None))
    shared = (
        select(
            spaces.c.id.label("space_id"),
            (literal(TEAM) + team_members.c.role).label("reason"),
            team_members.c.role.in_(_WRITERS).label("can_write"),
        )
        .join(teams, (teams.c.id == spaces.c.team_id) & (teams.c.tenant_id == spaces.c.tenant_id))
        .join(team_members, team_members.c.team_id == teams.c.id)
        .where(spaces.c.tenant_id == tenant, team_members.c.user_id == user)
    )
    every = union_all(mine, shared).subquery("every")
    return select(every.c.space_id, every.c.reason, every.c.can_write)


@cache
def _narrowed_reach() -> Select[tuple[str, str, bool]]:
    every = _reach().subquery("reach")
    reaches = bindparam("caller_reaches", type_=KeyText, expanding=True)
    writes = bindparam("caller_writes", type_=KeyText, expanding=True)
    can_write = (every.c.can_write & every.c.space_id.in_(writes)).label("can_write")
    return select(every.c.space_id, every.c.reason, can_write).where(every.c.space_id.in_(reaches))


def readable(connection: Connection, principal: Principal) -> list[ReadableSpace]:
    """All spaces that the principal may read, oldest first."""
    rows = connection.execute(_listing(readable_spaces(principal)), caller(principal))
    return [_readable(row) for row in rows]


def resolve(
    connection: Connection, principal: Principal, refs: Sequence[str], *, write: bool = False
) -> list[ReadableSpace]:
    """The spaces behind ids or names, in the given order and without repetition.

    An id wins over a name. Raises `NotFound` for one that is missing or foreign, with the same text,
    and `Forbidden` for one that may be read but not written, if `write` is asked.
    """
    ids = {ref: _id_or_none(ref) for ref in refs}
    parameters = {"refs": list(refs), "ids": [found for found in ids.values() if found is not None]}
    rows = connection.execute(_lookup(readable_spaces(principal)), {**caller(principal), **parameters})
    visible = [_readable(row) for row in rows]
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


@cache
def _listing(reach: Select[tuple[str, str, bool]]) -> Select[Any]:
    allowed = reach.subquery("allowed")
    return (
        select(spaces, allowed.c.reason, allowed.c.can_write)
        .join(allowed, allowed.c.space_id == spaces.c.id)
        .order_by(spaces.c.created_at, spaces.c.id)
    )


@cache
def _lookup(reach: Select[tuple[str, str, bool]]) -> Select[Any]:
    ids = bindparam("ids", type_=KeyText, expanding=True)
    refs = bindparam("refs", type_=KeyText, expanding=True)
    return _listing(reach).where(or_(spaces.c.id.in_(ids), spaces.c.name.in_(refs)))


def _readable(row: Row[Any]) -> ReadableSpace:
    return ReadableSpace(space=from_row(row), reason=row.reason, can_write=bool(row.can_write))


def _id_or_none(ref: str) -> str | None:
    try:
        return parse_id(ref)
    except InvalidIdentifier:
        return None
