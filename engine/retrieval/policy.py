"""Strict's decision on each pooled record.

A record is returned if its confidence reaches the threshold. It is vetoed if the question names
identifiers and the record names none of them, whatever the threshold: a sibling error code is a
wrong answer, not a weak one. Of several identifiers one is enough to escape the veto (a question
may name a file and the flag it is about); those that are missing still lower the confidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.domain.outcome import Verdict
from engine.retrieval.evidence.gathering import Evidence
from engine.retrieval.evidence.question import Question


@dataclass(frozen=True, slots=True)
class Judgement:
    """Verdict on one record and why, in words for a person."""

    verdict: Verdict
    reasons: tuple[str, ...]


def judge(
    question: Question, evidence: Sequence[Evidence], confidence: NDArray[np.float64], threshold: float
) -> list[Judgement]:
    """Strict's verdict on each pooled record; `BEYOND_LIMIT` and `DUPLICATE` are decided later."""
    return [_judge(question, each, float(sure), threshold) for each, sure in zip(evidence, confidence, strict=True)]


def _judge(question: Question, evidence: Evidence, confidence: float, threshold: float) -> Judgement:
    if question.identifiers and len(evidence.missing_identifiers) == len(question.identifiers):
        return Judgement(Verdict.IDENTIFIER_ABSENT, evidence.reasons)
    if confidence >= threshold:
        return Judgement(Verdict.RETURNED, evidence.reasons)
    why = f"confidence {confidence:.2f} is below {threshold:.2f}"
    return Judgement(Verdict.BELOW_THRESHOLD, (*evidence.reasons, why))
