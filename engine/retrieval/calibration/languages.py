"""One sum of trees for questions in English, and one for all others.

The bundled embedding model and the word vectors of the lexicon know English. What they say of a
question in Japanese or Spanish is noise, and a sum fitted on everything at once mistakes their
silence for a missing answer. So foreign questions are judged by a sum of their own, fitted on such
questions and on none of these measures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from engine.retrieval.calibration.trees import Trees
from engine.retrieval.evidence.features import FEATURES

_FOREIGN = FEATURES.index("foreign")


@dataclass(frozen=True, slots=True)
class TreesByLanguage:
    """`english` and `foreign` are mixed by the feature `foreign`: 0 asks the one alone, 1 the other."""

    english: Trees
    foreign: Trees

    @classmethod
    def load(cls, stored: Mapping[str, Any]) -> Self:
        """From the stored form. Raises `KeyError`, `ValueError` if it is incomplete."""
        return cls(Trees.load(stored["english"], FEATURES), Trees.load(stored["foreign"], FEATURES))

    def score(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log-odds of each row of (rows, features), shape (rows,)."""
        foreign = table[:, _FOREIGN]
        found = np.zeros(len(table))
        for share, trees in ((1 - foreign, self.english), (foreign, self.foreign)):
            asked = share > 0
            if asked.any():
                found[asked] += share[asked] * trees.score(table[asked])
        return found
