from __future__ import annotations

from datetime import timedelta

import pytest

from engine.errors import InvalidRequest
from engine.store.filters import ANY_LIVE, StoreFilter
from engine.store.groups import grouped, totals
from tests.store.records import NOW, House


def by(house: House, group: str, where: StoreFilter = ANY_LIVE, limit: int = 10) -> dict[str, int]:
    with house.database.reading() as connection:
        return grouped(connection, [house.space_id], where, NOW, group, limit)


def test_records_are_grouped_by_column_day_and_metadata(house: House) -> None:
    house.put(path="a", metadata={"topic": "x", "n": 1})
    house.put(path="a", metadata={"topic": "y"}, created_at=NOW + timedelta(days=1))
    house.put(path="b", metadata={"topic": "x"}, source="import")
    house.put(path="c", expires_at=NOW)
    assert by(house, "path") == {"a": 2, "b": 1}
    assert by(house, "source") == {"": 2, "import": 1}
    assert by(house, "day") == {"2026-03-14": 2, "2026-03-15": 1}
    assert by(house, "metadata:topic") == {"x": 2, "y": 1}
    assert by(house, "metadata:n") == {"": 2, "1": 1}
    assert by(house, "path", limit=1) == {"a": 2}


def test_totals_follow_the_filter(house: House) -> None:
    house.put(content="ab", bucket="work")
    house.put(content="cde", bucket="private")
    with house.database.reading() as connection:
        assert totals(connection, [house.space_id], StoreFilter(bucket="private"), NOW).content_bytes == 3
        assert totals(connection, [], ANY_LIVE, NOW).records == 0


@pytest.mark.parametrize("group", ["colour", "metadata:", "metadata:a b", "metadata:x'"])
def test_another_group_is_refused(house: House, group: str) -> None:
    with pytest.raises(InvalidRequest):
        by(house, group)
