"""The reliability diagram and the risk-coverage curve, as SVG that is the same for the same figures.

In both every set weighs the same. Texts stay texts, ids come from a fixed salt and no date is
written, so that a picture changes only when a figure does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from benchmarks.figures import Judged, best_records

COMPARED = ("mean of cosine and IDF coverage", "BM25 / its own maximum", "cosine")
"""Gates that the risk-coverage curve shows beside the engine's."""

RELIABILITY, RISK = "reliability.svg", "risk-coverage.svg"

_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "memvouch",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
}
_COLOURS = ("#1f5fa8", "#c2571a", "#5b8c3a", "#8a8a8a")
_BINS = 10
_LEAST_IN_BIN = 5
_POINTS = 201
_LEAST_COVERAGE = 0.02


def draw(
    folder: Path, every: Sequence[Judged], others: Mapping[str, Sequence[Judged]], thresholds: Mapping[str, float]
) -> list[Path]:
    """Write both pictures of the sets in `every`; `others` are gates to compare with. Returns their files."""
    folder.mkdir(parents=True, exist_ok=True)
    with rc_context(_STYLE):
        reliability, risk = Figure(figsize=(5.2, 5.6)), Figure(figsize=(6.4, 4.4))
        _reliability(reliability, every)
        _risk(risk.subplots(), {"Memvouch": every, **others}, thresholds)
        for name, figure in ((RELIABILITY, reliability), (RISK, risk)):
            figure.tight_layout()
            figure.savefig(folder / name, format="svg", metadata={"Date": None, "Creator": "Memvouch"})
    return [folder / RELIABILITY, folder / RISK]


def bins(every: Sequence[Judged]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Mean confidence, share right and share of the questions of ten bins, each shape (10,); every set weighs the same.

    Mean and share are NaN in a bin without questions.
    """
    sure, right, weight = _pooled(every)
    places = np.minimum((sure * _BINS).astype(int), _BINS - 1)
    mass = np.bincount(places, weight, _BINS).astype(np.float64)
    with np.errstate(invalid="ignore"):
        shares = [np.bincount(places, weight * values, _BINS) / mass for values in (sure, right)]
    return shares[0], shares[1], mass


def risk_by_coverage(every: Sequence[Judged]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Share of the questions answered, rising, and share of the answers that are wrong, both shape (questions,)."""
    sure, right, weight = _pooled(every)
    order = np.argsort(-sure, kind="stable")
    coverage = np.cumsum(weight[order])
    return coverage, np.cumsum((weight * ~right)[order]) / coverage


def _pooled(every: Sequence[Judged]) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
    """Confidences of best records, whether they are right, and weights that sum to one, evenly by set."""
    found = [best_records(each) for each in every]
    weights = [np.full(len(sure), 1 / (len(sure) * len(found))) for sure, _ in found if len(sure)]
    return (
        np.concatenate([sure for sure, _ in found]),
        np.concatenate([right for _, right in found]),
        np.concatenate(weights),
    )


def _reliability(figure: Figure, every: Sequence[Judged]) -> None:
    upper, lower = figure.subplots(2, 1, sharex=True, gridspec_kw={"height_ratios": (4, 1)})
    upper.plot((0, 1), (0, 1), color=_COLOURS[3], linestyle="--", linewidth=1, label="perfect")
    for place, each in enumerate(every):
        sure, right, mass = bins([each])
        enough = mass * len(best_records(each)[0]) >= _LEAST_IN_BIN
        upper.plot(sure[enough], right[enough], color="#c8c8c8", linewidth=0.8, label="" if place else "single sets")
    sure, right, mass = bins(every)
    upper.plot(sure, right, color=_COLOURS[0], marker="o", linewidth=2, label="all sets, evenly")
    upper.set(
        ylabel="share of best records that answer", xlim=(0, 1), ylim=(0, 1), title="Is confidence a probability?"
    )
    upper.legend(loc="upper left", frameon=False)
    lower.bar((np.arange(_BINS) + 0.5) / _BINS, mass, width=0.9 / _BINS, color=_COLOURS[0])
    lower.set(xlabel="confidence of the best record, sets unseen in fitting", ylabel="share")


def _risk(axes: Axes, systems: Mapping[str, Sequence[Judged]], thresholds: Mapping[str, float]) -> None:
    for (name, every), colour in zip(systems.items(), _COLOURS, strict=False):
        coverage, risk = risk_by_coverage(every)
        steps = np.linspace(_LEAST_COVERAGE, 1, _POINTS)
        axes.plot(steps, np.interp(steps, coverage, risk), color=colour, linewidth=2, label=name)
    sure, right, weight = _pooled(next(iter(systems.values())))
    for name, threshold in thresholds.items():
        shown = sure >= threshold
        if shown.any():
            place = (weight[shown].sum(), (weight * ~right)[shown].sum() / weight[shown].sum())
            axes.plot(*place, marker="o", color=_COLOURS[0])
            axes.annotate(name, place, xytext=(6, -12), textcoords="offset points")
    axes.set(xlabel="coverage: share of all questions that get an answer", ylabel="risk: share of wrong answers")
    axes.set(xlim=(0, 1), ylim=(0, 0.7), title="What an answer costs in wrong ones")
    axes.legend(loc="upper left", frameon=False)
