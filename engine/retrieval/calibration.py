"""Calibration: evidence becomes a probability that the record answers the question.

The fitted model of an embedder lies in `models/<name>.json` with its provenance (sets, licences,
figures, analysis version). `confidence` is its probability, then three rules that need no fitting:

- a record that names none of the question's identifiers cannot answer it: its confidence shrinks to
  `VETO_SHARE` of what it was, and strict refuses it whatever they are;
- a question that is about identifiers which few records have is answered by a record that names
  them all: at least `NAMED`, or `FOCUSED` if the question says some more ("what does E17 mean"),
  unless it says a rare word of which the record knows nothing;
- a record that says exactly what the question says is a match: at least `VERBATIM`.

`ranking` orders records of one question; it mixes the log-odds with the pool's fused score.
An embedder without a model of its own gets `lexical_only`, which looks at no cosine at all: its
confidence is honest and lower.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import CorruptData
from engine.retrieval.evidence import FEATURES, Evidence
from engine.retrieval.trees import Trees

MODELS = Path(__file__).parent / "models"
LEXICAL_ONLY = "lexical_only"
OWN_CALIBRATION = "calibration.json"
"""Name of a model that the user fitted, inside the data folder."""

VETO_SHARE = 0.05
NAMED = 0.97
FOCUSED = 0.9
FOCUS = 0.4
"""Least share of the question's weight that must lie in its identifiers for `FOCUSED`."""

LACKING = 0.65
"""Largest `unsupported_top` for `FOCUSED`: the word is in one of some two thousand texts or more."""

VERBATIM = 0.995

_COLUMN = {name: place for place, name in enumerate(FEATURES)}


@dataclass(frozen=True, slots=True)
class Calibrator:
    """One fitted model. `thresholds` are named operating points; `provenance` says where it is from."""

    trees: Trees
    knots: NDArray[np.float64]
    heights: NDArray[np.float64]
    fusion_weight: float
    thresholds: Mapping[str, float]
    provenance: Mapping[str, Any]

    @classmethod
    def load(cls, embedder_id: str, override: Path | None = None) -> Calibrator:
        """The user's own model in the folder `override` if it is for this embedder, else the shipped one.

        Raises `CorruptData` if the user's model cannot be read.
        """
        own = override / OWN_CALIBRATION if override is not None else None
        if own is not None and own.exists():
            try:
                stored = json.loads(own.read_text("utf-8"))
                if stored["embedder"] == embedder_id:
                    return cls.from_stored(stored)
            except (ValueError, KeyError, TypeError) as error:
                raise CorruptData(f"{own} is no calibration ({error}); fit it again or remove it") from error
        shipped = (json.loads(path.read_text("utf-8")) for path in sorted(MODELS.glob("*.json")))
        models = {stored["embedder"]: stored for stored in shipped}
        return cls.from_stored(models.get(embedder_id, models[LEXICAL_ONLY]))

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> Calibrator:
        """From the stored form. Raises `KeyError`, `ValueError` if it is incomplete."""
        return cls(
            trees=Trees.load(stored["model"], FEATURES),
            knots=np.array(stored["scale"]["log_odds"], np.float64),
            heights=np.array(stored["scale"]["confidence"], np.float64),
            fusion_weight=float(stored["fusion_weight"]),
            thresholds={name: float(value) for name, value in stored["thresholds"].items()},
            provenance=stored["provenance"],
        )

    def confidence(self, evidence: Sequence[Evidence]) -> NDArray[np.float64]:
        """Probability in 0..1 that each record answers the question, shape (records,)."""
        if not evidence:
            return np.zeros(0)
        table = _table(evidence)
        return under_rules(np.interp(self.trees.score(table), self.knots, self.heights), table)

    def ranking(self, evidence: Sequence[Evidence], confidence: NDArray[np.float64]) -> NDArray[np.float64]:
        """Positive scores that order the records of one question by evidence and `confidence`, shape (records,)."""
        sure = np.clip(confidence, 1e-6, 1 - 1e-6)
        fused = np.array([each.features[_COLUMN["fused"]] for each in evidence])
        return np.asarray(1 / (1 + np.exp(-(np.log(sure / (1 - sure)) + self.fusion_weight * fused))))


def under_rules(confidence: NDArray[np.float64], table: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rules of this module applied to fitted probabilities; `table` is (records, features)."""
    missing, met = table[:, _COLUMN["identifiers_missing"]], table[:, _COLUMN["identifiers_met"]]
    named = (met >= 1.0) & (table[:, _COLUMN["identifiers_only"]] > 0)
    focused = (met >= 1.0) & (table[:, _COLUMN["identifier_focus"]] >= FOCUS)
    focused &= table[:, _COLUMN["unsupported_top"]] <= LACKING
    verbatim = (table[:, _COLUMN["run"]] >= 1.0) & (table[:, _COLUMN["reverse"]] >= 0.999)
    ruled = np.where(focused, np.maximum(confidence, FOCUSED), confidence)
    ruled = np.where(named, np.maximum(ruled, NAMED), ruled)
    ruled = np.where(verbatim, np.maximum(ruled, VERBATIM), ruled)
    return np.asarray(np.where((missing > 0) & (met == 0), ruled * VETO_SHARE, ruled))


def _table(evidence: Sequence[Evidence]) -> NDArray[np.float64]:
    return np.array([each.features for each in evidence], np.float64)
