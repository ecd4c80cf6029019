"""Figures of confidences on tables of evidence, defined as the shared scorer defines them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.evidence_tables import Table
from engine.retrieval.calibration import measures

Judged: TypeAlias = tuple[Table, NDArray[np.float64]]
"""A table and the confidence of every pooled record."""


def threshold_for(judged: Sequence[Judged], tier: str, rate: float) -> float:
    """The lowest threshold (in steps of 0.005) whose macro false-match rate on `tier` is at most `rate`."""
    for step in range(1, 200):
        if (mean([false_matches(each, step / 200, tier) for each in judged]) or 0.0) <= rate:
            return step / 200
    return 1.0


def false_matches(judged: Judged, threshold: float, tier: str | None = None) -> float | None:
    """Share of the no-match questions (of one tier, or A and B) that get a hit."""
    table, confidence = judged
    absent = ~table.answerable & (np.isin(table.tier, ["A", "B"] if tier is None else [tier]))
    return float((confidence[absent].max(axis=1) >= threshold).mean()) if absent.any() else None


def found(judged: Judged, threshold: float) -> float | None:
    """Share of the answerable questions with a gold record among the first five at the threshold."""
    table, confidence = judged
    hit = measures.found(confidence, table.gold, threshold)
    return float(hit[table.answerable].mean()) if table.answerable.any() else None


def auroc(judged: Judged) -> float | None:
    """Of the best confidence, answerable against no-match; ties count one half."""
    table, confidence = judged
    best = confidence.max(axis=1)
    return measures.auroc(best[table.answerable], best[~table.answerable & (table.tier != "C")])


def best_records(judged: Judged) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Confidence of each scored question's best record, and whether that record is right; no pool, no row."""
    table, confidence = judged
    scored = np.asarray((table.tier != "C") & table.present.any(axis=1))
    return measures.best(confidence[scored], table.gold[scored])


def calibration_error(judged: Judged) -> float | None:
    """Expected calibration error of the best record's confidence, ten bins."""
    return measures.calibration_error(*best_records(judged))


def swept(judged: Sequence[Judged], rate: float = 0.05) -> tuple[float, float]:
    """(threshold, macro hit@5) at the best common threshold whose macro false-match rate is at most `rate`."""
    best = (1.0, 0.0)
    for step in range(1, 500):
        threshold = step / 500
        if (mean([false_matches(each, threshold) for each in judged]) or 0.0) <= rate:
            hit = mean([found(each, threshold) for each in judged]) or 0.0
            best = max(best, (threshold, hit), key=lambda pair: pair[1])
    return best


def summary(judged: Sequence[Judged], threshold: float) -> dict[str, float]:
    """Macro figures, rounded."""
    swept_at, swept_hit = swept(judged)
    figures = {
        "auroc": mean([auroc(each) for each in judged]),
        "ece": mean([calibration_error(each) for each in judged]),
        "hit5": mean([found(each, threshold) for each in judged]),
        "fmr": mean([false_matches(each, threshold) for each in judged]),
        "fmr_a": mean([false_matches(each, threshold, "A") for each in judged]),
        "fmr_b": mean([false_matches(each, threshold, "B") for each in judged]),
        "swept_hit5": swept_hit,
        "swept_threshold": swept_at,
    }
    return {name: round(value, 4) for name, value in figures.items() if value is not None}


def show(title: str, judged: Sequence[Judged]) -> None:
    """Print a line per set at the swept threshold, then the macro figures."""
    threshold, _ = swept(judged)
    print(f"\n{title} (swept threshold {threshold:.3f})")
    for each in judged:
        values = {
            "auroc": auroc(each),
            "ece": calibration_error(each),
            "recall hit@5": found(each, 0.0),
            "strict hit@5": found(each, threshold),
            "fmr": false_matches(each, threshold),
        }
        texts = (f"{name} {'  -  ' if value is None else format(value, '.3f')}" for name, value in values.items())
        print(f"  {each[0].name:20}", "  ".join(texts))
    print("  macro", summary(judged, threshold), flush=True)


def mean(values: Sequence[float | None]) -> float | None:
    """Mean of the known values; `None` if there are none."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
