from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import Connection

from engine.domain.access import Role, Team, TeamMember
from engine.errors import Conflict, InvalidRequest, NotFound
from engine.store import accounts, spaces, teams
from tests.store.records import NOW, House


def test_the_creator_is_the_first_owner(house: House) -> None:
    with house.database.writing() as connection:
        team = _team(connection, house)
        assert teams.get(connection, team.tenant_id, team.id) == team
        assert teams.members(connection, team.id) == [TeamMember(team.id, house.principal.user_id, Role.OWNER)]
        assert teams.of_user(connection, team.tenant_id, house.principal.user_id) == [(team, Role.OWNER)]


def test_a_role_is_set_changed_and_taken_away(house: House) -> None:
    with house.database.writing() as connection:
        team = _team(connection, house)
        guest = accounts.create_user(connection, team.tenant_id, "guest", NOW)
        assert teams.role_of(connection, team.id, guest) is None
        for role in (Role.READER, Role.WRITER):
            teams.set_role(connection, team, guest, role)
            assert teams.role_of(connection, team.id, guest) is role
        teams.remove_member(connection, team, guest)
        teams.remove_member(connection, team, guest)
        assert teams.role_of(connection, team.id, guest) is None


def test_a_team_keeps_an_owner(house: House) -> None:
    with house.database.writing() as connection:
        team = _team(connection, house)
        first = house.principal.user_id
        with pytest.raises(Conflict, match="owner"):
            teams.remove_member(connection, team, first)
        with pytest.raises(Conflict, match="owner"):
            teams.set_role(connection, team, first, Role.READER)
        second = accounts.create_user(connection, team.tenant_id, "second", NOW)
        teams.set_role(connection, team, second, Role.OWNER)
        teams.set_role(connection, team, first, Role.READER)
        assert teams.role_of(connection, team.id, first) is Role.READER


def test_another_tenants_user_cannot_join_and_its_teams_cannot_be_seen(house: House) -> None:
    with house.database.writing() as connection:
        team = _team(connection, house)
        foreign = accounts.create_tenant(connection, "foreign", NOW)
        eve = accounts.create_user(connection, foreign, "eve", NOW)
        with pytest.raises(NotFound):
            teams.set_role(connection, team, eve, Role.READER)
        with pytest.raises(NotFound):
            teams.get(connection, foreign, team.id)
        with pytest.raises(NotFound):
            teams.create(connection, tenant_id=foreign, owner_user_id=house.principal.user_id, name="x", now=NOW)
        assert teams.list_all(connection, foreign) == []


def test_team_names_are_unique_in_a_tenant_and_listed_oldest_first(house: House) -> None:
    with house.database.writing() as connection:
        later = teams.create(
            connection,
            tenant_id=house.principal.tenant_id,
            owner_user_id=house.principal.user_id,
            name="later",
            now=NOW + timedelta(seconds=1),
        )
        sooner = _team(connection, house)
        with pytest.raises(Conflict):
            _team(connection, house)
        assert teams.list_all(connection, sooner.tenant_id) == [sooner, later]


def test_a_team_with_spaces_is_not_deleted(house: House) -> None:
    with house.database.writing() as connection:
        team = _team(connection, house)
        space = spaces.create(
            connection,
            tenant_id=team.tenant_id,
            owner_user_id=house.principal.user_id,
            name="shared",
            now=NOW,
            team_id=team.id,
        )
        assert spaces.of_team(connection, team.id) == [space]
        with pytest.raises(Conflict):
            teams.delete(connection, team)
        spaces.delete(connection, space.id)
        teams.delete(connection, team)
        assert teams.members(connection, team.id) == []
        with pytest.raises(NotFound):
            teams.get(connection, team.tenant_id, team.id)


@pytest.mark.parametrize("name", ["", " ", "x" * 256])
def test_a_team_name_without_sense_is_refused(house: House, name: str) -> None:
    with house.database.writing() as connection, pytest.raises(InvalidRequest):
        _team(connection, house, name)


def test_users_are_unique_by_name_in_a_tenant(house: House) -> None:
    tenant_id = house.principal.tenant_id
    with house.database.writing() as connection:
        guest = accounts.create_user(connection, tenant_id, "guest", NOW)
        with pytest.raises(Conflict):
            accounts.create_user(connection, tenant_id, "guest", NOW)
        assert accounts.get_user(connection, tenant_id, guest).name == "guest"
        assert [user.name for user in accounts.list_users(connection, tenant_id)] == ["owner", "guest"]


def _team(connection: Connection, house: House, name: str = "gardeners") -> Team:
    who = {"tenant_id": house.principal.tenant_id, "owner_user_id": house.principal.user_id}
    return teams.create(connection, **who, name=name, now=NOW)
