"""A small pair scorer for tests: the share of the question's words that the passage has, as log-odds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.text.analysis import analyse


class FakePairScorer:
    """`PairScorer` over shared words: -4 for none, 4 for all. `failure`, when set, is raised instead."""

    def __init__(self, revision: str = "fake-pairs-1") -> None:
        self._id = revision
        self.failure: Exception | None = None

    @property
    def id(self) -> str:
        return self._id

    def warm_up(self) -> None:
        """Nothing to load."""

    def score(self, question: str, passages: Sequence[str]) -> NDArray[np.float64]:
        if self.failure is not None:
            raise self.failure
        asked = {term.text for term in analyse(question).terms if not term.stop}
        shares = [len(asked & {term.text for term in analyse(each).terms}) / max(len(asked), 1) for each in passages]
        return np.array(shares, np.float64) * 8.0 - 4.0
