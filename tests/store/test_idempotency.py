from __future__ import annotations

from datetime import timedelta

import pytest

from engine.errors import Conflict
from engine.store import idempotency
from tests.store.records import NOW, House

ANSWER = {"id": "0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4b", "status": "created"}


def test_the_first_answer_is_remembered_for_its_actor_operation_and_key(house: House) -> None:
    with house.database.writing() as connection:
        assert idempotency.remembered(connection, "token-1", "remember", "k1", "f") is None
        idempotency.store(connection, "token-1", "remember", "k1", "f", ANSWER, NOW)
    with house.database.reading() as connection:
        assert idempotency.remembered(connection, "token-1", "remember", "k1", "f") == ANSWER
        for actor, operation, key in (
            ("token-2", "remember", "k1"),
            ("token-1", "update", "k1"),
            ("token-1", "remember", "K1"),
        ):
            assert idempotency.remembered(connection, actor, operation, key, "f") is None


def test_a_key_that_comes_with_another_request_is_a_conflict(house: House) -> None:
    with house.database.writing() as connection:
        idempotency.store(connection, "token-1", "remember", "k1", "f", ANSWER, NOW)
        with pytest.raises(Conflict):
            idempotency.remembered(connection, "token-1", "remember", "k1", "other")


def test_a_key_may_be_any_text(house: House) -> None:
    long = "".join(f"{number:05d}" for number in range(2_000))
    with house.database.writing() as connection:
        for key in ("", " ", "ключ", long, long + "x"):
            assert idempotency.remembered(connection, "token-1", "import", key, "f") is None
            idempotency.store(connection, "token-1", "import", key, "f", {"key": key}, NOW)
            assert idempotency.remembered(connection, "token-1", "import", key, "f") == {"key": key}


def test_old_answers_are_dropped_and_recent_ones_kept(house: House) -> None:
    with house.database.writing() as connection:
        for number in range(3):
            when = NOW + timedelta(days=number)
            idempotency.store(connection, "token-1", "remember", str(number), "f", ANSWER, when)
        assert idempotency.drop_before(connection, NOW + timedelta(days=2)) == 2
        assert idempotency.remembered(connection, "token-1", "remember", "1", "f") is None
        assert idempotency.remembered(connection, "token-1", "remember", "2", "f") == ANSWER
