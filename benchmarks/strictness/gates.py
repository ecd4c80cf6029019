"""Gates: what turns a table of evidence into one number a record, by which strict search decides.

The bare ones need no fitting. The fitted ones are the shipped kind of trees and, beside them, a
logistic regression on the same features, rows and weights. `Fits` fits a gate on every part of the
sets that a figure asks for, each once:

- *training groups alone*: no evaluation set is seen at all;
- *unseen*: the training groups and the evaluation sets whose licence allows it, without the judged
  set and those made of the same texts;
- *halves*: as well the even questions of the allowed sets; the odd questions are judged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks import fit_calibration
from benchmarks.evidence_tables import Table
from benchmarks.figures import Judged
from benchmarks.fit_calibration import RELATED, SIGNS, fit_part, rows_to_fit
from engine.retrieval.calibration.calibrator import under_rules
from engine.retrieval.evidence.features import FEATURES

Gate: TypeAlias = Callable[[Table], NDArray[np.float64]]
"""Numbers in 0..1 for a table, shape (n, POOL); 0 where there is no record."""

Fit: TypeAlias = Callable[[Sequence[Table]], Gate]

_HALVES, _ALONE = "even questions", "training groups alone"


def mean_of(*features: str) -> Gate:
    """The mean of some features, each cut to 0..1."""
    places = fit_calibration.columns(features)
    return lambda table: np.where(
        table.present, np.clip(table.features[:, :, places].astype(np.float64), 0.0, 1.0).mean(axis=2), 0.0
    )


COSINE = mean_of("cosine")
BM25 = mean_of("lexical_share")
COVERAGE = mean_of("coverage")
COSINE_AND_COVERAGE = mean_of("cosine", "coverage")
BARE = {
    "cosine": COSINE,
    "BM25 / its own maximum": BM25,
    "IDF coverage": COVERAGE,
    "mean of cosine and IDF coverage": COSINE_AND_COVERAGE,
}


def trees(tables: Sequence[Table]) -> Gate:
    """The shipped kind of model."""
    return fit_calibration.fit(tables, SIGNS).confidence


def logistic_regression(tables: Sequence[Table]) -> Gate:
    """A logistic regression on the same standardised features, under the same rules."""
    names = tuple(SIGNS)
    features, gold, weight = rows_to_fit(tables, names)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    model.fit(features, gold, logisticregression__sample_weight=weight)

    def gate(table: Table) -> NDArray[np.float64]:
        flat = table.features.reshape(-1, len(FEATURES)).astype(np.float64)
        fitted = model.predict_proba(flat[:, fit_calibration.columns(names)])[:, 1]
        return np.where(table.present, under_rules(fitted, flat).reshape(table.present.shape), 0.0)

    return gate


class Fits:
    """Gates of one kind, fitted on the parts of the sets that are asked for."""

    def __init__(self, fit: Fit, synthetic: Sequence[Table], allowed: Sequence[Table]) -> None:
        self._fit, self._synthetic, self._allowed = fit, synthetic, allowed
        self._known: dict[frozenset[str] | str, Gate] = {}

    def unseen(self, name: str) -> Gate:
        """Fitted on everything allowed but the set `name` and its relatives."""
        kept = [table for table in self._allowed if table.name not in (name, *RELATED.get(name, ()))]
        return self._gate(frozenset(table.name for table in kept), [fit_part(table) for table in kept])

    def training_alone(self) -> Gate:
        """Fitted on the training groups alone."""
        return self._gate(_ALONE, [])

    def halves(self) -> Gate:
        """Fitted on the training groups and the even questions of what is allowed."""
        return self._gate(_HALVES, [fit_part(table.part(even(table))) for table in self._allowed])

    def _gate(self, key: frozenset[str] | str, tables: Sequence[Table]) -> Gate:
        if key not in self._known:
            self._known[key] = self._fit([*self._synthetic, *tables])
        return self._known[key]


def even(table: Table) -> NDArray[np.bool_]:
    """Every second question, shape (n,)."""
    return np.asarray(np.arange(len(table.answerable)) % 2 == 0)


def judged(gate: Gate, table: Table) -> Judged:
    """The table with the gate's numbers."""
    return table, gate(table)
