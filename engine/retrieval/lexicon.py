"""What is generally known about English words, so that a tiny space need not learn it.

For about twelve thousand stems: the share of public texts that hold the stem (a background document
frequency) and a word vector (the bundled embedding model's vector of the word alone, centred and
reduced). Both come from `benchmarks/fit_calibration.py`. A word that is not listed is rare; it has a
floor share and no vector, so it only ever matches itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

LEXICON_FILE = Path(__file__).parent / "models" / "lexicon.npz"
RARE_SHARE = 1e-5
"""Share of texts that is taken to hold a word the lexicon does not list."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Stems by row; `shares` (n,) in 0..1; `vectors` (n, d) unit float32."""

    rows: Mapping[str, int]
    shares: NDArray[np.float32]
    vectors: NDArray[np.float32]

    def share(self, term: str) -> float:
        """Share of public texts that hold the term, at least `RARE_SHARE`."""
        row = self.rows.get(term)
        return max(float(self.shares[row]), RARE_SHARE) if row is not None else RARE_SHARE

    def rarity(self, term: str) -> float:
        """`-ln share`, 0..11.5: how much a match of this word says at all."""
        return -math.log(self.share(term))

    def knows(self, term: str) -> bool:
        """Whether the word is listed."""
        return term in self.rows


@cache
def lexicon() -> Lexicon:
    """The shipped lexicon, read once."""
    with np.load(LEXICON_FILE) as stored:
        words = bytes(stored["words"]).decode("ascii").split("\n")
        vectors = stored["vectors"].astype(np.float32)
        shares = stored["shares"].astype(np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return Lexicon({word: row for row, word in enumerate(words)}, shares, vectors / np.maximum(lengths, 1e-6))
