"""Sparse vectors: a dot product of both sides is BM25."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.sparse import K1, REFERENCE_LENGTH, B, document_weights, query_weights, term_hash

COUNTS = st.dictionaries(st.text(min_size=1, max_size=8), st.integers(1, 50), max_size=20)


def test_a_term_has_the_same_dimension_in_every_process() -> None:
    assert term_hash("backup") == 1072746924
    assert term_hash("数据") == 1734835005


def test_the_dot_product_is_bm25() -> None:
    document = dict(zip(*map(np.ndarray.tolist, document_weights({"ferry": 3, "desk": 1}, 20)), strict=True))
    query = dict(zip(*map(np.ndarray.tolist, query_weights({"ferry": 2.0, "rail": 1.5})), strict=True))
    score = sum(weight * document.get(dimension, 0.0) for dimension, weight in query.items())
    saturated = 3 * (K1 + 1) / (3 + K1 * (1 - B + B * 20 / REFERENCE_LENGTH))
    assert score == pytest.approx(2.0 * saturated, rel=1e-6)


@given(COUNTS, st.integers(0, 10_000))
def test_document_dimensions_are_sorted_and_distinct_and_weights_saturate(counts: dict[str, int], length: int) -> None:
    indices, values = document_weights(counts, length)
    assert indices.dtype == np.uint32 and values.dtype == np.float32
    assert np.all(np.diff(indices.astype(np.int64)) > 0)
    assert np.all((values > 0) & (values < K1 + 1 + 1e-6))


@given(st.integers(1, 100), st.integers(0, 1000))
def test_a_longer_passage_weighs_the_same_term_less(count: int, length: int) -> None:
    _, (shorter,) = document_weights({"a": count}, length)
    _, (longer,) = document_weights({"a": count}, length + 50)
    assert longer < shorter


def test_terms_that_share_a_dimension_are_summed() -> None:
    one, other = "plumless", "buckeroo"
    assert term_hash(one) == term_hash(other)
    indices, values = query_weights({one: 1.0, other: 2.5})
    assert indices.tolist() == [term_hash(one)] and values.tolist() == [3.5]


def test_terms_without_weight_are_left_out() -> None:
    indices, values = query_weights({"a": 0.0})
    assert len(indices) == len(values) == 0
    assert len(document_weights({}, 0)[0]) == 0
