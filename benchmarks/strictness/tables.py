"""The tables of figures: gates beside each other, sets at the default threshold, operating points, removal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from benchmarks import figures
from benchmarks.evidence_tables import Table
from benchmarks.figures import Judged
from benchmarks.shared_data import RANKS
from benchmarks.strictness import gates
from benchmarks.strictness.gates import Fits, judged
from benchmarks.strictness.sheet import Cell, Sheet
from engine.retrieval.calibration import measures
from engine.retrieval.evidence.features import FEATURES

MACRO = "mean of the sets"


def comparison(kinds: Mapping[str, Fits], promised: Sequence[Table]) -> Sheet:
    """Macro figures of every gate and way of fitting over the promised sets."""
    rows = [_row(name, "nothing", [judged(gate, table) for table in promised]) for name, gate in gates.BARE.items()]
    odd = [table.part(~gates.even(table)) for table in promised]
    for kind, fits in kinds.items():
        unseen = [judged(fits.unseen(table.name), table) for table in promised]
        alone = [judged(fits.training_alone(), table) for table in promised]
        rows.append(_row(kind, "halves of the sets", [judged(fits.halves(), table) for table in odd], calibrated=True))
        rows.append(_row(kind, "all sets but the one judged", unseen, calibrated=True))
        rows.append(_row(kind, "training groups alone", alone, calibrated=True))
    columns = ("gate", "fitted on", "AUROC", "swept hit@5", "at threshold", "hit@5 without one", "ECE")
    return Sheet("gates", columns, rows)


def by_set(every: Sequence[Judged], threshold: float, promised: Sequence[str], not_english: frozenset[str]) -> Sheet:
    """Figures of each set at one threshold, then their means."""
    measures = _measures(threshold)
    rows: list[list[Cell]] = []
    for each in every:
        table = each[0]
        absent = ~table.answerable & (table.tier != "C")
        counts = [int(table.answerable.sum()), int(absent.sum())]
        rows.append([table.name, *counts, *(measure(each) for measure in measures.values())])
    english = [each for each in every if each[0].name not in not_english]
    nine = [each for each in every if each[0].name in promised]
    for title, members in (
        (f"mean of the {len(nine)} promised", nine),
        (f"mean of the {len(english)} English", english),
    ):
        means = (figures.mean([measure(each) for each in members]) for measure in measures.values())
        rows.append([f"**{title}**", None, None, *means])
    return Sheet("sets", ("set", "answerable", "no match", *measures), rows)


def operating_points(every: Sequence[Judged], thresholds: Mapping[str, float]) -> Sheet:
    """Macro figures at every named threshold, and with none."""
    rows: list[list[Cell]] = []
    for name, threshold in {**thresholds, "no threshold": 0.0}.items():
        hits = figures.mean([figures.found(each, threshold) for each in every])
        rates = [figures.mean([figures.false_matches(each, threshold, tier) for each in every]) for tier in "AB"]
        rows.append([name, threshold, hits, *rates])
    return Sheet("points", ("operating point", "threshold", "hit@5", "FMR A", "FMR B"), rows)


def order(every: Sequence[Judged], fusion_weight: float) -> Sheet:
    """How recall orders the pool, beside the plain mix of both legs, for every set."""
    rows: list[list[Cell]] = []
    for table, confidence in every:
        fused = table.features[:, :, FEATURES.index("fused")].astype(np.float64)
        orders = [fused, (confidence + fusion_weight * fused).round(3)]
        places = [measures.places(np.where(table.present, each, -1.0), table.gold)[table.answerable] for each in orders]
        hits = [float((each <= measures.SHOWN).mean()) for each in places]
        reciprocal = [float(np.where(each <= RANKS, 1 / each, 0.0).mean()) for each in places]
        rows.append([table.name, *hits, *reciprocal])
    columns = ("set", "plain mix hit@5", "recall hit@5", "plain mix MRR@10", "recall MRR@10")
    return Sheet("order", columns, rows)


def removal(fits: Fits, pairs: Sequence[tuple[Table, Table]], threshold: float) -> Sheet:
    """Answerable questions against the same ones without their gold records."""
    rows: list[list[Cell]] = []
    areas: list[list[float | None]] = []
    bare = ("cosine", "IDF coverage", "mean of cosine and IDF coverage")
    for whole, without in pairs:
        both = whole.part(whole.answerable).joined(without)
        unseen = judged(fits.unseen(whole.name), both)
        areas.append([figures.auroc(judged(gates.BARE[name], both)) for name in bare] + [figures.auroc(unseen)])
        answers = [figures.found(unseen, threshold), figures.false_matches(unseen, threshold)]
        rows.append([whole.name, len(without.answerable), *areas[-1], *answers])
    means = [figures.mean([row[place] for row in areas]) for place in range(len(bare) + 1)]
    rows.append([f"**{MACRO}**", None, *means, None, None])
    columns = ("set", "pairs", *(f"AUROC {name}" for name in bare), "AUROC Memvouch", "hit@5 before", "FMR after")
    return Sheet("removal", columns, rows)


def _measures(threshold: float) -> dict[str, Callable[[Judged], float | None]]:
    return {
        "hit@5": lambda each: figures.found(each, threshold),
        "FMR A": lambda each: figures.false_matches(each, threshold, "A"),
        "FMR B": lambda each: figures.false_matches(each, threshold, "B"),
        "AUROC": figures.auroc,
        "ECE": figures.calibration_error,
    }


def _row(name: str, fitted_on: str, every: Sequence[Judged], *, calibrated: bool = False) -> list[Cell]:
    threshold, hits = figures.swept(every)
    return [
        name,
        fitted_on,
        figures.mean([figures.auroc(each) for each in every]),
        hits,
        threshold,
        figures.mean([figures.found(each, 0.0) for each in every]),
        figures.mean([figures.calibration_error(each) for each in every]) if calibrated else None,
    ]
