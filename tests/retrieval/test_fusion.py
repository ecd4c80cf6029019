"""Fusion orders the pool by scores and loses nothing that a leg knew."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.index.protocol import IndexHit
from engine.retrieval.fusion import fuse, merge_best


def hit(record_id: str, score: float, ordinal: int = 0) -> IndexHit:
    return IndexHit(record_id, score, ordinal, ordinal * 10, ordinal * 10 + 10)


def test_a_record_that_both_legs_like_leads() -> None:
    fused = fuse([hit("a", 0.9), hit("b", 0.8)], [hit("b", 7.0), hit("c", 6.0)], 10)
    assert [each.record_id for each in fused] == ["b", "a", "c"]


def test_a_record_that_only_the_lexical_leg_saw_is_in_the_pool() -> None:
    fused = fuse([hit("a", 0.9)], [hit("x", 3.0)], 10)
    assert {each.record_id: each.dense for each in fused} == {"a": 0.9, "x": None}


def test_the_lexical_passage_is_the_one_shown() -> None:
    assert fuse([hit("a", 0.9, ordinal=0)], [hit("a", 3.0, ordinal=2)], 1)[0].start == 20


def test_scores_of_zero_or_below_divide_by_nothing() -> None:
    assert [each.score for each in fuse([hit("a", -0.1), hit("b", 0.0)], [], 10)] == [0.0, 0.0]


def test_windows_of_a_long_query_keep_each_records_best_hit() -> None:
    merged = merge_best([[hit("a", 0.2), hit("b", 0.5)], [hit("a", 0.7)]])
    assert [(each.record_id, each.score) for each in merged] == [("a", 0.7), ("b", 0.5)]


legs = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.floats(0, 10, allow_nan=False)), unique_by=lambda pair: pair[0]
).map(lambda pairs: [hit(name, score) for name, score in pairs])


@given(legs, legs, st.integers(1, 8))
def test_the_pool_is_sorted_distinct_and_within_its_limit(
    dense: list[IndexHit], lexical: list[IndexHit], limit: int
) -> None:
    fused = fuse(dense, lexical, limit)
    names = {each.record_id for each in [*dense, *lexical]}
    assert len(fused) == min(limit, len(names))
    assert len({each.record_id for each in fused}) == len(fused)
    assert [each.score for each in fused] == sorted((each.score for each in fused), reverse=True)
    assert all(0.0 <= each.score <= 1.0 + 1e-9 for each in fused)
