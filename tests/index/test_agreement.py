"""The engines against the reference on a few thousand random points and filters."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from engine.index.fake import InMemoryIndex
from engine.index.protocol import Index, IndexFilter, IndexHit, Point
from tests.index.examples import DIMENSION, NOW, dense, found, narrowed, point, sparse

RECORDS = 600
QUESTIONS = 150
TOLERANCE = 1e-3

CHOICES: dict[str, tuple[Any, ...]] = {
    "space_id": ("space-1", "space-2"),
    "path_key": tuple(f"path/{number}" for number in range(12)),
    "memory_type": ("semantic", "episodic", "working"),
    "kind": ("memory", "memory", "event", "snapshot"),
    "status": ("active", "active", "active", "archived", "deleted"),
    "bucket": ("work", "home"),
    "scope": (None, "team"),
    "source": (None, "cli", "chat"),
    "agent_id": (None, "agent-1"),
    "event_time": (None, NOW, NOW + timedelta(microseconds=1), NOW - timedelta(days=40)),
    "expires_at": (None, None, NOW, NOW + timedelta(microseconds=1), NOW + timedelta(days=1)),
}
SETS = {"path_keys": "path_key", "memory_types": "memory_type", "kinds": "kind", "statuses": "status"}


@pytest.fixture
def chance() -> random.Random:
    return random.Random(20260301)


@pytest.fixture
def points(chance: random.Random) -> list[Point]:
    return [made for number in range(RECORDS) for made in _record(chance, f"record-{number:04d}")]


@pytest.fixture
def reference(points: list[Point]) -> Iterator[InMemoryIndex]:
    index = InMemoryIndex(DIMENSION)
    index.upsert(points)
    yield index
    index.close()


def test_every_index_answers_like_the_reference(
    index: Index, reference: InMemoryIndex, points: list[Point], chance: random.Random
) -> None:
    index.upsert(points)
    for _ in range(QUESTIONS):
        where, limit = _filter(chance), chance.choice((1, 3, 10, 100))
        words = sparse({chance.randrange(12): chance.choice((0.5, 1.0, 2.0)) for _ in range(3)})
        # Weights are eighths and halves, so lexical scores and their ties are exact.
        assert index.search_lexical(words, where, limit) == reference.search_lexical(words, where, limit)
        query = _direction(chance)
        _assert_same_ranking(index.search_dense(query, where, limit), reference.search_dense(query, where, RECORDS))


def test_samples_and_ids_are_those_of_the_reference(
    index: Index, reference: InMemoryIndex, points: list[Point]
) -> None:
    index.upsert(points)
    for space_id in ("space-1", "space-2"):
        assert index.record_ids(space_id) == reference.record_ids(space_id)
        sample, expected = index.sample_vectors(space_id, NOW, 64), reference.sample_vectors(space_id, NOW, 64)
        assert np.abs(sample - expected).max() < TOLERANCE


def _assert_same_ranking(hits: list[IndexHit], everything: list[IndexHit]) -> None:
    scores = {hit.record_id: hit.score for hit in everything}
    assert len(set(found(hits))) == len(hits)
    assert set(found(hits)) <= scores.keys()
    for hit, best_possible in zip(hits, everything, strict=False):
        assert hit.score == pytest.approx(scores[hit.record_id], abs=TOLERANCE)
        assert hit.score == pytest.approx(best_possible.score, abs=TOLERANCE)
    assert all((-first.score, first.record_id) < (-second.score, second.record_id) for first, second in pairwise(hits))


def _record(chance: random.Random, record_id: str) -> list[Point]:
    values = {name: chance.choice(choices) for name, choices in CHOICES.items()}
    created = NOW - timedelta(seconds=chance.randrange(10_000))
    passages = chance.choice((1, 1, 1, 2, 5))
    return [
        point(
            record_id,
            ordinal,
            dense=_direction(chance),
            lexical=sparse({chance.randrange(12): chance.randrange(1, 16) / 8 for _ in range(4)}),
            created_at=created,
            **values,
        )
        for ordinal in range(passages)
    ]


def _direction(chance: random.Random) -> Any:
    return dense(*(chance.gauss(0.0, 1.0) for _ in range(DIMENSION)))


def _filter(chance: random.Random) -> IndexFilter:
    where = IndexFilter(space_id=chance.choice(CHOICES["space_id"]), alive_at=NOW)
    for name, field in SETS.items():
        if chance.random() < 0.5:
            chosen = chance.sample(CHOICES[field], k=chance.randrange(1, len(CHOICES[field])))
            where = narrowed(where, **{name: frozenset(chosen)})
    for name in ("bucket", "scope", "source", "agent_id"):
        if chance.random() < 0.2:
            where = narrowed(where, **{name: CHOICES[name][-1]})
    if chance.random() < 0.3:
        since = NOW - timedelta(seconds=chance.randrange(10_000))
        where = narrowed(where, time_axis="created_at", since=since, until=since + timedelta(seconds=4_000))
    elif chance.random() < 0.2:
        where = narrowed(where, time_axis="event_time", since=NOW - timedelta(days=50), until=NOW)
    return where
