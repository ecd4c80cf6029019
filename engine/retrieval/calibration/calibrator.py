"""Calibration: evidence becomes a probability that the record answers the question.

The fitted model of an embedder lies in `models/<name>.json` with its provenance (sets, licences,
figures, analysis version). `confidence` is its probability, then three rules that need no fitting:

- a record that names none of the question's identifiers cannot answer it: its confidence shrinks to
  `VETO_SHARE` of what it was, and strict refuses it whatever they are;
- a question that is about identifiers which few records have is answered by a record that names
  them all: at least `NAMED`, or `FOCUSED` if the question says some more ("what does E17 mean"),
  unless it says a rare word of which the record knows nothing;
- a record that says exactly what the question says is a match: at least `VERBATIM`.

A calibration of the user's own (`memvouch calibrate`) is the shipped model with a blend on top. It is
left aside, with a notice, if it was fitted for another embedder, text analysis or pair scorer.

`ranking` orders records of one question; it mixes the confidence with the pool's fused score, and with
the pair score unless the confidence knows it already. The fused score weighs so much that no public
set is ordered worse than by it alone.
A file that names another embedder in `like` says that its embedder's cosines mean the same: it is judged
by that one's model. An embedder without a file gets `lexical_only`, which looks at no cosine at all: its
confidence is honest and lower.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import CorruptData
from engine.retrieval.calibration.blend import NEARNESS, Blend
from engine.retrieval.calibration.languages import TreesByLanguage
from engine.retrieval.evidence.gathering import FEATURES, Evidence
from engine.text.analysis import ANALYSIS_VERSION

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

PAIR_WEIGHT = 6.0
"""What a pair score from 0 to 1 adds to the score that orders the records."""

_COLUMN = {name: place for place, name in enumerate(FEATURES)}
_FUSED = _COLUMN["fused"]


@dataclass(frozen=True, slots=True)
class Calibrator:
    """One fitted model. `thresholds` are named operating points; `provenance` says where it is from.

    `own` if the user fitted it; `notice` says why a calibration of the user's own was left aside.
    """

    trees: TreesByLanguage
    knots: NDArray[np.float64]
    heights: NDArray[np.float64]
    fusion_weight: float
    thresholds: Mapping[str, float]
    provenance: Mapping[str, Any]
    blend: Blend | None = None
    own: bool = False
    notice: str | None = None

    @classmethod
    def load(cls, embedder_id: str, override: Path | None = None, pair_scorer_id: str | None = None) -> Calibrator:
        """The user's own model in the folder `override` if it is for what is in use, else the shipped one.

        Raises `CorruptData` if the user's model cannot be read.
        """
        notice = None
        own = override / OWN_CALIBRATION if override is not None else None
        if own is not None and own.exists():
            try:
                stored = json.loads(own.read_text("utf-8"))
                notice = _other_parts(stored, embedder_id, pair_scorer_id)
                if notice is None:
                    return replace(cls.from_stored(stored), own=True)
            except (ValueError, KeyError, TypeError) as error:
                raise CorruptData(
                    f"{own} is no calibration ({error}); remove it, then run `memvouch calibrate` again"
                ) from error
        return replace(cls.from_stored(shipped_form(embedder_id)), notice=notice)

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> Calibrator:
        """From the stored form. Raises `KeyError`, `ValueError` if it is incomplete."""
        return cls(
            trees=TreesByLanguage.load(stored["model"]),
            knots=np.array(stored["scale"]["log_odds"], np.float64),
            heights=np.array(stored["scale"]["confidence"], np.float64),
            fusion_weight=float(stored["fusion_weight"]),
            thresholds={name: float(value) for name, value in stored["thresholds"].items()},
            provenance=stored["provenance"],
            blend=Blend.load(stored["blend"]) if "blend" in stored else None,
        )

    @property
    def origin(self) -> str:
        """Where the model is from, in words for a person."""
        if self.own:
            made = {name: self.provenance.get(name, "?") for name in ("made_at", "answerable", "unanswerable")}
            return "your own, fitted {made_at} on {answerable} answerable and {unanswerable} other questions".format(
                **made
            )
        shipped = f"shipped, made by {self.provenance.get('made_by', '?')}"
        return f"{shipped}; {self.notice}" if self.notice else shipped

    @property
    def needs_pairs(self) -> bool:
        """Whether a confidence is only what it says with the pair scorer's help."""
        return self.blend is not None and self.blend.paired is not None

    def confidence(self, evidence: Sequence[Evidence]) -> NDArray[np.float64]:
        """Probability in 0..1 that each record answers the question, shape (records,)."""
        if not evidence:
            return np.zeros(0)
        table = _table(evidence)
        fitted = np.interp(self.trees.score(table), self.knots, self.heights)
        if self.blend is not None:
            fitted = self.blend.confidence(fitted, nearness(table), pair_scores(evidence))
        return under_rules(fitted, table).round(4)

    def ranking(self, evidence: Sequence[Evidence], confidence: NDArray[np.float64]) -> NDArray[np.float64]:
        """Positive scores that order the records of one question by nearness and `confidence`, shape (records,).

        Their logarithms count to three decimals: what differs by less came out of an index's rounding.
        """
        score = confidence + self.fusion_weight * np.array([each.features[_FUSED] for each in evidence])
        if not self.needs_pairs:
            score += PAIR_WEIGHT * np.nan_to_num(pair_scores(evidence), nan=0.0)
        return np.exp(score.round(3))


def shipped_form(embedder_id: str) -> dict[str, Any]:
    """The stored form of the shipped model for an embedder: its own, one that it is like, or `lexical_only`."""
    shipped = (json.loads(path.read_text("utf-8")) for path in sorted(MODELS.glob("*.json")))
    models: dict[str, dict[str, Any]] = {stored["embedder"]: stored for stored in shipped}
    model = models.get(embedder_id, models[LEXICAL_ONLY])
    return {**models[model["like"]], "embedder": embedder_id} if "like" in model else model


def nearness(table: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """The columns of (records, features) that a blend reads, by name."""
    return {name: table[:, _COLUMN[name]] for name in NEARNESS}


def pair_scores(evidence: Sequence[Evidence]) -> NDArray[np.float64]:
    """Pair scores in 0..1, NaN where there is none, shape (records,)."""
    return np.array([np.nan if each.pair is None else each.pair for each in evidence], np.float64)


def under_rules(confidence: NDArray[np.float64], table: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rules of this module applied to fitted probabilities; `table` is (records, features)."""
    missing, met = table[:, _COLUMN["identifiers_missing"]], table[:, _COLUMN["identifiers_met"]]
    named = (met >= 1.0) & (table[:, _COLUMN["identifiers_only"]] > 0)
    focused = (met >= 1.0) & (table[:, _COLUMN["identifier_focus"]] >= FOCUS)
    focused &= table[:, _COLUMN["unsupported_top"]] <= LACKING
    verbatim = table[:, _COLUMN["verbatim"]] > 0
    ruled = np.where(focused, np.maximum(confidence, FOCUSED), confidence)
    ruled = np.where(named, np.maximum(ruled, NAMED), ruled)
    ruled = np.where(verbatim, np.maximum(ruled, VERBATIM), ruled)
    return np.asarray(np.where((missing > 0) & (met == 0), ruled * VETO_SHARE, ruled))


def _other_parts(stored: Mapping[str, Any], embedder_id: str, pair_scorer_id: str | None) -> str | None:
    """Why a calibration of the user's own does not fit what is in use, if so."""
    scorer = stored.get("blend", {}).get("scorer")
    for part, fitted_for, in_use in (
        ("embedder", stored["embedder"], embedder_id),
        ("text analysis", stored["analysis_version"], ANALYSIS_VERSION),
        ("pair scorer", scorer, scorer if scorer is None else pair_scorer_id),
    ):
        if fitted_for != in_use:
            return (
                f"your own calibration is not used: it was fitted with the {part} {fitted_for}, in use is "
                f"{in_use or 'none'}; run `memvouch calibrate` again, or `memvouch calibrate --reset`"
            )
    return None


def _table(evidence: Sequence[Evidence]) -> NDArray[np.float64]:
    return np.array([each.features for each in evidence], np.float64)
