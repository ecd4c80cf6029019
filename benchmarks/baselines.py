"""What retrieval costs nothing to have: a bare cosine, a bare BM25, and a plain mix of the two.

Per space and without any tuning: the cosine of the best passage under the configured embedder;
BM25 (`rank-bm25`, Okapi, its defaults) over the engine's own terms; and the mean of both after each
is divided by its highest value for that query. Rows have the form of predictions, so that the same
scorer reads them; there is no threshold of its own, so strict rows hold candidates only.

BM25 has no upper end. For a sweep of thresholds within 0..1 it is squeezed by `s / (s + 20)`, which
changes no order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from benchmarks.shared_data import RANKS, Advance, Asked, EvaluationSet, Row, StoredText
from engine.embedding.protocol import Embedder
from engine.index.projection import passage_spans
from engine.text.analysis import analyse
from engine.text.passages import windows

COSINE = "bare cosine"
BM25 = "bare BM25"
MIX = "plain mix"
SYSTEMS = (COSINE, BM25, MIX)

_SQUEEZE = 20.0

Scores = NDArray[np.float64]


class BaselineSpace:
    """One space, ready to be asked."""

    def __init__(self, memories: Sequence[StoredText], embedder: Embedder) -> None:
        self.ids = np.array([memory.id for memory in memories])
        self._embedder = embedder
        passages = [
            (place, memory.text[span.start : span.end])
            for place, memory in enumerate(memories)
            for span in passage_spans(memory.text, embedder)
        ]
        self._owners = np.array([place for place, _ in passages])
        self._vectors = embedder.embed_documents([text for _, text in passages])
        corpus = [_terms(memory.text) for memory in memories]
        self._bm25 = BM25Okapi(corpus) if any(corpus) else None

    def scores(self, text: str) -> dict[str, Scores]:
        """Scores of every record for one query, by system, all within 0..1; shape (records,)."""
        cosine = np.clip(self._cosine(text), 0.0, 1.0)
        bm25 = self._lexical(text)
        return {COSINE: cosine, BM25: bm25 / (bm25 + _SQUEEZE), MIX: (_scaled(cosine) + _scaled(bm25)) / 2}

    def _cosine(self, text: str) -> Scores:
        spans = windows(text, self._embedder.count_tokens, self._embedder.max_tokens)
        queries = np.stack([self._embedder.embed_query(text[span.start : span.end]) for span in spans])
        best = np.full(len(self.ids), -1.0)
        np.maximum.at(best, self._owners, (self._vectors @ queries.T).max(axis=1))
        return best

    def _lexical(self, text: str) -> Scores:
        if self._bm25 is None:
            return np.zeros(len(self.ids))
        scores: Scores = np.maximum(self._bm25.get_scores(_terms(text)), 0.0)
        return scores


def predict(evaluation: EvaluationSet, embedder: Embedder, advance: Advance) -> Iterator[tuple[str, Row]]:
    """System and row, two rows a query and system."""
    asked: dict[str, list[Asked]] = {}
    for query in evaluation.queries:
        asked.setdefault(query.space, []).append(query)
    for name, memories in evaluation.by_space().items():
        space = BaselineSpace(memories, embedder)
        advance(len(memories))
        for query in asked.get(name, []):
            for system, scores in space.scores(query.text).items():
                best = np.argsort(-scores, kind="stable")[:RANKS]
                ranked = [{"id": str(space.ids[place]), "confidence": float(scores[place])} for place in best]
                row: Row = {"dataset": evaluation.name, "query_id": query.id}
                yield system, {**row, "mode": "recall", "status": "ok", "hits": ranked}
                yield system, {**row, "mode": "strict", "status": "ok", "hits": [], "candidates": ranked}
            advance(1)


def _terms(text: str) -> list[str]:
    return [term.text for term in analyse(text).terms if not term.stop]


def _scaled(scores: Scores) -> Scores:
    highest = scores.max(initial=0.0)
    return scores / highest if highest > 0 else scores
