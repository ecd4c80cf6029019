"""What a user calibrates with, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

OPERATING_POINTS: Mapping[str, float] = {"lenient": 0.15, "default": 0.05, "strict": 0.01}
"""Named thresholds of strict search, by the share of unanswerable questions that may get an answer."""

LEAST_ANSWERABLE = 30
LEAST_UNANSWERABLE = 20


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question and the ids of the memories that answer it; none if nothing stored does.

    `space` is an id or a name; without it, all spaces that the caller may read are asked.
    """

    query: str
    relevant: tuple[str, ...]
    space: str | None = None


class Keep(StrEnum):
    """When a fit is kept."""

    NEVER = "never"
    IF_BETTER = "if_better"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationFigures:
    """How confidences did on labelled questions, all in 0..1.

    `auroc` is the chance that an answerable question's best confidence lies above an unanswerable
    one's. `ece` and `squared_error` are about the best record's confidence. `hit5` (answerable
    questions with a relevant memory among the first five) and `false_matches` (unanswerable
    questions with any answer) are by operating point.
    """

    auroc: float
    ece: float
    squared_error: float
    hit5: Mapping[str, float]
    false_matches: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationReport:
    """`before` is the shipped calibration on all questions, `after` each half judged by a fit on the other.

    `pooled` counts the answerable questions that had a relevant memory among those looked at.
    `unresolved` are the operating points whose rate so few unanswerable questions cannot show.
    `better` compares the two, `why` says how in words; `written` whether the fit is in use now.
    """

    answerable: int
    unanswerable: int
    pooled: int
    embedder: str
    pair_scorer: str | None
    before: CalibrationFigures
    after: CalibrationFigures
    thresholds_before: Mapping[str, float]
    thresholds_after: Mapping[str, float]
    unresolved: tuple[str, ...]
    better: bool
    why: str
    written: bool
