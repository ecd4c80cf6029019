"""Fusion: which records evidence looks at, and in what order they arrive there.

A convex mix of the two legs' scores, each divided by its own maximum for this query:

    fused(r) = w * dense(r) / max dense  +  (1 - w) * lexical(r) / max lexical

Scores, not ranks: on LoCoMo turns recall@5 is 0.57 for this mix and 0.47 for reciprocal ranks. The
result only orders a pool; it is no measure of how well a record answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.index.protocol import IndexHit

DENSE_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class Fused:
    """One record of the pool: its leg scores (`None` = not seen by that leg) and best passage."""

    record_id: str
    score: float
    dense: float | None
    lexical: float | None
    start: int
    end: int


def fuse(dense: Sequence[IndexHit], lexical: Sequence[IndexHit], limit: int) -> list[Fused]:
    """The best `limit` records of both legs, best first, ties by record id.

    The passage shown is the lexical leg's if it saw the record (it holds the words), else the
    dense leg's.
    """
    by_dense = {hit.record_id: hit for hit in dense}
    by_lexical = {hit.record_id: hit for hit in lexical}
    top_dense, top_lexical = _top(by_dense), _top(by_lexical)
    fused = []
    for record_id in by_dense.keys() | by_lexical.keys():
        seen_dense, seen_lexical = by_dense.get(record_id), by_lexical.get(record_id)
        score = 0.0
        if seen_dense and top_dense:
            score += DENSE_WEIGHT * max(seen_dense.score, 0.0) / top_dense
        if seen_lexical and top_lexical:
            score += (1 - DENSE_WEIGHT) * seen_lexical.score / top_lexical
        shown = seen_lexical or seen_dense
        assert shown is not None
        fused.append(
            Fused(
                record_id,
                score,
                seen_dense.score if seen_dense else None,
                seen_lexical.score if seen_lexical else None,
                shown.start,
                shown.end,
            )
        )
    fused.sort(key=lambda each: (-each.score, each.record_id))
    return fused[:limit]


def merge_best(lists: Sequence[Sequence[IndexHit]]) -> list[IndexHit]:
    """One leg asked several times (windows of a long query): each record's best hit, best first."""
    best: dict[str, IndexHit] = {}
    for hit in (hit for hits in lists for hit in hits):
        if hit.record_id not in best or hit.score > best[hit.record_id].score:
            best[hit.record_id] = hit
    return sorted(best.values(), key=lambda hit: (-hit.score, hit.record_id))


def _top(hits: Mapping[str, IndexHit]) -> float:
    return max((hit.score for hit in hits.values()), default=0.0)
