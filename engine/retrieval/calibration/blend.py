"""A calibration of the user's own: a few weights on top of the shipped model.

    log-odds = intercept + w1 logit(shipped confidence) + w2 neighbour_z + w3 cosine_z (+ w4 pair)

The shipped model has seen many kinds of spaces, this one it has not: how high its confidences run
here, and how much nearness in meaning says here, is what a hundred questions can teach. No weight is
negative, so more support never lowers a confidence. The weights are the most probable ones under a
normal prior around the shipped model (1 for its log-odds, 0 for all else), by Newton's method with
halved steps: with few labels little moves.

With a pair scorer there are two such sums: one with its score, and one for when it does not answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

SHIPPED, PAIR = "log_odds", "pair"
NEARNESS = ("neighbour_z", "cosine_z")
"""Features of the evidence that join the shipped model's log-odds."""

_SURE = 1e-6
_PRIOR_STRENGTH = 2.0
_STEPS = 100
_ENOUGH = 1e-8


@dataclass(frozen=True, slots=True)
class Sum:
    """One weighted sum; `weights` are by column name."""

    intercept: float
    weights: Mapping[str, float]

    def log_odds(self, columns: Mapping[str, Matrix]) -> Matrix:
        """Of each record, shape (records,)."""
        return np.asarray(self.intercept + sum(weight * columns[name] for name, weight in self.weights.items()))


@dataclass(frozen=True, slots=True)
class Blend:
    """`alone` is for records without a pair score; `paired` needs the scores of the scorer named `scorer`."""

    alone: Sum
    paired: Sum | None = None
    scorer: str | None = None

    @classmethod
    def load(cls, stored: Mapping[str, Any]) -> Self:
        """From the stored form. Raises `KeyError`, `TypeError`, `ValueError` if it is incomplete."""
        sums = [
            None if part is None else Sum(float(part["intercept"]), {k: float(v) for k, v in part["weights"].items()})
            for part in (stored["alone"], stored["paired"])
        ]
        alone, paired = sums
        if alone is None or (paired is None) != (stored["scorer"] is None):
            raise ValueError("a blend has a sum without pair scores, and one with them only if it names their scorer")
        return cls(alone, paired, stored["scorer"])

    def stored(self) -> dict[str, Any]:
        """The form that `load` reads."""
        alone, paired = (
            None if part is None else {"intercept": part.intercept, "weights": dict(part.weights)}
            for part in (self.alone, self.paired)
        )
        return {"alone": alone, "paired": paired, "scorer": self.scorer}

    def confidence(self, shipped: Matrix, nearness: Mapping[str, Matrix], pairs: Matrix) -> Matrix:
        """Probabilities from those of the shipped model, all (records,); `pairs` is NaN where there is no score."""
        columns = {SHIPPED: logit(shipped), **nearness, PAIR: logit(np.nan_to_num(pairs, nan=0.5))}
        found = self.alone.log_odds(columns)
        if self.paired is not None:
            found = np.where(np.isnan(pairs), found, self.paired.log_odds(columns))
        return sigmoid(found)


def fit(columns: Mapping[str, Matrix], right: NDArray[np.bool_]) -> Sum:
    """The most probable sum over the named columns, each (rows,), for rows of which `right` says what is true."""
    kept = list(columns)
    while True:
        table = np.column_stack([np.ones(len(right)), *(columns[name] for name in kept)])
        prior = np.array([0.0, *(float(name == SHIPPED) for name in kept)])
        found = _most_probable(table, right.astype(np.float64), prior)
        worst = int(np.argmin(found[1:])) if kept else 0
        if not kept or found[1 + worst] >= 0:
            return Sum(float(found[0]), dict(zip(kept, map(float, found[1:]), strict=True)))
        del kept[worst]


def logit(probability: Matrix) -> Matrix:
    """Log-odds, kept finite."""
    sure = np.clip(probability, _SURE, 1 - _SURE)
    return np.asarray(np.log(sure / (1 - sure)))


def sigmoid(log_odds: Matrix) -> Matrix:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(log_odds, -40.0, 40.0))))


def _most_probable(table: Matrix, right: Matrix, prior: Matrix) -> Matrix:
    found, loss = prior, _loss(table, right, prior, prior)
    for _ in range(_STEPS):
        sure = sigmoid(table @ found)
        slope = table.T @ (sure - right) + _PRIOR_STRENGTH * (found - prior)
        curvature = (table.T * (sure * (1 - sure))) @ table + _PRIOR_STRENGTH * np.eye(len(prior))
        step = np.linalg.solve(curvature, slope)
        while (tried := _loss(table, right, found - step, prior)) > loss and np.abs(step).max() > _ENOUGH:
            step = step / 2
        if tried > loss:
            break
        found, loss = found - step, tried
        if np.abs(step).max() <= _ENOUGH:
            break
    return found


def _loss(table: Matrix, right: Matrix, weights: Matrix, prior: Matrix) -> float:
    """Negative log posterior, up to a constant."""
    log_odds = table @ weights
    missed = np.logaddexp(0.0, log_odds) - right * log_odds
    return float(missed.sum() + _PRIOR_STRENGTH / 2 * ((weights - prior) ** 2).sum())
