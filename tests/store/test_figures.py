from __future__ import annotations

from datetime import timedelta

import pytest

from engine.domain.memory import MemoryType, Status
from engine.errors import InvalidRequest
from engine.store.figures import GROUPS, Figures, distribution, figures
from tests.store.records import NOW, House


def test_an_empty_space_has_no_oldest_record(house: House) -> None:
    with house.database.reading() as connection:
        assert figures(connection, house.space_id, NOW) == Figures(0, 0, None, None)


def test_only_live_records_are_summed_up_and_bytes_are_those_of_utf_8(house: House) -> None:
    house.put(content="ab")
    house.put(content="é\\x漢", created_at=NOW + timedelta(seconds=1))
    house.put(content="deleted", status=Status.DELETED)
    house.put(content="expired", expires_at=NOW)
    with house.database.reading() as connection:
        assert figures(connection, house.space_id, NOW) == Figures(2, 2 + 7, NOW, NOW + timedelta(seconds=1))


def test_groups_come_largest_first_then_by_name(house: House) -> None:
    for kind in ("semantic", "identity", "identity", "episodic"):
        house.put(memory_type=MemoryType(kind))
    house.put(memory_type=MemoryType.WORKING, status=Status.DELETED)
    with house.database.reading() as connection:
        found = distribution(connection, house.space_id, "memory_type", NOW)
        assert list(found.items()) == [("identity", 2), ("episodic", 1), ("semantic", 1)]
        assert list(distribution(connection, house.space_id, "memory_type", NOW, limit=1)) == ["identity"]


def test_every_documented_group_works_and_no_other(house: House) -> None:
    house.put()
    with house.database.reading() as connection:
        for group in GROUPS:
            assert sum(distribution(connection, house.space_id, group, NOW).values()) == 1
        with pytest.raises(InvalidRequest):
            distribution(connection, house.space_id, "content", NOW)
