"""One sum of trees for questions in Latin letters, and one for all others.

The bundled embedding model and the word vectors of the lexicon know English. What they say of a
question in Japanese or Arabic is noise, and a sum fitted on everything at once mistakes their
silence for a missing answer. So such questions are judged by a sum of their own, fitted on questions of
other scripts and on none of these measures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from engine.retrieval.calibration.trees import Trees
from engine.retrieval.evidence.features import FEATURES

_OTHER_SCRIPT = FEATURES.index("other_script")


@dataclass(frozen=True, slots=True)
class TreesByScript:
    """`other` judges the questions whose feature `other_script` is set, `latin` the rest."""

    latin: Trees
    other: Trees

    @classmethod
    def load(cls, stored: Mapping[str, Any]) -> Self:
        """From the stored form. Raises `KeyError`, `ValueError` if it is incomplete."""
        return cls(Trees.load(stored["latin"], FEATURES), Trees.load(stored["other"], FEATURES))

    def score(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log-odds of each row of (rows, features), shape (rows,)."""
        found = np.empty(len(table))
        other = table[:, _OTHER_SCRIPT] > 0
        for chosen, trees in ((~other, self.latin), (other, self.other)):
            if chosen.any():
                found[chosen] = trees.score(table[chosen])
        return found
