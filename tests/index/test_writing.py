"""What every index does with points that are written, replaced and deleted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest

from engine.index.protocol import Index, Point, SparseVector
from tests.index.examples import DIMENSION, EVERYTHING, at_cosine, dense, found, matching, point, sparse


def test_a_written_point_is_found_by_the_next_search(index: Index) -> None:
    index.upsert([point("a")])
    assert matching(index, EVERYTHING) == {"a"}


def test_the_same_passage_written_again_overwrites_itself(index: Index) -> None:
    index.upsert([point("a", dense=at_cosine(0.25), lexical=sparse({1: 1.0}))])
    index.upsert([point("a", dense=at_cosine(0.75), lexical=sparse({2: 1.0}), start=7, end=9)])
    [hit] = index.search_dense(dense(1), EVERYTHING, 10)
    assert hit.score == pytest.approx(0.75, abs=1e-3)
    assert (hit.start, hit.end) == (7, 9)
    assert index.search_lexical(sparse({1: 1.0}), EVERYTHING, 10) == []
    assert index.info().points == 1


def test_of_a_passage_given_twice_in_one_call_the_last_one_stays(index: Index) -> None:
    index.upsert([point("a", end=1), point("a", end=2)])
    assert [hit.end for hit in index.search_dense(dense(1), EVERYTHING, 10)] == [2]


def test_deleting_a_record_removes_all_its_passages_and_no_others(index: Index) -> None:
    index.upsert([point("a", 0), point("a", 1), point("b")])
    index.delete_records(["a"])
    assert matching(index, EVERYTHING) == {"b"}
    assert index.info().points == 1


def test_deleting_an_unknown_record_changes_nothing(index: Index) -> None:
    index.upsert([point("a")])
    index.delete_records(["never seen"])
    assert matching(index, EVERYTHING) == {"a"}


def test_deleting_a_space_leaves_the_others_alone(index: Index) -> None:
    index.upsert([point(f"doomed-{number}", space_id="space-2") for number in range(1200)])
    index.upsert([point("a")])
    index.delete_space("space-2")
    assert index.record_ids() == {"a"}


def test_a_replaced_record_may_shrink(index: Index) -> None:
    index.upsert([point("a", ordinal, dense=at_cosine(0.5)) for ordinal in range(4)])
    index.replace_records(["a"], [point("a", 0, dense=at_cosine(0.25))])
    [hit] = index.search_dense(dense(1), EVERYTHING, 10)
    assert hit.score == pytest.approx(0.25, abs=1e-3)
    assert index.info().points == 1


def test_a_replaced_record_may_grow(index: Index) -> None:
    index.upsert([point("a")])
    index.replace_records(["a"], [point("a", ordinal) for ordinal in range(3)])
    assert index.info().points == 3


def test_replacing_by_nothing_deletes(index: Index) -> None:
    index.upsert([point("a"), point("b")])
    index.replace_records(["a"], [])
    assert index.record_ids() == {"b"}


def test_replacing_touches_only_the_records_that_are_named(index: Index) -> None:
    index.upsert([point("a", 0), point("a", 1), point("b", 0), point("b", 1)])
    index.replace_records(["a"], [point("a", 0), point("c", 0)])
    assert index.record_ids() == {"a", "b", "c"}
    assert index.info().points == 4


def test_more_points_than_one_batch_are_all_written_and_all_deleted(index: Index) -> None:
    ids = [f"record-{number:05d}" for number in range(1203)]
    index.upsert([point(record_id) for record_id in ids])
    assert index.record_ids() == set(ids)
    index.delete_records(ids)
    assert index.info().points == 0


def test_nothing_to_write_or_to_delete_is_fine(index: Index) -> None:
    index.upsert([])
    index.delete_records([])
    index.replace_records([], [])
    index.delete_space("no such space")
    assert index.info().points == 0


def test_texts_in_any_script_come_back_as_they_were(index: Index) -> None:
    strange = "Käse/日本語/🧀/a=b,c/'\"\\"
    index.upsert([point(strange, path_key=strange, bucket=strange), point("plain")])
    where = replace(EVERYTHING, path_keys=frozenset({strange, "other"}), bucket=strange)
    assert found(index.search_dense(dense(1), where, 10)) == [strange]


def _with_nan(good: Point) -> Point:
    vector = good.dense.copy()
    vector[3] = np.nan
    return point("bad", dense=vector)


BROKEN: dict[str, Callable[[Point], Point]] = {
    "NaN": _with_nan,
    "too short": lambda good: point("bad", dense=good.dense[:-1]),
    "infinite weight": lambda good: point("bad", lexical=sparse({1: float("inf")})),
    "an index twice": lambda good: point(
        "bad", lexical=SparseVector(np.array([1, 1], np.uint32), np.array([1, 1], np.float32))
    ),
    "not aligned": lambda good: point(
        "bad", lexical=SparseVector(np.array([1, 2], np.uint32), np.array([1], np.float32))
    ),
    "naive time": lambda good: point("bad", created_at=datetime(2026, 1, 1)),
}


@pytest.mark.parametrize("breakage", BROKEN)
def test_a_broken_point_is_refused_before_anything_is_written(index: Index, breakage: str) -> None:
    good = point("good")
    index.upsert([point("old")])
    with pytest.raises(ValueError, match=r"."):
        index.upsert([good, BROKEN[breakage](good)])
    with pytest.raises(ValueError, match=r"."):
        index.replace_records(["old"], [good, BROKEN[breakage](good)])
    assert index.record_ids() == {"old"}


def test_a_broken_query_vector_is_refused(index: Index) -> None:
    for vector in (np.full(DIMENSION, np.nan, np.float32), np.ones(DIMENSION + 1, np.float32)):
        with pytest.raises(ValueError, match="dense vector"):
            index.search_dense(vector, EVERYTHING, 5)
