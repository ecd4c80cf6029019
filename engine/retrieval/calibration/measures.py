"""What confidences are worth, measured on labelled questions.

Confidences and labels of `n` questions with up to `m` records each: `confidence` (n, m), 0 where
there is no record, and `gold` (n, m), which records answer.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Marks = NDArray[np.bool_]

SHOWN = 5
_BINS = 10


def answers(confidence: Matrix, gold: Marks) -> Matrix:
    """Confidence of the surest gold record among the first five of each question, -1 if none is, shape (n,)."""
    order = np.argsort(-confidence, axis=1, kind="stable")[:, :SHOWN]
    sure, right = np.take_along_axis(confidence, order, 1), np.take_along_axis(gold, order, 1)
    return np.asarray(np.where(right, sure, -1.0).max(axis=1))


def found(confidence: Matrix, gold: Marks, threshold: float | Matrix) -> Marks:
    """Whether a gold record is among the first five at the threshold (one, or one a question), shape (n,)."""
    return answers(confidence, gold) >= threshold


def places(scores: Matrix, gold: Marks) -> Matrix:
    """Place of the best gold record of each question, from 1; infinite where none is pooled, shape (n,)."""
    order = np.argsort(-scores, axis=1, kind="stable")
    right = np.take_along_axis(gold, order, 1)
    return np.where(right.any(axis=1), right.argmax(axis=1) + 1.0, np.inf)


def best(confidence: Matrix, gold: Marks) -> tuple[Matrix, Marks]:
    """Confidence of each question's best record, and whether that one is gold, both (n,)."""
    rows, columns = np.arange(len(confidence)), np.argmax(confidence, axis=1)
    return confidence[rows, columns], gold[rows, columns]


def auroc(right: Matrix, wrong: Matrix) -> float | None:
    """The chance that one of `right` lies above one of `wrong`; ties count one half. `None` if either is empty."""
    if not len(right) or not len(wrong):
        return None
    return float(np.mean([(right > each).mean() + (right == each).mean() / 2 for each in wrong]))


def calibration_error(sure: Matrix, right: Marks) -> float | None:
    """Expected calibration error in ten bins; `None` without questions."""
    if not len(sure):
        return None
    bins = np.minimum(np.asarray(sure * _BINS).astype(int), _BINS - 1)
    gaps = [abs(sure[bins == each].mean() - right[bins == each].mean()) * (bins == each).sum() for each in set(bins)]
    return float(sum(gaps) / len(sure))


def squared_error(sure: Matrix, right: Marks) -> float:
    """Mean squared error of the confidence (Brier score); lowest for the honest probability."""
    return float(np.mean((sure - right) ** 2))


def threshold_for(right: Matrix, wrong: Matrix, rate: float) -> float:
    """A threshold that at most this share of `wrong` reaches; 1.0 if there is none below.

    From the lowest such one (in steps of 0.005) it is moved up half of the way to the nearest of
    `right`, which costs no answer and leaves room on both sides.
    """
    for step in range(1, 200):
        lowest = step / 200
        if (wrong >= lowest).mean() <= rate:
            return float(lowest + right[right >= lowest].min()) / 2 if (right >= lowest).any() else lowest
    return 1.0
