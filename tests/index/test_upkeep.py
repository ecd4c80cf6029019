"""What doctor, reindex and calibration ask of every index."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from engine.errors import IndexUnavailable
from engine.index.protocol import Index
from tests.index.examples import DIMENSION, NOW, SPACE, USUAL, at_cosine, dense, found, matching, point, sparse


def test_record_ids_are_told_for_all_spaces_or_one(index: Index) -> None:
    index.upsert([point("a", 0), point("a", 1), point("b", space_id="space-2")])
    assert index.record_ids() == {"a", "b"}
    assert index.record_ids("space-2") == {"b"}
    assert index.record_ids("no such space") == set()


def test_record_ids_go_on_past_the_first_page(index: Index) -> None:
    ids = {f"record-{number}" for number in range(2500)}
    index.upsert([point(record_id) for record_id in sorted(ids)])
    assert index.record_ids(SPACE) == ids
    assert index.record_ids() == ids


def test_a_sample_is_stable_bounded_and_of_one_space(index: Index) -> None:
    index.upsert([point(f"record-{number}", dense=at_cosine(number / 60)) for number in range(50)])
    index.upsert([point("foreign", space_id="space-2", dense=at_cosine(-1.0))])
    sample = index.sample_vectors(SPACE, NOW, 20)
    assert sample.shape == (20, DIMENSION)
    assert sample.dtype == np.float32
    assert np.linalg.norm(sample, axis=1) == pytest.approx(np.ones(20), abs=1e-3)
    assert (sample @ dense(1) > -0.5).all()
    assert np.array_equal(sample, index.sample_vectors(SPACE, NOW, 20))
    assert index.sample_vectors(SPACE, NOW, 1000).shape == (50, DIMENSION)


def test_a_sample_grows_without_changing_what_was_chosen(index: Index) -> None:
    index.upsert([point(f"record-{number}", dense=at_cosine(number / 60)) for number in range(50)])
    assert np.array_equal(index.sample_vectors(SPACE, NOW, 30)[:10], index.sample_vectors(SPACE, NOW, 10))


def test_a_sample_leaves_out_what_is_not_active(index: Index) -> None:
    index.upsert([point("a"), point("b", status="deleted", dense=dense(0, 1))])
    assert index.sample_vectors(SPACE, NOW, 10) @ dense(1) == pytest.approx([1.0], abs=1e-3)


def test_a_sample_leaves_out_what_has_expired(index: Index) -> None:
    later = NOW + timedelta(seconds=1)
    index.upsert([point("a", expires_at=later), point("b", expires_at=NOW, dense=dense(0, 1))])
    assert index.sample_vectors(SPACE, NOW, 10) @ dense(1) == pytest.approx([1.0], abs=1e-3)
    assert index.sample_vectors(SPACE, later, 10).shape == (0, DIMENSION)


def test_a_sample_of_an_empty_space_has_no_rows(index: Index) -> None:
    assert index.sample_vectors(SPACE, NOW, 10).shape == (0, DIMENSION)


def test_info_counts_points_and_names_the_engine(index: Index) -> None:
    index.upsert([point("a", ordinal) for ordinal in range(3)])
    info = index.info()
    assert info.points == 3
    assert info.engine
    assert info.path


def test_flushing_and_optimising_lose_nothing(index: Index) -> None:
    index.upsert([point(f"record-{number:04d}") for number in range(1500)])
    index.delete_records([f"record-{number:04d}" for number in range(50, 1500)])
    index.flush()
    index.optimize()
    assert matching(index, USUAL) == {f"record-{number:04d}" for number in range(50)}
    index.upsert([point("record-0000", lexical=sparse({7: 1.0})), point("new")])
    assert index.info().points == 51
    assert len(index.search_lexical(sparse({7: 1.0}), USUAL, 10)) == 1


def test_many_threads_may_use_one_index(index: Index) -> None:
    def write_and_look(number: int) -> bool:
        record_id = f"record-{number}"
        index.upsert([point(record_id, ordinal) for ordinal in range(3)])
        index.replace_records([record_id], [point(record_id, path_key=record_id)])
        return found(index.search_dense(dense(1), replace(USUAL, path_keys=frozenset({record_id})), 5)) == [record_id]

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(write_and_look, range(60)))
    assert index.info().points == 60


def test_a_closed_index_says_so(index: Index) -> None:
    index.close()
    with pytest.raises(IndexUnavailable):
        index.search_dense(dense(1), USUAL, 1)
    with pytest.raises(IndexUnavailable):
        index.upsert([point("a")])
    with pytest.raises(IndexUnavailable):
        index.info()
    index.close()
