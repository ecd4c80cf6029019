"""Evidence of many questions as one table, without a database or an index.

A space is searched in memory the way the pipeline does it: a dense and a lexical leg of twice the
pool size, the convex mix of `engine.retrieval.fusion`, the best twenty records, and the evidence
that `engine.retrieval.evidence.gathering` gathers for them. Only the storage is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from benchmarks.synthetic_spaces import SyntheticSpace
from benchmarks.vector_cache import VectorCache
from engine.index.protocol import IndexHit
from engine.retrieval.evidence.features import nearest_neighbours
from engine.retrieval.evidence.gathering import FEATURES, Candidate, SpaceView, gather
from engine.retrieval.evidence.question import Question, understand
from engine.retrieval.evidence.reading import read
from engine.retrieval.fusion import fuse
from engine.text.passages import passages

POOL = 20
_LEG = 2 * POOL
_SAMPLE = 512
_K1, _B, _REFERENCE_LENGTH = 1.2, 0.75, 40

CountTokens = Callable[[str], int]


@dataclass(slots=True)
class Table:
    """Evidence for the questions of one set.

    `features` (n, POOL, features) float32, `gold` and `present` (n, POOL) bool, `answerable` (n,)
    bool, `tier` (n,) of "A", "B", "C" or "". `weight` scales the set in fitting.
    """

    name: str
    features: NDArray[np.float32]
    gold: NDArray[np.bool_]
    present: NDArray[np.bool_]
    answerable: NDArray[np.bool_]
    tier: NDArray[np.str_]
    weight: float = 1.0

    @property
    def foreign(self) -> NDArray[np.bool_]:
        """Which questions are not in English, shape (n,)."""
        return np.asarray(self.features[:, 0, FEATURES.index("foreign")] >= 0.5)

    def part(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> Table:
        """The chosen questions."""
        return Table(
            self.name,
            self.features[chosen],
            self.gold[chosen],
            self.present[chosen],
            self.answerable[chosen],
            self.tier[chosen],
            self.weight,
        )

    def joined(self, other: Table) -> Table:
        """The questions of both."""
        return Table(
            self.name,
            np.concatenate([self.features, other.features]),
            np.concatenate([self.gold, other.gold]),
            np.concatenate([self.present, other.present]),
            np.concatenate([self.answerable, other.answerable]),
            np.concatenate([self.tier, other.tier]),
            self.weight,
        )


class SearchedSpace:
    """The records of one space, ready to be asked."""

    def __init__(
        self,
        records: Mapping[str, str],
        cache: VectorCache,
        count_tokens: CountTokens,
        times: Mapping[str, datetime] | None = None,
    ) -> None:
        self._contents, self._times = records, times or {}
        self._spans: list[tuple[str, int, int]] = []
        for record_id, text in records.items():
            cut = passages(text, count_tokens)
            self._spans += [(record_id, span.start, span.end) for span in cut]
        texts = [records[record_id][start:end] for record_id, start, end in self._spans]
        self._rows: dict[str, list[int]] = {}
        for row, (record_id, _, _) in enumerate(self._spans):
            self._rows.setdefault(record_id, []).append(row)
        self._vectors = cache.vectors(texts)
        self._postings, frequencies, lengths = _count(self._spans, texts)
        self._frequencies = frequencies
        chosen = np.random.default_rng(0).permutation(len(texts))[:_SAMPLE]
        self._sample = self._vectors[chosen]
        self._neighbours = nearest_neighbours(self._sample)
        self._average_length = lengths / max(len(records), 1)

    def pool(self, question: Question) -> tuple[list[Candidate], SpaceView]:
        """The best records for a question, and the space as evidence sees it."""
        cosines = self._vectors @ question.vector
        dense = self._best_hits(cosines)
        lexical = [hit for hit in self._best_hits(self._lexical(question)) if hit.score > 0]
        seen = {hit.record_id for hit in dense}
        dense += [self._best_of(hit.record_id, cosines) for hit in lexical if hit.record_id not in seen]
        candidates = [
            Candidate(
                memory_id=each.record_id,
                content=self._contents[each.record_id],
                passage=self._contents[each.record_id][each.start : each.end],
                path="",
                dense=each.dense or 0.0,
                lexical=each.lexical or 0.0,
                fused=each.score,
                legs=frozenset(),
                happened=self._times.get(each.record_id),
            )
            for each in fuse(dense, lexical, POOL)
        ]
        frequencies = {term: self._frequencies[term] for term in question.words if term in self._frequencies}
        view = SpaceView(len(self._contents), self._average_length, frequencies, self._sample, self._neighbours)
        return candidates, view

    def _best_hits(self, scores: NDArray[np.floating]) -> list[IndexHit]:
        """The best records of a leg by their best passages, best first, ties by record id."""
        best: dict[str, IndexHit] = {}
        for row in np.argsort(-scores, kind="stable"):
            record_id, start, end = self._spans[row]
            if record_id not in best:
                if len(best) == _LEG:
                    break
                best[record_id] = IndexHit(record_id, float(scores[row]), 0, start, end)
        return sorted(best.values(), key=lambda hit: (-hit.score, hit.record_id))

    def _best_of(self, record_id: str, scores: NDArray[np.floating]) -> IndexHit:
        row = max(self._rows[record_id], key=lambda each: float(scores[each]))
        return IndexHit(record_id, float(scores[row]), 0, self._spans[row][1], self._spans[row][2])

    def _lexical(self, question: Question) -> NDArray[np.float64]:
        scores = np.zeros(len(self._spans))
        total = len(self._contents)
        content = {term.text for term in question.analysis.terms if not term.stop}
        for term in content or set(question.sequence):
            if term in self._postings:
                frequency = self._frequencies[term]
                rows, weights = self._postings[term]
                scores[rows] += np.log(1 + (total - frequency + 0.5) / (frequency + 0.5)) * weights
        return scores


def tabulate(
    name: str,
    spaces: Iterable[SyntheticSpace],
    cache: VectorCache,
    count_tokens: CountTokens,
    *,
    without_gold: bool = False,
) -> Table:
    """Evidence of all questions of a set; `without_gold` asks the answerable ones with their answers left out."""
    features, gold, present, answerable, tiers = [], [], [], [], []
    for each_space in spaces:
        if not each_space.questions:
            continue
        space = SearchedSpace(each_space.records, cache, count_tokens, each_space.times)
        vectors = cache.query_vectors([_first_passage(asked.text, count_tokens) for asked in each_space.questions])
        for asked, vector in zip(each_space.questions, vectors, strict=True):
            if without_gold and not asked.gold:
                continue
            question = understand(asked.text, vector)
            candidates, view = space.pool(question)
            if without_gold:
                candidates = [each for each in candidates if each.memory_id not in asked.gold]
            rows = np.zeros((POOL, len(FEATURES)), np.float32)
            right, there = np.zeros(POOL, np.bool_), np.zeros(POOL, np.bool_)
            for place, (evidence, each) in enumerate(zip(gather(question, candidates, view), candidates, strict=True)):
                rows[place], right[place], there[place] = evidence.features, each.memory_id in asked.gold, True
            features.append(rows)
            gold.append(right)
            present.append(there)
            answerable.append(bool(asked.gold) and not without_gold)
            tiers.append("B" if without_gold else asked.tier or "")
    return Table(
        name, np.array(features), np.array(gold), np.array(present), np.array(answerable, np.bool_), np.array(tiers)
    )


def _first_passage(text: str, count_tokens: CountTokens) -> str:
    first = passages(text, count_tokens)[0]
    return text[first.start : first.end]


def _count(
    spans: Sequence[tuple[str, int, int]], texts: Sequence[str]
) -> tuple[dict[str, tuple[NDArray[np.intp], NDArray[np.float64]]], Counter[str], int]:
    """Postings by term (passage rows, saturated weights), record frequencies, total length."""
    rows: dict[str, list[int]] = {}
    weights: dict[str, list[float]] = {}
    frequencies: Counter[str] = Counter()
    last_record: dict[str, str] = {}
    total = 0
    for row, ((record_id, _, _), text) in enumerate(zip(spans, texts, strict=True)):
        reading = read(text)
        total += reading.length
        norm = _K1 * (1 - _B + _B * reading.length / _REFERENCE_LENGTH)
        for term, count in Counter(reading.sequence).items():
            rows.setdefault(term, []).append(row)
            weights.setdefault(term, []).append(count * (_K1 + 1) / (count + norm))
            if last_record.get(term) != record_id:
                last_record[term] = record_id
                frequencies[term] += 1
    return {term: (np.array(rows[term]), np.array(weights[term])) for term in rows}, frequencies, total
