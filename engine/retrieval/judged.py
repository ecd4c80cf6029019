"""One pooled record after evidence, calibration and policy, and how it is told to the caller."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.domain.access import Principal
from engine.domain.memory import Memory
from engine.domain.outcome import (
    AgentBoundary,
    Considered,
    Hit,
    Label,
    Leg,
    Nearest,
    Passage,
    Signals,
    Verdict,
)
from engine.retrieval.evidence.gathering import FEATURES, Evidence
from engine.retrieval.evidence.question import Question
from engine.retrieval.evidence.reading import read
from engine.retrieval.evidence.wording import word
from engine.retrieval.fusion import Fused


@dataclass(frozen=True, slots=True)
class Judged:
    """One pooled record after evidence, calibration and policy."""

    memory: Memory
    fused: Fused
    evidence: Evidence
    confidence: float
    rank: float
    verdict: Verdict
    reasons: tuple[str, ...]
    working: bool = False
    exact: bool = False


def hit(judged: Judged, principal: Principal, label: Label) -> Hit:
    """The judged record as it is returned to a caller."""
    memory = judged.memory
    boundary = None
    if memory.agent_id is not None and principal.agent_id is not None:
        same = memory.agent_id == principal.agent_id
        boundary = AgentBoundary.SELF if same else AgentBoundary.OTHER_AGENT
    return Hit(
        memory=memory,
        confidence=judged.confidence,
        label=label,
        signals=signals(judged),
        passage=Passage(judged.fused.start, judged.fused.end),
        boundary=boundary,
        reasons=judged.reasons,
    )


def signals(judged: Judged) -> Signals:
    """The raw evidence of a judged record, for people and traces."""
    legs = legs_of(judged.fused)
    legs |= {Leg.WORKING} if judged.working else set()
    legs |= {Leg.EXACT} if judged.exact else set()
    evidence = judged.evidence
    return Signals(
        dense=judged.fused.dense,
        lexical=evidence.lexical,
        coverage=evidence.coverage,
        legs=frozenset(legs),
        matched_terms=evidence.matched_terms,
        missing_terms=evidence.missing_terms,
        missing_identifiers=evidence.missing_identifiers,
        features=tuple(zip(FEATURES, evidence.features, strict=True)),
        pair=evidence.pair,
    )


def legs_of(fused: Fused) -> set[Leg]:
    """The legs that saw a record."""
    seen = {Leg.DENSE: fused.dense, Leg.LEXICAL: fused.lexical}
    return {leg for leg, score in seen.items() if score is not None}


def considered(judged: Sequence[Judged], shown: set[str]) -> tuple[Considered, ...]:
    """All that was considered, surest first; `shown` are the ids that are returned."""
    ordered = sorted(judged, key=lambda each: (-each.confidence, each.memory.id))
    return tuple(
        Considered(
            memory_id=each.memory.id,
            path=each.memory.path,
            confidence=each.confidence,
            verdict=_final(each, shown),
            reasons=each.reasons,
            signals=signals(each),
        )
        for each in ordered
    )


def _final(judged: Judged, shown: set[str]) -> Verdict:
    if judged.memory.id in shown:
        return Verdict.RETURNED
    return Verdict.BEYOND_LIMIT if judged.verdict is Verdict.RETURNED else judged.verdict


def nearest(question: Question, judged: Sequence[Judged]) -> Nearest | None:
    """The surest rejected record. What its passage lacks is missing only if all of it lacks that."""
    best = max(judged, key=lambda each: (each.confidence, each.rank), default=None)
    if best is None:
        return None
    found = best.evidence
    elsewhere = set(word(question, read(best.memory.content), {}).matched) & set(found.missing_terms)
    matched = (*found.matched_terms, *(each for each in found.missing_terms if each in elsewhere))
    missing = (*found.missing_identifiers, *(each for each in found.missing_terms if each not in elsewhere))
    return Nearest(best.memory.path, best.confidence, matched, missing)


def missing_everywhere(judged: Sequence[Judged]) -> tuple[str, ...]:
    """Identifiers of the question that no considered record names."""
    sets = [set(each.evidence.missing_identifiers) for each in judged]
    return tuple(sorted(set.intersection(*sets))) if sets else ()
