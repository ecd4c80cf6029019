from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from engine.domain.access import SpaceRight
from engine.errors import Conflict, InvalidRequest, NotFound
from engine.store import accounts, memories, outbox, paths, spaces, terms, tokens
from engine.store.database import Database
from engine.store.filters import ANY_LIVE
from engine.store.schema import metadata
from engine.text.patterns import parse_path_pattern
from tests.store.records import NOW, House, memory


def test_a_fresh_store_gets_one_space_named_default(database: Database) -> None:
    with database.writing() as connection:
        owner = spaces.ensure_owner(connection, NOW)
        assert [space.name for space in spaces.list_all(connection)] == ["default"]
    assert owner.space.owner_user_id == owner.user_id
    assert owner.space.tenant_id == owner.tenant_id


def test_the_local_owner_stays_the_same(house: House) -> None:
    with house.database.writing() as connection:
        again = spaces.ensure_owner(connection, NOW + timedelta(days=1))
    assert (again.user_id, again.space.id) == (house.principal.user_id, house.space_id)


def test_the_local_owner_keeps_its_oldest_space_when_default_is_deleted(house: House) -> None:
    with house.database.writing() as connection:
        other = _create(connection, house, "garden")
        spaces.delete(connection, house.space_id)
        assert spaces.ensure_owner(connection, NOW).space.id == other.id
        spaces.delete(connection, other.id)
        assert spaces.ensure_owner(connection, NOW).space.name == "default"


def test_a_space_comes_back_as_it_was_created(house: House) -> None:
    with house.database.writing() as connection:
        made = _create(connection, house, "  garden ", description="beds", metadata={"size": [1, 2], "é": None})
    with house.database.reading() as connection:
        assert spaces.get(connection, made.id) == made
        assert spaces.find_by_name(connection, made.tenant_id, "garden") == made
    assert made.metadata == {"size": [1, 2], "é": None}


def test_a_name_is_taken_once_per_tenant(house: House) -> None:
    with house.database.writing() as connection:
        _create(connection, house, "garden")
        with pytest.raises(Conflict, match="garden"):
            _create(connection, house, "garden ")
        tenant_id = accounts.create_tenant(connection, "other", NOW)
        user_id = accounts.create_user(connection, tenant_id, "someone", NOW)
        spaces.create(connection, tenant_id=tenant_id, owner_user_id=user_id, name="garden", now=NOW)
        # The refused attempt must not have spoilt the transaction.
        assert len(spaces.list_all(connection)) == 3


@pytest.mark.parametrize("name", ["", "   ", "x" * 256])
def test_a_name_without_sense_is_refused(house: House, name: str) -> None:
    with house.database.writing() as connection, pytest.raises(InvalidRequest) as caught:
        _create(connection, house, name)
    assert caught.value.field == "name"


def test_spaces_are_listed_oldest_first(house: House) -> None:
    with house.database.writing() as connection:
        _create(connection, house, "third", now=NOW + timedelta(seconds=2))
        _create(connection, house, "second", now=NOW + timedelta(seconds=1))
        assert [space.name for space in spaces.list_all(connection)] == ["default", "second", "third"]


def test_a_deleted_space_leaves_nothing_but_work_for_the_index(house: House) -> None:
    with house.database.writing() as connection:
        doomed = _create(connection, house, "doomed").id
        tokens.create(
            connection,
            tenant_id=house.principal.tenant_id,
            user_id=house.principal.user_id,
            name="narrow",
            now=NOW,
            space_rights=[SpaceRight(doomed, True)],
            default_space_id=doomed,
        )
        first, second = memory(space_id=doomed, path="a"), memory(space_id=doomed, path="b")
        kept = memory(space_id=house.space_id, path="a")
        memories.insert_many(connection, [first, second, kept])
        changed = memory(id=first.id, space_id=doomed, path="a", content="new words", version=2)
        memories.replace(connection, first, changed)
        for space_id in (doomed, house.space_id):
            terms.add(connection, space_id, [({"kettle": 1}, 1)])
    with house.database.writing() as connection:
        spaces.delete(connection, doomed)
    with house.database.reading() as connection:
        assert {row.record_id for row in outbox.pending(connection, 10)} == {first.id, second.id}
        assert terms.totals(connection, house.space_id).records == 1
        assert paths.matching_path_keys(connection, house.space_id, parse_path_pattern("%")) == {"a"}
        assert memories.page(connection, [house.space_id], ANY_LIVE, NOW, 10) == ([kept], 1)
        for table in metadata.sorted_tables:
            rows = connection.execute(sa.select(table)).all()
            assert not any(doomed in str(row) for row in rows), table.name
            assert not any("new words" in str(row) for row in rows), table.name
        narrowed = tokens.list_all(connection, house.principal.tenant_id)[0]
        assert narrowed.space_rights == ()
        with pytest.raises(NotFound):
            spaces.get(connection, doomed)


def test_deleting_a_missing_space_is_not_found(house: House) -> None:
    with house.database.writing() as connection, pytest.raises(NotFound):
        spaces.delete(connection, "0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4b")


def _create(connection: sa.Connection, house: House, name: str, **fields: Any) -> Any:
    who = {"tenant_id": house.principal.tenant_id, "owner_user_id": house.principal.user_id}
    return spaces.create(connection, **{**who, "name": name, "now": NOW, **fields})
