"""Evidence: what speaks for and against each pooled record, as numbers and as words for a person.

The numbers are `engine.retrieval.evidence.features`, the words `engine.retrieval.evidence.wording`; this module lays
them beside the record.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from engine.domain.outcome import Leg
from engine.retrieval.evidence.features import FEATURES, Matrix, SpaceView, Weighed, match, table, weigh
from engine.retrieval.evidence.frames import date_terms
from engine.retrieval.evidence.question import Question
from engine.retrieval.evidence.reading import Reading, read
from engine.retrieval.evidence.wording import reasons, word
from engine.text.folding import fold, path_key

__all__ = ["FEATURES", "Candidate", "Evidence", "SpaceView", "gather"]

_COVERAGE = FEATURES.index("coverage")


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

    `matched_terms` and `missing_terms` are words of the question as it spells them, identifiers aside.
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
        _evidence(question, words, each, reading, row)
        for each, reading, row in zip(candidates, readings, rows, strict=True)
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


def _evidence(question: Question, words: Weighed, candidate: Candidate, reading: Reading, row: Matrix) -> Evidence:
    wording = word(question, reading, dict(zip(words.terms, words.weights.tolist(), strict=True)))
    whole = len(candidate.passage) == len(candidate.content)
    return Evidence(
        features=tuple(row.tolist()),
        coverage=float(row[_COVERAGE]),
        lexical=candidate.lexical,
        matched_terms=wording.matched,
        missing_terms=wording.missing,
        missing_identifiers=tuple(sorted(question.identifiers - reading.identifiers)),
        reasons=reasons(question, reading, wording, candidate.passage, candidate.dense, whole=whole),
    )
