"""Additive trees with soft edges, evaluated with numpy: the shape of a fitted calibration.

A model is a sum of small binary trees over named features; the sum is a log-odds. A split does not
jump: within half a `width` around its threshold it sends a record partly both ways,

    share going right = clip((value - threshold) / width + 1/2, 0, 1)

so that two records that hardly differ get log-odds that hardly differ. A feature in which a tree only
rises still only rises. Trees are laid side by side in padded arrays, inner nodes before leaves and
parents before children, so that all trees and records are walked at once, one node position at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_NEVER = np.inf
"""Threshold of the padding: everything goes left, to a leaf that counts nothing."""


@dataclass(frozen=True, slots=True)
class Trees:
    """Inner nodes: `column`, `threshold`, `width`, `left`, `right`, each (inner, trees). Nodes: `value` (trees, nodes).

    `column` is the place in the caller's table; `left` and `right` are places among a tree's nodes.
    """

    column: NDArray[np.intp]
    threshold: NDArray[np.float64]
    width: NDArray[np.float64]
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    value: NDArray[np.float64]
    intercept: float

    @classmethod
    def load(cls, stored: Mapping[str, Any], features: Sequence[str]) -> Trees:
        """From the stored form. Raises `ValueError` for a feature that the caller does not compute."""
        columns = np.array([features.index(name) for name in stored["features"]], np.intp)
        widths = np.array(stored["widths"], np.float64)
        trees = [_ordered(tree) for tree in stored["trees"]]
        inner, count = max(inner for inner, _ in trees), len(trees)
        nodes = max(len(tree["value"]) for tree in stored["trees"])
        feature = np.zeros((inner, count), np.intp)
        threshold = np.full((inner, count), _NEVER)
        left = np.full((inner, count), nodes, np.intp)
        right = np.full((inner, count), nodes, np.intp)
        value = np.zeros((count, nodes + 1))
        for place, ((own, order), tree) in enumerate(zip(trees, stored["trees"], strict=True)):
            at = {node: position for position, node in enumerate(order)}
            value[place, : len(order)] = [tree["value"][node] for node in order]
            for position, node in enumerate(order[:own]):
                feature[position, place] = tree["feature"][node]
                threshold[position, place] = tree["threshold"][node]
                left[position, place] = at[tree["left"][node]]
                right[position, place] = at[tree["right"][node]]
        return cls(columns[feature], threshold, widths[feature], left, right, value, float(stored["intercept"]))

    def score(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log-odds of each row of `table`, shape (records,)."""
        trees = np.arange(self.value.shape[0])
        reach = np.zeros((self.value.shape[1], self.value.shape[0], len(table)))
        reach[0] = 1.0
        for position in range(len(self.column)):
            values = table[:, self.column[position]].T
            rightward = (values - self.threshold[position][:, None]) / self.width[position][:, None] + 0.5
            share = np.clip(rightward, 0.0, 1.0) * reach[position]
            reach[self.right[position], trees] = share
            reach[self.left[position], trees] += reach[position] - share
        return np.asarray(np.einsum("tn,ntr->r", self.value, reach) + self.intercept)


def _ordered(tree: Mapping[str, Any]) -> tuple[int, list[int]]:
    """How many inner nodes a tree has, and its nodes: inner ones first, parents before children."""
    inner, leaves, waiting = [], [], [0]
    for node in waiting:
        if tree["threshold"][node] is None:
            leaves.append(node)
        else:
            inner.append(node)
            waiting += [tree["left"][node], tree["right"][node]]
    return len(inner), inner + leaves
