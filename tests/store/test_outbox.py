from __future__ import annotations

import pytest

from engine.store import outbox
from tests.store.records import House


def test_rows_wait_in_the_order_in_which_they_were_appended(house: House) -> None:
    with house.database.writing() as connection:
        sequences = outbox.append(connection, ["c", "a", "b"])
        sequences += outbox.append(connection, ["a"])
    with house.database.reading() as connection:
        rows = outbox.pending(connection, 10)
        assert [row.record_id for row in rows] == ["c", "a", "b", "a"]
        assert [row.sequence for row in rows] == sequences == sorted(set(sequences))
        assert outbox.pending(connection, 2) == rows[:2]
        assert outbox.pending(connection, 10, after=rows[1].sequence) == rows[2:]
        assert outbox.count(connection) == 4


def test_nothing_appended_is_nothing_pending(house: House) -> None:
    with house.database.writing() as connection:
        assert outbox.append(connection, []) == []
        assert outbox.pending(connection, 10) == []


def test_cleared_rows_are_gone_and_their_numbers_are_not_used_again(house: House) -> None:
    with house.database.writing() as connection:
        first = outbox.append(connection, ["a", "b"])
        outbox.clear(connection, [*first, 10_000])
        assert outbox.count(connection) == 0
    with house.database.writing() as connection:
        assert outbox.append(connection, ["c"])[0] > max(first)


def test_a_thousand_rows_are_cleared_at_once(house: House) -> None:
    with house.database.writing() as connection:
        sequences = outbox.append(connection, [str(number) for number in range(1_200)])
        outbox.clear(connection, sequences[:-1])
        assert [row.sequence for row in outbox.pending(connection, 10)] == sequences[-1:]


def test_rows_of_a_transaction_that_failed_never_wait(house: House) -> None:
    with pytest.raises(ZeroDivisionError), house.database.writing() as connection:
        outbox.append(connection, ["a"])
        raise ZeroDivisionError
    with house.database.reading() as connection:
        assert outbox.count(connection) == 0


def test_two_workers_on_postgres_claim_different_rows(house: House) -> None:
    with house.database.writing() as connection:
        outbox.append(connection, ["a", "b", "c"])
    with house.database.writing() as one:
        first = [row.record_id for row in outbox.claim(one, 2)]
        assert first == ["a", "b"]
        if house.database.dialect == "postgresql":
            with house.database.writing() as other:
                assert [row.record_id for row in outbox.claim(other, 2)] == ["c"]
