"""Who reads what, against a second opinion.

A small world (two tenants, users, a team with every role, tokens narrowed and not) is compared with
rules written down here in Python, for every caller and every space.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import product

import pytest
from sqlalchemy import Connection

from engine.domain.access import Principal, ReadableSpace, Role, Space, SpaceRight
from engine.domain.memory import Memory, Status
from engine.errors import Forbidden, NotFound
from engine.store import access, accounts, memories, spaces, teams
from engine.store.database import Database
from engine.store.filters import ANY_LIVE
from engine.store.ids import new_id
from tests.store.records import NOW, memory

USERS = ("ada", "ben", "cleo", "dan")
ROLES = {"ada": Role.OWNER, "ben": Role.WRITER, "cleo": Role.READER}
"""Roles in the team of the first tenant; `dan` is in none, and `eve` lives in another tenant."""


@dataclass(frozen=True)
class World:
    database: Database
    callers: dict[str, Principal]
    spaces: dict[str, Space]
    records: dict[str, Memory]


@pytest.fixture
def world(database: Database) -> World:
    callers: dict[str, Principal] = {}
    made: dict[str, Space] = {}
    with database.writing() as connection:
        tenant = accounts.create_tenant(connection, "first", NOW)
        for name in USERS:
            callers[name] = Principal(tenant_id=tenant, user_id=accounts.create_user(connection, tenant, name, NOW))
        foreign = accounts.create_tenant(connection, "second", NOW)
        callers["eve"] = Principal(tenant_id=foreign, user_id=accounts.create_user(connection, foreign, "eve", NOW))
        team = teams.create(connection, tenant_id=tenant, owner_user_id=callers["ada"].user_id, name="team", now=NOW)
        for name, role in ROLES.items():
            teams.set_role(connection, team, callers[name].user_id, role)
        for number, name in enumerate((*USERS, "eve")):
            made[name] = _space(connection, callers[name], f"{name}'s", number)
        # `dan` created the team's space and is no member: membership decides, not authorship.
        made["team"] = _space(connection, callers["dan"], "shared", 9, team_id=team.id)
        records = {name: memory(space_id=space.id, content=name) for name, space in made.items()}
        memories.insert_many(connection, list(records.values()))
    return World(database, callers, made, records)


def expected(caller: str, place: str, rights: dict[str, bool] | None) -> tuple[str, bool] | None:
    """Reason and right to write that the rules give, `None` for no access."""
    if rights is not None and place not in rights:
        return None
    may_write = rights is None or rights[place]
    if place == caller:
        return "owner", may_write
    if place == "team" and caller in ROLES:
        return f"team:{ROLES[caller].value}", may_write and ROLES[caller] is not Role.READER
    return None


NARROWINGS: dict[str, dict[str, bool] | None] = {
    "not narrowed": None,
    "to nothing": {},
    "to the team, read only": {"team": False},
    "to the team, with writing": {"team": True},
    "to all there is, with writing": dict.fromkeys((*USERS, "eve", "team"), True),
    "to a space of another": {"ben": True},
}


@pytest.mark.parametrize(("caller", "narrowing"), list(product((*USERS, "eve"), NARROWINGS)))
def test_a_caller_reaches_exactly_what_the_rules_say(world: World, caller: str, narrowing: str) -> None:
    rights = NARROWINGS[narrowing]
    principal = _narrowed(world, caller, rights)
    allowed = {place: verdict for place in world.spaces if (verdict := expected(caller, place, rights))}
    with world.database.reading() as connection:
        entries = access.readable(connection, principal)
        assert {entry.space.id: (entry.reason, entry.can_write) for entry in entries} == {
            world.spaces[place].id: verdict for place, verdict in allowed.items()
        }
        assert entries == sorted(entries, key=lambda entry: entry.space.created_at)
        ids = [record.id for record in world.records.values()]
        assert memories.authorized(connection, principal, ids, ANY_LIVE, NOW) == {
            world.records[place].id: world.records[place] for place in allowed
        }
        for place, space in world.spaces.items():
            _check_one(connection, principal, space, world.records[place], allowed.get(place))


def _check_one(
    connection: Connection, principal: Principal, space: Space, record: Memory, verdict: tuple[str, bool] | None
) -> None:
    held = memories.get_any(connection, principal, record.id, NOW)
    assert held == (None if verdict is None else memories.Held(record, verdict[1]))
    for ref in (space.id, space.name):
        for write in (False, True):
            if verdict is None:
                with pytest.raises(NotFound):
                    access.resolve(connection, principal, [ref], write=write)
            elif write and not verdict[1]:
                with pytest.raises(Forbidden):
                    access.resolve(connection, principal, [ref], write=True)
            else:
                entry = ReadableSpace(space=space, reason=verdict[0], can_write=verdict[1])
                assert access.resolve(connection, principal, [ref], write=write) == [entry]


def test_a_foreign_space_and_a_missing_one_read_alike(world: World) -> None:
    def refusal(ref: str) -> str:
        with world.database.reading() as connection, pytest.raises(NotFound) as caught:
            access.resolve(connection, world.callers["eve"], [ref])
        return str(caught.value).replace(ref, "<ref>")

    assert len({refusal(ref) for ref in (world.spaces["ada"].id, new_id(), "ada's", "no such name")}) == 1


def test_a_deleted_record_is_held_for_restore_and_an_expired_one_is_gone(world: World) -> None:
    space_id = world.spaces["ada"].id
    deleted = memory(space_id=space_id, status=Status.DELETED)
    expired = memory(space_id=space_id, expires_at=NOW)
    with world.database.writing() as connection:
        memories.insert_many(connection, [deleted, expired])
        ada = world.callers["ada"]
        held = memories.get_any(connection, ada, deleted.id, NOW)
        assert held is not None
        assert held.memory == deleted
        assert memories.get_any(connection, ada, expired.id, NOW) is None
        assert memories.authorized(connection, ada, [deleted.id, expired.id], ANY_LIVE, NOW) == {}


def test_refs_resolve_in_their_order_and_once(world: World) -> None:
    own, shared = world.spaces["ada"], world.spaces["team"]
    refs = [shared.name, own.id.upper(), own.name, shared.id]
    with world.database.reading() as connection:
        found = access.resolve(connection, world.callers["ada"], refs)
        assert [entry.space.id for entry in found] == [shared.id, own.id]
        assert access.resolve(connection, world.callers["ada"], []) == []


def test_a_space_named_like_an_id_does_not_hide_the_space_of_that_id(world: World) -> None:
    own = world.spaces["ada"]
    with world.database.writing() as connection:
        _space(connection, world.callers["ada"], own.id, 20)
        assert access.resolve(connection, world.callers["ada"], [own.id])[0].space == own


def test_losing_a_membership_ends_the_access_at_once(world: World) -> None:
    ben = world.callers["ben"]
    with world.database.writing() as connection:
        team = teams.list_all(connection, ben.tenant_id)[0]
        teams.remove_member(connection, team, ben.user_id)
        assert [entry.space.name for entry in access.readable(connection, ben)] == ["ben's"]


def test_a_request_without_a_space_goes_to_the_oldest_own_space(world: World) -> None:
    with world.database.writing() as connection:
        ada = world.callers["ada"]
        _space(connection, ada, "newer", 30)
        assert access.default_space(connection, ada).space == world.spaces["ada"]
        team = _narrowed(world, "ada", {"team": True})
        assert access.default_space(connection, team, write=True).space == world.spaces["team"]


def test_the_default_space_of_a_token_comes_first_and_keeps_to_its_rights(world: World) -> None:
    shared = world.spaces["team"]
    cleo = replace(world.callers["cleo"], default_space_id=shared.id)
    eve = replace(world.callers["eve"], default_space_id=shared.id)
    with world.database.reading() as connection:
        assert access.default_space(connection, cleo).space == shared
        with pytest.raises(Forbidden):
            access.default_space(connection, cleo, write=True)
        with pytest.raises(NotFound):
            access.default_space(connection, eve)


def test_a_caller_without_any_space_is_told_so(world: World) -> None:
    nobody = _narrowed(world, "ada", {})
    with world.database.reading() as connection, pytest.raises(NotFound):
        access.default_space(connection, nobody)


def _narrowed(world: World, caller: str, rights: dict[str, bool] | None) -> Principal:
    if rights is None:
        return world.callers[caller]
    spaces_reached = tuple(SpaceRight(world.spaces[place].id, write) for place, write in rights.items())
    return replace(world.callers[caller], space_rights=spaces_reached)


def _space(connection: Connection, owner: Principal, name: str, age: int, team_id: str | None = None) -> Space:
    return spaces.create(
        connection,
        tenant_id=owner.tenant_id,
        owner_user_id=owner.user_id,
        name=name,
        now=NOW + timedelta(seconds=age),
        team_id=team_id,
    )
