"""Records found by what they answer to, one or many at a time."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from engine.domain.memory import Kind, Memory, Status
from engine.store import namesakes
from engine.store.ids import new_id
from engine.store.namesakes import Name, by_content, by_semantic_key, by_state_key
from tests.store.records import NOW, House

SECOND = timedelta(seconds=1)


def find(house: House, name: Name, now: datetime = NOW) -> Memory | None:
    with house.database.reading() as connection:
        return namesakes.find(connection, [name], now).get(name)


@pytest.mark.parametrize("scope", [None, "", "hermes/default"])
def test_a_semantic_key_is_found_in_its_own_bucket_and_scope_only(house: House, scope: str | None) -> None:
    stored = house.put(semantic_key="coffee", bucket="work", scope=scope)
    others: list[str | None] = [other for other in (None, "", "hermes/default", "x") if other != scope]
    space = house.space_id
    assert find(house, by_semantic_key(space, "work", scope, "coffee")) == stored
    assert find(house, by_semantic_key(space, "private", scope, "coffee")) is None
    assert find(house, by_semantic_key(space, "work", scope, "Coffee")) is None
    assert find(house, by_state_key(space, "work", scope, "coffee")) is None
    assert find(house, by_semantic_key(new_id(), "work", scope, "coffee")) is None
    for other in others:
        assert find(house, by_semantic_key(space, "work", other, "coffee")) is None


def test_a_key_is_free_again_once_its_record_is_deleted_or_expired(house: House) -> None:
    house.put(semantic_key="coffee", status=Status.DELETED)
    expiring = house.put(semantic_key="coffee", expires_at=NOW)
    name = by_semantic_key(house.space_id, "work", None, "coffee")
    assert find(house, name) is None
    assert find(house, name, NOW - SECOND) == expiring


def test_a_state_is_found_by_its_key_and_the_newest_wins(house: House) -> None:
    house.put(state_key="active_task", kind=Kind.STATE)
    newest = house.put(state_key="active_task", kind=Kind.STATE, updated_at=NOW + SECOND)
    house.put(semantic_key="active_task", updated_at=NOW + 2 * SECOND)
    assert find(house, by_state_key(house.space_id, "work", None, "active_task")) == newest


def test_a_key_may_be_longer_than_an_index_entry(house: House) -> None:
    key = "".join(f"{number:05d}" for number in range(4_000))
    stored = house.put(semantic_key=key[:2_000], state_key=key, path=key[:1_024])
    assert find(house, by_state_key(house.space_id, "work", None, key)) == stored
    assert find(house, by_semantic_key(house.space_id, "work", None, key[:2_000])) == stored


def test_content_is_found_at_its_place_whatever_its_normal_form(house: House) -> None:
    first = house.put(content="Caf\u00e9 au lait", path="Drinks", created_at=NOW)
    house.put(content="Caf\u00e9 au lait", path="drinks", created_at=NOW + SECOND)

    def at(path: str = "drinks", bucket: str = "work", content: str = "Cafe\u0301 au\u200b lait") -> Memory | None:
        return find(house, by_content(house.space_id, bucket, None, path, content))

    assert at() == first
    assert at(path="food") is None
    assert at(bucket="private") is None
    assert at(content="caf\u00e9 au lait") is None


def test_many_names_are_found_together_each_with_its_own_record(house: House) -> None:
    stored = [house.put(content=f"fact {number}", semantic_key=f"key {number}", path="p") for number in range(1_100)]
    newer = house.put(semantic_key="key 7", updated_at=NOW + SECOND)
    space = house.space_id
    keys = [by_semantic_key(space, "work", None, f"key {number}") for number in range(1_200)]
    contents = [by_content(space, "work", None, "p", f"fact {number}") for number in range(3)]
    with house.database.reading() as connection:
        found = namesakes.find(connection, [*keys, *contents], NOW)
    expected = dict(zip(keys, stored, strict=False)) | dict(zip(contents, stored, strict=False))
    assert found == expected | {keys[7]: newer}


def test_a_record_answers_to_all_of_its_names(house: House) -> None:
    stored = house.put(semantic_key="coffee", state_key="task", kind=Kind.STATE)
    names = namesakes.of(stored)
    with house.database.reading() as connection:
        assert namesakes.find(connection, names, NOW) == dict.fromkeys(names, stored)
    assert len(names) == 3
    assert namesakes.of(replace(stored, content="else")) - names == {
        by_content(stored.space_id, stored.bucket, stored.scope, stored.path, "else")
    }
