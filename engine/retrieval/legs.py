"""The legs: ways by which candidates are found in one space, each under the same filter.

A leg that fails is reported, not hidden: the caller gets its name and the reason, and decides. Both
legs failing is an outage and raises.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from engine.domain.outcome import Degraded, Leg
from engine.embedding.protocol import Vectors
from engine.errors import IndexUnavailable
from engine.index.protocol import Index, IndexFilter, IndexHit, SparseVector
from engine.retrieval.background import idf
from engine.retrieval.evidence.gathering import SpaceView
from engine.retrieval.fusion import Fused, fuse, merge_best
from engine.text.sparse import query_weights


@dataclass(frozen=True, slots=True)
class Pool:
    """The fused records of one space and the legs that could not help."""

    records: tuple[Fused, ...]
    degraded: tuple[Degraded, ...]


def gather_pool(
    index: Index,
    where: IndexFilter,
    vectors: Sequence[Vectors],
    weights: SparseVector,
    limit: int,
) -> Pool:
    """Ask the dense leg (once per query window) and the lexical leg, fuse, and complete.

    A record that only the lexical leg saw is asked of the dense leg by id, so that every pooled
    record has a true cosine. Raises `IndexUnavailable` if no leg answers.
    """
    degraded: list[Degraded] = []
    dense = _leg(
        Leg.DENSE, lambda: merge_best([_scored(index.search_dense(v, where, limit)) for v in vectors]), degraded
    )
    lexical = _leg(
        Leg.LEXICAL,
        lambda: _scored(index.search_lexical(weights, where, limit)) if len(weights.indices) else [],
        degraded,
    )
    if len(degraded) == 2:
        raise IndexUnavailable(f"the index does not answer: {degraded[0].reason}")
    if vectors and not any(each.leg is Leg.DENSE for each in degraded):
        dense = _completed(index, where, vectors, dense, lexical)
    return Pool(tuple(fuse(dense, lexical, limit)), tuple(degraded))


def lexical_weights(terms: Sequence[str], space: SpaceView) -> SparseVector:
    """The query's terms weighted by the space's own IDF."""
    indices, values = query_weights({term: idf(space, term) for term in terms})
    return SparseVector(np.asarray(indices, np.uint32), np.asarray(values, np.float32))


def _leg(leg: Leg, ask: Callable[[], list[IndexHit]], degraded: list[Degraded]) -> list[IndexHit]:
    try:
        return ask()
    except IndexUnavailable as error:
        degraded.append(Degraded(leg, str(error)))
        return []


def _scored(hits: list[IndexHit]) -> list[IndexHit]:
    """The hits, if each has a score: one without would pass every comparison."""
    if not all(isinstance(hit.score, float | int) and math.isfinite(hit.score) for hit in hits):
        raise IndexUnavailable("the index gave a record without a score")
    return hits


def _completed(
    index: Index, where: IndexFilter, vectors: Sequence[Vectors], dense: list[IndexHit], lexical: list[IndexHit]
) -> list[IndexHit]:
    seen = {hit.record_id for hit in dense}
    unseen = frozenset(hit.record_id for hit in lexical) - seen
    if not unseen:
        return dense
    narrowed = _narrow(where, unseen)
    return merge_best([dense, *(_scored(index.search_dense(vector, narrowed, len(unseen))) for vector in vectors)])


def _narrow(where: IndexFilter, record_ids: frozenset[str]) -> IndexFilter:
    # The other conditions held when the lexical leg answered, and the truth is asked again anyway.
    return IndexFilter(space_id=where.space_id, alive_at=where.alive_at, record_ids=record_ids)
