"""One passage as evidence reads it: its terms in order, numbers, identifiers.

Readings depend on the text alone, so they are kept in a bounded cache: the same records are read
again and again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.retrieval.evidence.lexicon import lexicon
from engine.text.analysis import analyse

READINGS_KEPT = 4096


@dataclass(frozen=True, slots=True)
class Reading:
    """`sequence` holds every term in index form, in order; `counts` those that are no stop words;
    `rows` are the places in the lexicon of those that it lists."""

    sequence: tuple[str, ...]
    counts: Mapping[str, int]
    length: int
    rows: NDArray[np.intp]
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
    return Reading(
        sequence=tuple(term.text for term in analysis.terms),
        counts=counts,
        length=analysis.length,
        rows=np.array([known[word] for word in counts if word in known], dtype=np.intp),
        numbers=frozenset(analysis.numbers),
        identifiers=frozenset(analysis.identifiers),
    )
