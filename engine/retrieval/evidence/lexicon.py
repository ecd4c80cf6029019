"""What is generally known about English words, so that a tiny space need not learn it.

For fourteen thousand English stems: the share of public texts that hold the stem (a background
document frequency) and a word vector (the bundled embedding model's vector of the word alone, centred
and reduced). For common numbers and the common words and bigrams of other languages: the share, in
texts of that language. A word that is not listed is rare; it has a floor share and no vector, so it
only ever matches itself. Made by `benchmarks/make_lexicon.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

LEXICON_FILE = Path(__file__).parent / "data" / "lexicon.npz"
RARE_SHARE = 1e-5
"""Share of texts that is taken to hold a word the lexicon does not list."""

_RAREST = -math.log(RARE_SHARE)


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Terms by row; `shares` (n,) in 0..1; `vectors` (n, d) float32, unit length or zero
    (not `described`).

    `rarities` are worked out once: evidence asks for hundreds of them with every question.
    """

    rows: Mapping[str, int]
    shares: NDArray[np.float32]
    rarities: Mapping[str, float]
    vectors: NDArray[np.float32]
    described: NDArray[np.bool_]

    def share(self, term: str) -> float:
        """Share of public texts that hold the term, at least `RARE_SHARE`."""
        row = self.rows.get(term)
        return max(float(self.shares[row]), RARE_SHARE) if row is not None else RARE_SHARE

    def describes(self, term: str) -> bool:
        """Whether the term is an English word with a vector."""
        row = self.rows.get(term)
        return row is not None and bool(self.described[row])

    def rarity(self, term: str) -> float:
        """`-ln share`, 0..11.5: how much a match of this word says at all."""
        return self.rarities.get(term, _RAREST)


@cache
def lexicon() -> Lexicon:
    """The shipped lexicon, read once."""
    with np.load(LEXICON_FILE) as stored:
        words = bytes(stored["words"]).decode().split("\n")
        vectors = _unit(stored["vectors"])
        shares = stored["shares"].astype(np.float32)
    rows = {word: row for row, word in enumerate(words)}
    rarities = {word: -math.log(max(float(share), RARE_SHARE)) for word, share in zip(words, shares, strict=True)}
    return Lexicon(rows, shares, rarities, vectors, np.asarray(vectors.any(axis=1)))


def _unit(stored: NDArray[np.int8]) -> NDArray[np.float32]:
    rows = stored.astype(np.float32)
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6))
