"""Grants on both databases: one use each, and the end of a family."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from engine.domain.access import ALL_SCOPES, Scope, SpaceRight
from engine.errors import Forbidden, NotFound, Unauthenticated
from engine.store import tokens
from engine.store.database import Database
from engine.upkeep.grants import GrantRefused, Grants
from tests.store.records import NOW, House

DETAIL = {"scopes": ["memory:read"], "client_name": "Editor"}


@pytest.fixture
def grants(house: House) -> Grants:
    return Grants(house.database)


def approved(grants: Grants, house: House) -> str:
    owner = replace(house.principal, scopes=ALL_SCOPES)
    return grants.approve(owner, grants.request(grants.ask("client", DETAIL)))


def is_good(database: Database, raw: str) -> bool:
    with database.reading() as connection:
        try:
            tokens.authenticate(connection, raw, NOW)
        except Unauthenticated:
            return False
        return True


def test_of_many_who_use_a_code_at_once_one_gets_tokens_and_they_end(grants: Grants, house: House) -> None:
    code = grants.code(approved(grants, house))
    assert code is not None

    def exchange(_: int) -> str | None:
        try:
            return grants.exchange(code, ["memory:read"], "Editor").access_token
        except GrantRefused:
            return None

    with ThreadPoolExecutor(4) as pool:
        issued = [token for token in pool.map(exchange, range(4)) if token]
    assert len(issued) == 1 and not is_good(house.database, issued[0])


def test_consent_needs_an_administrator_of_all_spaces(grants: Grants, house: House) -> None:
    request = grants.request(grants.ask("client", DETAIL))
    narrow = replace(house.principal, scopes=ALL_SCOPES, space_rights=(SpaceRight(house.space_id, True),))
    for person in (replace(house.principal, scopes=ALL_SCOPES - {Scope.ADMIN}), narrow):
        with pytest.raises(Forbidden):
            grants.approve(person, request)


def test_a_request_can_be_approved_once(grants: Grants, house: House) -> None:
    handle = grants.ask("client", DETAIL)
    request = grants.request(handle)
    owner = replace(house.principal, scopes=ALL_SCOPES)
    grants.approve(owner, request)
    with pytest.raises(NotFound):
        grants.approve(owner, request)
    with pytest.raises(NotFound):
        grants.request(handle)
