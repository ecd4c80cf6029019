from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

from engine.errors import Conflict
from engine.store import access, idempotency, memories, namesakes, outbox, paths, terms
from engine.store.filters import ANY_LIVE
from engine.text.patterns import parse_path_pattern
from tests.store.records import NOW, House, memory

THREADS = 8
ROUNDS = 12


def in_threads(work: Callable[[int], object]) -> list[object]:
    """Run `work(number)` in all threads at once; raise what any of them raised."""
    start = Barrier(THREADS)

    def run(number: int) -> object:
        start.wait()
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


def test_mixed_reads_and_writes_of_many_threads_meet_no_lock_error(house: House) -> None:
    def work(number: int) -> None:
        for turn in range(ROUNDS):
            record = memory(space_id=house.space_id, path=f"p{turn % 3}")
            with house.database.writing() as connection:
                memories.insert(connection, record)
                terms.add(connection, house.space_id, [({f"t{number}": 1, f"shared{turn}": 1}, 2)])
                outbox.append(connection, [record.id])
            with house.database.reading() as connection:
                assert access.readable(connection, house.principal)
                found = memories.authorized(connection, house.principal, [record.id], ANY_LIVE, NOW)
                assert found == {record.id: record}
                memories.page(connection, [house.space_id], ANY_LIVE, NOW, 5)

    in_threads(work)
    written = THREADS * ROUNDS
    with house.database.reading() as connection:
        assert memories.count_live(connection, house.space_id, NOW) == written
        assert terms.totals(connection, house.space_id) == terms.SpaceTotals(written, 2 * written)
        frequencies = terms.document_frequencies(connection, house.space_id, [f"shared{n}" for n in range(ROUNDS)])
        assert set(frequencies.values()) == {THREADS}
        assert outbox.count(connection) == written
        assert paths.matching_path_keys(connection, house.space_id, parse_path_pattern("%")) == {"p0", "p1", "p2"}


def test_one_concept_written_by_many_at_once_stays_one_record(house: House) -> None:
    def work(number: int) -> str:
        with house.database.writing() as connection:
            name = namesakes.by_semantic_key(house.space_id, "work", None, "coffee")
            found = namesakes.find(connection, [name], NOW).get(name)
            if found is None:
                memories.insert(connection, memory(space_id=house.space_id, semantic_key="coffee"))
                return "created"
            new = replace(found, content=f"by {number}", version=found.version + 1)
            memories.replace(connection, found, new)
            return "updated"

    assert sorted(map(str, in_threads(work))) == ["created", *["updated"] * (THREADS - 1)]
    with house.database.reading() as connection:
        (record,) = memories.page(connection, [house.space_id], ANY_LIVE, NOW, 10)[0]
        assert record.version == THREADS
        assert len(memories.versions(connection, record.id)) == THREADS - 1


def test_one_idempotency_key_used_by_many_at_once_runs_once(house: House) -> None:
    def work(number: int) -> object:
        with house.database.writing() as connection:
            stored = idempotency.remembered(connection, "token", "remember", "key", "same")
            if stored is not None:
                return stored["by"]
            idempotency.store(connection, "token", "remember", "key", "same", {"by": number}, NOW)
            return number

    assert len(set(in_threads(work))) == 1


def test_of_two_writers_at_one_version_one_is_told_of_the_conflict(house: House) -> None:
    old = house.put()

    def work(number: int) -> str:
        try:
            with house.database.writing() as connection:
                memories.replace(connection, old, replace(old, content=str(number), version=2))
        except Conflict:
            return "conflict"
        return "written"

    assert sorted(map(str, in_threads(work))) == [*["conflict"] * (THREADS - 1), "written"]


def test_writers_that_touch_the_same_terms_in_opposite_orders_do_not_deadlock(house: House) -> None:
    vocabulary = [f"t{number}" for number in range(10)]

    def work(number: int) -> None:
        for _ in range(4):
            with house.database.writing() as connection:
                for term in vocabulary if number % 2 else reversed(vocabulary):
                    terms.add(connection, house.space_id, [({term: 1}, 1)])
                record = memory(space_id=house.space_id)
                memories.insert(connection, record)
                terms.remove(connection, house.space_id, [({term: 1}, 1) for term in vocabulary])
                memories.delete(connection, record.id)

    in_threads(work)
    with house.database.reading() as connection:
        assert terms.totals(connection, house.space_id) == terms.SpaceTotals(0, 0)
        assert terms.document_frequencies(connection, house.space_id, vocabulary) == {}
        assert paths.matching_path_keys(connection, house.space_id, parse_path_pattern("%")) == frozenset()


def test_a_record_deleted_by_many_at_once_is_deleted_by_one(house: House) -> None:
    doomed, kept = house.put(path="same"), house.put(path="same")

    def work(_: int) -> bool:
        with house.database.writing() as connection:
            return memories.delete(connection, doomed.id)

    assert in_threads(work).count(True) == 1
    with house.database.reading() as connection:
        assert memories.get(connection, kept.id) == kept
        assert paths.matching_path_keys(connection, house.space_id, parse_path_pattern("%")) == {"same"}
