"""The pair score as evidence.

A scorer's log-odds are clipped to what a probability can still tell apart and squashed to 0..1, so
that scorers of different ranges mean about the same. Without a scorer a record has no pair score,
and nothing is made of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from engine.retrieval.evidence.gathering import Candidate, Evidence
from engine.retrieval.pairs.protocol import PairScorer

CLIP = 8.0


def with_pair_scores(
    scorer: PairScorer, question: str, candidates: Sequence[Candidate], evidence: Sequence[Evidence]
) -> list[Evidence]:
    """The evidence with `pair` filled in and told in words. Raises `PairScorerUnavailable`."""
    scores = scorer.score(question, [each.passage for each in candidates])
    squashed = 1.0 / (1.0 + np.exp(-np.clip(scores, -CLIP, CLIP)))
    return [
        replace(each, pair=float(pair), reasons=(*each.reasons, f"read together with the question: {pair:.2f}"))
        for each, pair in zip(evidence, squashed, strict=True)
    ]
