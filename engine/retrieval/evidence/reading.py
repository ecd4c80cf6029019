"""One passage as evidence reads it: its terms in order, names, numbers, identifiers.

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
from engine.text.analysis import Analysis, TermKind, analyse

READINGS_KEPT = 4096
COMMON_SHARE = 2e-4
"""A capitalised first word that more texts than this hold is a sentence start, not a name."""

_QUESTION_START = re.compile(
    r"\W*(what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|can|could|will|would|should|has|have)\b",
    re.IGNORECASE,
)
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\n]|[\"“'(\-])\s*$")


@dataclass(frozen=True, slots=True)
class Reading:
    """`sequence` holds every term in index form, in order; `counts` those that are no stop words;
    `rows` are the places in the lexicon of those that it lists."""

    sequence: tuple[str, ...]
    counts: Mapping[str, int]
    length: int
    rows: NDArray[np.intp]
    names: frozenset[str]
    numbers: frozenset[str]
    identifiers: frozenset[str]


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
    return Reading(
        sequence=tuple(term.text for term in analysis.terms),
        counts=counts,
        length=analysis.length,
        rows=np.array([known[word] for word in counts if word in known], dtype=np.intp),
        names=names,
        numbers=frozenset(analysis.numbers),
        identifiers=frozenset(analysis.identifiers),
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


def is_question(text: str) -> bool:
    """Whether the text ends in a question mark or begins like a question."""
    return text.rstrip().endswith(("?", "？")) or _QUESTION_START.match(text) is not None
