"""One passage as evidence reads it: its terms in order, names, numbers, dates, negation.

Readings depend on the text alone, so they are kept in a bounded cache: the same records are read
again and again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.retrieval.evidence.lexicon import lexicon
from engine.text.analysis import Analysis, Term, TermKind, analyse

READINGS_KEPT = 4096
COMMON_SHARE = 2e-4
"""A capitalised first word that more texts than this hold is a sentence start, not a name."""

_NEGATIONS = frozenset(
    {"not", "no", "never", "without", "none", "nobody", "nothing", "neither", "nor", "cannot", "except", "exclud"}
)
_CALENDAR = frozenset(
    [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "yesterday",
        "today",
        "tomorrow",
        "tonight",
        "ago",
        "century",
        "decade",
        "noon",
        "midnight",
    ]
)
_QUANTITIES = frozenset(
    [
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "twenty",
        "thirty",
        "forty",
        "fifty",
        "hundred",
        "thousand",
        "million",
        "billion",
        "dozen",
        "half",
        "twice",
        "once",
        "several",
        "couple",
        "few",
        "many",
        "percent",
    ]
)
_YEAR = re.compile(r"(1[0-9]|20)\d\d")
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}:\d\d")
_LATIN = re.compile(r"[A-Za-z]")
_LETTER = re.compile(r"[^\W\d_]")
_QUESTION_START = re.compile(
    r"\W*(what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|can|could|will|would|should|has|have)\b",
    re.IGNORECASE,
)
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\n]|[\"“'(\-])\s*$")


@dataclass(frozen=True, slots=True)
class Reading:
    """`sequence` holds every term in index form, in order; `counts` those that are no stop words;
    `listed` those of them that the lexicon lists, at `rows`."""

    sequence: tuple[str, ...]
    counts: Mapping[str, int]
    length: int
    listed: tuple[str, ...]
    rows: NDArray[np.intp]
    names: frozenset[str]
    speaker: str | None
    numbers: frozenset[str]
    identifiers: frozenset[str]
    negated: bool
    dated: bool
    counts_quantity: bool
    asks: bool
    latin: float


@lru_cache(maxsize=READINGS_KEPT)
def read(text: str) -> Reading:
    """Read a passage."""
    analysis = analyse(text)
    counts: dict[str, int] = {}
    for term in analysis.terms:
        if not term.stop:
            counts[term.text] = counts.get(term.text, 0) + 1
    known = lexicon().rows
    names = names_in(text, analysis)
    listed = tuple(word for word in counts if word in known)
    return Reading(
        sequence=tuple(term.text for term in analysis.terms),
        counts=counts,
        length=analysis.length,
        listed=listed,
        rows=np.array([known[word] for word in listed], dtype=np.intp),
        names=names,
        speaker=_speaker(text, analysis),
        numbers=frozenset(analysis.numbers),
        identifiers=frozenset(analysis.identifiers),
        negated=is_negated(analysis),
        dated=is_dated(text, analysis),
        counts_quantity=not _QUANTITIES.isdisjoint([term.surface.casefold() for term in analysis.terms]),
        asks=is_question(text),
        latin=latin_share(text),
    )


def names_in(text: str, analysis: Analysis) -> frozenset[str]:
    """Terms written like names: capitals inside a sentence, or first words that are not common."""
    common = lexicon()
    names = set()
    for term in analysis.terms:
        if term.stop or term.kind is not TermKind.WORD or not term.surface[:1].isupper():
            continue
        if common.share(term.text) < COMMON_SHARE or not _SENTENCE_START.search(
            text, max(term.start - 4, 0), term.start
        ):
            names.add(term.text)
    return frozenset(names)


def is_negated(analysis: Analysis) -> bool:
    """Whether the text holds a word that negates."""
    return any(_negates(term) for term in analysis.terms if term.kind is TermKind.WORD)


def is_dated(text: str, analysis: Analysis) -> bool:
    """Whether the text names a time: a calendar word, a year, a date or a clock time."""
    words = any(term.surface.casefold() in _CALENDAR for term in analysis.terms if term.kind is TermKind.WORD)
    return words or any(_YEAR.fullmatch(number) for number in analysis.numbers) or bool(_DATE.search(text))


def is_question(text: str) -> bool:
    """Whether the text ends in a question mark or begins like a question."""
    return text.rstrip().endswith(("?", "？")) or _QUESTION_START.match(text) is not None


def latin_share(text: str) -> float:
    """Share of the letters that are plain Latin, 0..1; 1 for a text without letters."""
    if text.isascii():
        return 1.0
    letters = len(_LETTER.findall(text))
    return len(_LATIN.findall(text)) / letters if letters else 1.0


def _negates(term: Term) -> bool:
    surface = term.surface.casefold()
    return surface in _NEGATIONS or surface.endswith(("n't", "n’t"))


def _speaker(text: str, analysis: Analysis) -> str | None:
    """The name before a leading `Name:`, as dialogue turns are written."""
    if not analysis.terms:
        return None
    first = analysis.terms[0]
    speaks = first.kind is TermKind.WORD and first.start == 0 and text[first.end : first.end + 1] == ":"
    return first.text if speaks else None
