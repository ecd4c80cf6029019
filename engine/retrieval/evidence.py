"""Evidence: what speaks for and against each pooled record, as numbers and as words for a person.

The numbers are `engine.retrieval.features`; this module lays them beside the record and says in
plain words what matched and what is missing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from engine.domain.outcome import Leg
from engine.retrieval.features import FEATURES, Matrix, SpaceView, Weighed, match, table, weigh
from engine.retrieval.frames import date_terms
from engine.retrieval.question import Question
from engine.retrieval.reading import Reading, read
from engine.text.folding import fold, path_key

__all__ = ["FEATURES", "Candidate", "Evidence", "SpaceView", "gather"]

_COVERAGE = FEATURES.index("coverage")
_NAMED = 4
"""At most so many words are named in one reason."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One pooled record. `passage` is its best passage; `lexical` is 0.0 if no term matched.

    `happened` is when the event that it tells of took place, if known.
    """

    memory_id: str
    content: str
    passage: str
    path: str
    dense: float
    lexical: float
    fused: float
    legs: frozenset[Leg]
    happened: datetime | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """`features` are aligned with `FEATURES`; `reasons` are plain words, best first.

    `pair` is the pair scorer's verdict, 0..1, `None` without one.
    """

    features: tuple[float, ...]
    coverage: float
    lexical: float
    matched_terms: tuple[str, ...]
    missing_terms: tuple[str, ...]
    missing_identifiers: tuple[str, ...]
    reasons: tuple[str, ...]
    pair: float | None = None


def gather(question: Question, candidates: Sequence[Candidate], space: SpaceView) -> list[Evidence]:
    """Evidence for each candidate, in their order."""
    if not candidates:
        return []
    readings = [_read(question, each) for each in candidates]
    words = weigh(question, space)
    exact, soft = match(words.terms, readings)
    dense = np.array([each.dense for each in candidates])
    fused = np.array([each.fused for each in candidates])
    rows = table(question, words, exact, soft, readings, dense, fused, space)
    return [
        _evidence(question, words, each, reading, row, held)
        for each, reading, row, held in zip(candidates, readings, rows, exact, strict=True)
    ]


def _read(question: Question, candidate: Candidate) -> Reading:
    """The passage as this question may use it.

    The words of the path are read with it if passage and path together hold all that is asked (some
    clients ask for `<name> <path>`). An identifier may stand anywhere in the record or be its path.
    A date that is asked for is met by the time of the record's event.
    """
    reading = read(candidate.passage)
    missing = [word for word in question.words if word not in reading.counts and not word.startswith("id:")]
    place = candidate.path.replace("/", " ")
    if missing and all(word in read(place).counts for word in missing):
        reading = read(f"{place}: {candidate.passage}")
    elsewhere = question.identifiers - reading.identifiers
    found = {each for each in elsewhere if each in reading.counts or _stands_in(each, candidate)}
    if found:
        reading = replace(reading, identifiers=reading.identifiers | found)
    if question.dated and candidate.happened is not None:
        met = date_terms(candidate.happened) & set(question.words) - reading.counts.keys()
        reading = replace(reading, counts={**reading.counts, **dict.fromkeys(met, 1)})
    return reading


def _stands_in(identifier: str, candidate: Candidate) -> bool:
    path = path_key(candidate.path)
    if f"/{path}/".find(f"/{identifier}/") >= 0:
        return True
    if len(candidate.passage) == len(candidate.content):
        return False
    return re.search(rf"(?<!\w){re.escape(identifier)}(?!\w)", fold(candidate.content)) is not None


def _evidence(
    question: Question, words: Weighed, candidate: Candidate, reading: Reading, row: Matrix, held: Matrix
) -> Evidence:
    surfaces = {term.text: term.surface for term in reversed(question.analysis.terms)}
    by_weight = sorted(
        (place for place, term in enumerate(words.terms) if term in surfaces), key=lambda place: -words.weights[place]
    )
    matched = tuple(surfaces[words.terms[place]] for place in by_weight if held[place])
    missing = tuple(surfaces[words.terms[place]] for place in by_weight if not held[place])
    absent = tuple(sorted(question.identifiers - reading.identifiers))
    return Evidence(
        features=tuple(row.tolist()),
        coverage=float(row[_COVERAGE]),
        lexical=candidate.lexical,
        matched_terms=matched,
        missing_terms=missing,
        missing_identifiers=absent,
        reasons=_reasons(question, reading, matched, missing, absent, candidate.dense),
    )


def _reasons(
    question: Question,
    reading: Reading,
    matched: Sequence[str],
    missing: Sequence[str],
    absent: Sequence[str],
    cosine: float,
) -> tuple[str, ...]:
    reasons = []
    present = sorted(question.identifiers & reading.identifiers)
    if present:
        reasons.append(f"names {', '.join(present[:_NAMED])}")
    if absent:
        reasons.append(f"does not name {', '.join(absent[:_NAMED])}")
    if matched:
        reasons.append(f"has {len(matched)} of {len(matched) + len(missing)} words: {', '.join(matched[:_NAMED])}")
    if missing:
        reasons.append(f"no mention of {', '.join(repr(word) for word in missing[:_NAMED])}")
    reasons.append(f"similar in meaning to {cosine:.2f}")
    return tuple(reasons)
