"""Scores, order, grouping and isolation: the same on every index."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engine.index.protocol import Index
from tests.index.examples import EVERYTHING, USUAL, at_cosine, dense, found, point, sparse


def test_an_empty_index_finds_nothing(index: Index) -> None:
    assert index.search_dense(dense(1), USUAL, 5) == []
    assert index.search_lexical(sparse({1: 1.0}), USUAL, 5) == []


def test_dense_hits_come_best_first_and_score_the_cosine(index: Index) -> None:
    cosines = {"a": 0.1, "b": 0.9, "c": -0.4, "d": 0.5}
    index.upsert([point(record_id, dense=at_cosine(cosine)) for record_id, cosine in cosines.items()])
    hits = index.search_dense(dense(1), USUAL, 10)
    assert found(hits) == ["b", "d", "a", "c"]
    assert [hit.score for hit in hits] == pytest.approx([0.9, 0.5, 0.1, -0.4], abs=1e-3)


def test_a_query_that_is_not_of_unit_length_scores_the_cosine_all_the_same(index: Index) -> None:
    index.upsert([point("a", dense=at_cosine(0.5))])
    [hit] = index.search_dense((dense(1) * 7).astype(np.float32), USUAL, 1)
    assert hit.score == pytest.approx(0.5, abs=1e-3)


def test_lexical_hits_score_the_dot_product_and_only_positive_ones_count(index: Index) -> None:
    index.upsert(
        [
            point("both", lexical=sparse({1: 1.5, 2: 2.0})),
            point("one", lexical=sparse({2: 1.0, 9: 5.0})),
            point("none", lexical=sparse({9: 5.0})),
            point("negative", lexical=sparse({1: -3.0})),
            point("silent", lexical=sparse({})),
        ]
    )
    hits = index.search_lexical(sparse({1: 2.0, 2: 0.5}), USUAL, 10)
    assert [(hit.record_id, hit.score) for hit in hits] == [("both", 4.0), ("one", 0.5)]


def test_a_record_without_terms_is_still_found_by_its_vector(index: Index) -> None:
    index.upsert([point("silent", lexical=sparse({}))])
    assert found(index.search_dense(dense(1), USUAL, 5)) == ["silent"]


def test_a_lexical_query_without_terms_finds_nothing(index: Index) -> None:
    index.upsert([point("a")])
    assert index.search_lexical(sparse({}), USUAL, 5) == []


def test_term_hashes_use_all_32_bits_and_come_in_any_order(index: Index) -> None:
    index.upsert([point("a", lexical=sparse({2**32 - 1: 1.0, 0: 2.0, 2**31: 4.0}))])
    [hit] = index.search_lexical(sparse({2**31: 1.0, 2**32 - 1: 1.0, 0: 1.0}), USUAL, 5)
    assert hit.score == 7.0


def test_equal_scores_come_in_the_order_of_record_ids(index: Index) -> None:
    ids = [f"record-{number:02d}" for number in range(30)]
    index.upsert([point(record_id) for record_id in reversed(ids)])
    assert found(index.search_dense(dense(1), USUAL, 100)) == ids
    assert found(index.search_lexical(sparse({1: 1.0}), USUAL, 100)) == ids


def test_a_tie_at_the_limit_is_cut_by_record_id(index: Index) -> None:
    ids = [f"record-{number:03d}" for number in range(120)]
    index.upsert([point(record_id) for record_id in reversed(ids)])
    index.upsert([point("zz-best", lexical=sparse({1: 2.0}))])
    assert found(index.search_dense(dense(1), USUAL, 5)) == ids[:5]
    assert found(index.search_lexical(sparse({1: 1.0}), USUAL, 5)) == ["zz-best", *ids[:4]]


def test_a_record_scores_as_its_best_passage_and_tells_where_that_lies(index: Index) -> None:
    index.upsert([point("a", ordinal, dense=at_cosine(cosine)) for ordinal, cosine in enumerate((0.2, 0.8, 0.4))])
    [hit] = index.search_dense(dense(1), USUAL, 10)
    assert (hit.record_id, hit.ordinal, hit.start, hit.end) == ("a", 1, 100, 150)
    assert hit.score == pytest.approx(0.8, abs=1e-3)


def test_of_equal_passages_the_first_in_the_text_is_told(index: Index) -> None:
    index.upsert([point("a", ordinal) for ordinal in (3, 1, 2)])
    assert [hit.ordinal for hit in index.search_dense(dense(1), USUAL, 10)] == [1]


def test_a_long_record_does_not_starve_the_others(index: Index) -> None:
    index.upsert([point("book", ordinal, dense=at_cosine(0.9)) for ordinal in range(700)])
    index.upsert([point(f"note-{number}", dense=at_cosine(0.5 - number / 100)) for number in range(4)])
    hits = index.search_dense(dense(1), USUAL, 3)
    assert found(hits) == ["book", "note-0", "note-1"]
    assert found(index.search_lexical(sparse({1: 1.0}), USUAL, 5)) == ["book", "note-0", "note-1", "note-2", "note-3"]


def test_the_limit_counts_records(index: Index) -> None:
    index.upsert([point(f"record-{number}", ordinal) for number in range(6) for ordinal in range(5)])
    assert len(index.search_dense(dense(1), USUAL, 4)) == 4
    assert len(index.search_lexical(sparse({1: 1.0}), USUAL, 100)) == 6


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(index: Index, limit: int) -> None:
    with pytest.raises(ValueError, match="limit"):
        index.search_dense(dense(1), USUAL, limit)
    with pytest.raises(ValueError, match="limit"):
        index.search_lexical(sparse({1: 1.0}), USUAL, limit)


def test_a_space_never_sees_another(index: Index) -> None:
    index.upsert([point("mine"), point("theirs", space_id="space-10"), point("others", space_id="space")])
    assert found(index.search_dense(dense(1), USUAL, 10)) == ["mine"]
    assert found(index.search_lexical(sparse({1: 1.0}), replace(USUAL, space_id="space-10"), 10)) == ["theirs"]
    assert index.search_dense(dense(1), replace(EVERYTHING, space_id="space-1/active"), 10) == []
