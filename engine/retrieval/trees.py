"""Additive trees, evaluated with numpy: the shape of a fitted calibration.

A model is a sum of small binary trees over named features, held as padded arrays so that all trees
are walked at once. A node sends a record left if its feature is at most the node's threshold; a leaf
points at itself. The sum is a log-odds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Trees:
    """Arrays of shape (trees, nodes); `columns` places the model's features in the caller's table."""

    columns: NDArray[np.intp]
    feature: NDArray[np.intp]
    threshold: NDArray[np.float64]
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    value: NDArray[np.float64]
    depth: int
    intercept: float

    @classmethod
    def load(cls, stored: Mapping[str, Any], features: Sequence[str]) -> Trees:
        """From the stored form. Raises `ValueError` for a feature that the caller does not compute."""
        columns = [features.index(name) for name in stored["features"]]
        nodes = max(len(tree["value"]) for tree in stored["trees"])
        count = len(stored["trees"])
        own = np.arange(nodes)
        feature = np.zeros((count, nodes), np.intp)
        threshold = np.full((count, nodes), np.inf)
        left, right = np.tile(own, (count, 1)), np.tile(own, (count, 1))
        value = np.zeros((count, nodes))
        for row, tree in enumerate(stored["trees"]):
            size = len(tree["value"])
            feature[row, :size] = tree["feature"]
            threshold[row, :size] = [np.inf if limit is None else limit for limit in tree["threshold"]]
            left[row, :size] = tree["left"]
            right[row, :size] = tree["right"]
            value[row, :size] = tree["value"]
        return cls(
            np.array(columns, np.intp),
            feature,
            threshold,
            left,
            right,
            value,
            int(stored["depth"]),
            float(stored["intercept"]),
        )

    def score(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log-odds of each row of `table`, shape (records,)."""
        chosen = table[:, self.columns]
        records, count = len(chosen), len(self.feature)
        tree = np.arange(count)[None, :]
        record = np.arange(records)[:, None]
        node = np.zeros((records, count), np.intp)
        for _ in range(self.depth):
            goes_left = chosen[record, self.feature[tree, node]] <= self.threshold[tree, node]
            node = np.where(goes_left, self.left[tree, node], self.right[tree, node])
        return np.asarray(self.value[tree, node].sum(axis=1) + self.intercept)
