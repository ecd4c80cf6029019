"""Scores of prediction rows, by the scorer that comes with the evaluation sets.

The scorer is a script outside this project (`eval/score.py` of the shared folder); its functions are
used, so that every figure printed here means what it means everywhere else.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.shared_data import EvaluationSet, Row

FMR_TARGET = 0.05


@dataclass(frozen=True, slots=True)
class Swept:
    """The best common threshold whose macro false-match rate stays under a target."""

    threshold: float
    fmr: float
    hit5: float


@dataclass(frozen=True, slots=True)
class Scores:
    """Figures of one system: per set `{"recall": {...}, "strict": {...}}`, and the pools for sweeping."""

    sets: Mapping[str, Mapping[str, Mapping[str, float | None]]]
    pools: Mapping[str, Any]

    def figure(self, name: str, mode: str, figure: str) -> float | None:
        return self.sets[name][mode].get(figure)

    def macro(self, mode: str, figure: str, names: Iterable[str]) -> float | None:
        """Mean over those of `names` that have the figure."""
        values = [self.figure(name, mode, figure) for name in names if name in self.sets]
        known = [value for value in values if value is not None]
        return sum(known) / len(known) if known else None


class Scorer:
    """The scorer's functions, loaded from its file."""

    def __init__(self, script: Path) -> None:
        """Raises `FileNotFoundError` if the script is not there."""
        if not script.is_file():
            raise FileNotFoundError(f"{script} is missing; name the shared folder with MEMVOUCH_SHARED")
        self.script = script
        self._functions = _load(script)

    def score(self, evaluations: Sequence[EvaluationSet], rows: Iterable[Row]) -> Scores:
        """Figures of one system's rows over the sets that were asked."""
        by_set: dict[str, dict[tuple[str, str], Row]] = {}
        for row in rows:
            by_set.setdefault(row["dataset"], {})[row["mode"], row["query_id"]] = row
        sets, pools = {}, {}
        for evaluation in evaluations:
            queries = [{"id": each.id, "gold": sorted(each.gold), **_tier(each.tier)} for each in evaluation.queries]
            sets[evaluation.name], pools[evaluation.name] = self._functions.score_set(
                queries, by_set.get(evaluation.name, {})
            )
        return Scores(sets, pools)

    def sweep(self, scores: Scores, names: Iterable[str], fmr: float = FMR_TARGET) -> Swept | None:
        """Strict hit@5 at the best threshold with a macro false-match rate <= `fmr`; `None` if none has it."""
        pools = {name: scores.pools[name] for name in names if name in scores.pools}
        found = self._functions.sweep_threshold(pools, fmr) if pools else None
        return Swept(found[0], found[1] or 0.0, found[2] or 0.0) if found else None


def _load(script: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("memvouch_shared_score", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _tier(tier: str | None) -> dict[str, str]:
    return {"tier": tier} if tier else {}
