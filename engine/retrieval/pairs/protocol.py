"""The seam between the engine and whatever scores a question together with a passage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class PairScorer(Protocol):
    """Says how well each passage answers a question, by reading both at once.

    `score` returns float64 log-odds, finite, of shape `(len(passages),)`: any real number, higher is
    better. A score depends on its own pair only. A text longer than the model reads is judged by
    its beginning. Raises `PairScorerUnavailable` when the model cannot answer.
    """

    @property
    def id(self) -> str:
        """Names the model; a calibration that was fitted with its scores remembers it."""

    def warm_up(self) -> None:
        """Load what the first call would have to wait for; calling it again costs nothing."""

    def score(self, question: str, passages: Sequence[str]) -> NDArray[np.float64]: ...
