"""Points and filters with everything filled in, so that a test names only what it is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from engine.embedding.protocol import Vectors
from engine.index.protocol import Index, IndexFilter, IndexHit, Point, SparseVector

DIMENSION = 8
NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
SPACE = "space-1"
EVERYTHING = IndexFilter(space_id=SPACE, alive_at=NOW)
USUAL = replace(EVERYTHING, statuses=frozenset({"active"}), kinds=frozenset({"memory"}))


def dense(*components: float) -> Vectors:
    """A unit vector in the direction of the components; the rest are zero."""
    vector = np.zeros(DIMENSION, dtype=np.float32)
    vector[: len(components)] = components
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def at_cosine(cosine: float) -> Vectors:
    """A unit vector whose cosine with `dense(1)` is this."""
    return dense(cosine, float(np.sqrt(1.0 - cosine * cosine)))


def sparse(weights: Mapping[int, float] | None = None) -> SparseVector:
    """A sparse vector from term hash to weight."""
    pairs = weights or {}
    return SparseVector(np.array(list(pairs), dtype=np.uint32), np.array(list(pairs.values()), dtype=np.float32))


def point(record_id: str, ordinal: int = 0, **changes: Any) -> Point:
    """An active memory in `SPACE` that points along the first axis and has the term 1 once."""
    whole = Point(
        record_id=record_id,
        space_id=SPACE,
        ordinal=ordinal,
        start=ordinal * 100,
        end=ordinal * 100 + 50,
        dense=dense(1),
        lexical=sparse({1: 1.0}),
        path_key="inbox",
        memory_type="semantic",
        kind="memory",
        status="active",
        bucket="work",
        scope=None,
        team_id=None,
        source=None,
        source_id=None,
        agent_id=None,
        item_status=None,
        created_at=NOW,
        updated_at=NOW,
        event_time=None,
        expires_at=None,
    )
    return replace(whole, **changes)


def narrowed(where: IndexFilter, **changes: Any) -> IndexFilter:
    """A filter with other values in some fields, named by text."""
    return replace(where, **changes)


def found(hits: list[IndexHit]) -> list[str]:
    """The record ids in their order."""
    return [hit.record_id for hit in hits]


def matching(index: Index, where: IndexFilter) -> set[str]:
    """The records that both legs find under a filter; they must not differ."""
    by_dense = set(found(index.search_dense(dense(1), where, 100)))
    by_lexical = set(found(index.search_lexical(sparse({1: 1.0}), where, 100)))
    assert by_dense == by_lexical
    return by_dense
