from __future__ import annotations

import time
from collections import Counter

import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.store import spaces, terms
from engine.store.schema import space_terms
from engine.store.terms import SpaceTotals
from tests.store.records import NOW, House

words = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=3)
documents = st.lists(st.dictionaries(words, st.integers(1, 9), max_size=5), max_size=6)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(documents, documents)
def test_counting_out_what_was_counted_in_restores_the_statistics(
    house: House, kept: list[dict[str, int]], gone: list[dict[str, int]]
) -> None:
    space_id = house.space_id
    with house.database.writing() as connection:
        terms.clear(connection, space_id)
        terms.add(connection, space_id, [(counts, sum(counts.values())) for counts in (*kept, *gone)])
        terms.remove(connection, space_id, [(counts, sum(counts.values())) for counts in gone])
        expected = Counter(term for counts in kept for term in counts)
        vocabulary = {term for counts in (*kept, *gone) for term in counts}
        assert terms.document_frequencies(connection, space_id, vocabulary) == expected
        length = sum(sum(counts.values()) for counts in kept)
        assert terms.totals(connection, space_id) == SpaceTotals(len(kept), length)
        rows = connection.execute(sa.select(sa.func.count()).select_from(space_terms)).scalar_one()
        assert rows == len(expected)


def test_a_term_counts_once_per_record_however_often_it_occurs(house: House) -> None:
    with house.database.writing() as connection:
        terms.add(connection, house.space_id, [({"tea": 7}, 7), ({"tea": 1, "pot": 1}, 2)])
        assert terms.document_frequencies(connection, house.space_id, ["tea", "pot", "cup"]) == {"tea": 2, "pot": 1}


def test_statistics_belong_to_one_space(house: House) -> None:
    with house.database.writing() as connection:
        other = spaces.create(
            connection,
            tenant_id=house.principal.tenant_id,
            owner_user_id=house.principal.user_id,
            name="other",
            now=NOW,
        )
        terms.add(connection, house.space_id, [({"tea": 1}, 1)])
        terms.add(connection, other.id, [({"tea": 1}, 1), ({"tea": 1}, 1)])
        terms.remove(connection, other.id, [({"tea": 1}, 1)])
        assert terms.document_frequencies(connection, house.space_id, ["tea"]) == {"tea": 1}
        terms.clear(connection, other.id)
        assert terms.totals(connection, house.space_id) == SpaceTotals(1, 1)
        assert terms.totals(connection, other.id) == SpaceTotals(0, 0)


def test_terms_differ_by_case_and_accent_and_trailing_space(house: House) -> None:
    distinct = ["a", "A", "á", "a\u0301", "a ", "ａ"]
    with house.database.writing() as connection:
        terms.add(connection, house.space_id, [({term: 1}, 1) for term in distinct[:3]])
        assert set(terms.document_frequencies(connection, house.space_id, distinct)) == set(distinct[:3])


def test_terms_longer_than_an_index_entry_are_told_apart(house: House) -> None:
    long = "".join(f"{number:06d}" for number in range(85_000))
    with house.database.writing() as connection:
        terms.add(connection, house.space_id, [({long: 1, f"{long}x": 1}, 2), ({long: 1}, 1)])
        assert terms.document_frequencies(connection, house.space_id, [long, f"{long}x", f"{long}y"]) == {
            long: 2,
            f"{long}x": 1,
        }


def test_a_query_may_have_thousands_of_terms(house: House) -> None:
    vocabulary = [f"w{number}" for number in range(70_000)]
    with house.database.writing() as connection:
        terms.add(connection, house.space_id, [({"w1": 1, "w69999": 1}, 2)])
        assert terms.document_frequencies(connection, house.space_id, vocabulary) == {"w1": 1, "w69999": 1}


def test_no_terms_ask_and_change_nothing(house: House) -> None:
    with house.database.writing() as connection:
        terms.add(connection, house.space_id, [])
        terms.remove(connection, house.space_id, [])
        assert terms.document_frequencies(connection, house.space_id, []) == {}
        assert terms.totals(connection, house.space_id) == SpaceTotals(0, 0)


def test_looking_up_a_query_does_not_slow_down_with_the_vocabulary(house: House) -> None:
    wanted = [f"w{number}" for number in range(20)]

    def quickest() -> float:
        with house.database.reading() as connection:
            timings = []
            for _ in range(20):
                start = time.perf_counter()
                assert len(terms.document_frequencies(connection, house.space_id, wanted)) == 20
                timings.append(time.perf_counter() - start)
        return min(timings)

    with house.database.writing() as connection:
        terms.add(connection, house.space_id, [(dict.fromkeys(wanted, 1), 20)])
    small = quickest()
    with house.database.writing() as connection:
        terms.add(connection, house.space_id, [({f"w{number}": 1 for number in range(20, 50_000)}, 50_000)])
    assert quickest() < max(4 * small, 0.002)
