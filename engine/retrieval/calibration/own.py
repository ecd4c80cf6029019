"""Fit a calibration for the user's own data, embedder and pair scorer.

    labelled questions -> evidence (as search gathers it) -> blend on top of the shipped model
        -> thresholds at the named false-match rates -> figures on held-out halves

The best record of every question is one row of the fit: whether what would be shown first answers is
what a confidence has to tell. Rows that a rule of `calibration` decides teach nothing and are left
out. The questions are cut into two halves, each with its share of unanswerable ones; each half is
judged by a fit on the other, which gives the figures and the confidences that the thresholds are
read from. The blend that is kept is fitted on all of them.

A fit is better if its confidences have no larger squared error than the shipped ones on held-out
halves, and if at the operating point in use it does not find less and let more through; one question
more or less is no difference.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from engine.domain.access import Principal, Scope
from engine.domain.calibration import (
    LEAST_ANSWERABLE,
    LEAST_UNANSWERABLE,
    OPERATING_POINTS,
    CalibrationFigures,
    CalibrationReport,
    LabelledQuestion,
)
from engine.domain.query import Filters, Query
from engine.errors import Forbidden, InvalidRequest
from engine.retrieval.calibration import blend, measures
from engine.retrieval.calibration.calibrator import (
    OWN_CALIBRATION,
    Calibrator,
    nearness,
    pair_scores,
    shipped_form,
    under_rules,
)
from engine.retrieval.calibration.measures import Marks, Matrix
from engine.retrieval.evidence.gathering import Evidence
from engine.retrieval.judged import Judged
from engine.retrieval.search import Searcher, readable_spaces
from engine.store import filters, memories
from engine.store.database import Database
from engine.text.folding import clean, fold

Progress = Callable[[int, int], None]
"""Called with (questions asked, questions in all)."""

_LISTED = 10
_SEED = 20261201


@dataclass(frozen=True, slots=True)
class Asked:
    """Evidence of `n` questions, each with up to `m` pooled records.

    `rows` are the records of all questions in one list, `place` their (question, column). `gold` and
    `exact` are (n, m); an exact id or key is certain whatever is fitted.
    """

    rows: tuple[Evidence, ...]
    place: tuple[NDArray[np.intp], NDArray[np.intp]]
    gold: Marks
    exact: Marks
    answerable: Marks

    def spread(self, values: Matrix) -> Matrix:
        """Values of the rows as (n, m), 0 where there is no record."""
        table = np.zeros(self.gold.shape)
        table[self.place] = values
        return table

    def confidence(self, calibrator: Calibrator) -> Matrix:
        """By a calibrator, shape (n, m)."""
        return np.where(self.exact, 1.0, self.spread(calibrator.confidence(self.rows)))


@dataclass(frozen=True, slots=True)
class Fit:
    """What was fitted, in its stored form, and how it did."""

    stored: Mapping[str, Any]
    report: CalibrationReport

    def write(self, folder: Path) -> None:
        """Put it in the place from which `Calibrator.load` takes it, whole or not at all."""
        draft = folder / f"{OWN_CALIBRATION}.new"
        draft.write_text(json.dumps(self.stored, separators=(",", ":")) + "\n", encoding="utf-8")
        draft.replace(folder / OWN_CALIBRATION)


def reset(folder: Path, principal: Principal) -> bool:
    """Remove the user's own calibration; says whether there was one. Raises `Forbidden`."""
    _require_administrator(principal)
    own = folder / OWN_CALIBRATION
    existed = own.exists()
    own.unlink(missing_ok=True)
    return existed


def check(database: Database, principal: Principal, questions: Sequence[LabelledQuestion], now: datetime) -> None:
    """Refuse labels that cannot be used.

    Raises:
        Forbidden: the caller may not administer.
        InvalidRequest: too few labels, a question twice, ids of no memory that the caller can find there.
    """
    _require_administrator(principal)
    answerable = sum(bool(each.relevant) for each in questions)
    _require_enough(answerable, len(questions) - answerable)
    seen: dict[tuple[str, str | None], int] = {}
    for number, each in enumerate(questions, start=1):
        first = seen.setdefault((fold(clean(each.query)).strip(), each.space), number)
        if first != number:
            raise InvalidRequest(f"question {number} is question {first} again", field="query")
    with database.reading() as connection:
        unknown = _unknown_ids(connection, principal, questions, now)
    if unknown:
        shown = ", ".join(unknown[:_LISTED]) + (", ..." if len(unknown) > _LISTED else "")
        raise InvalidRequest(
            f"{len(unknown)} ids are of no active memory in the space asked: {shown}", field="relevant"
        )


def ask(
    searcher: Searcher,
    principal: Principal,
    questions: Sequence[LabelledQuestion],
    now: datetime,
    progress: Progress | None = None,
) -> Asked:
    """Gather the evidence of every question. Raises as `Searcher.pooled` does."""
    pools: list[list[Judged]] = []
    for done, each in enumerate(questions):
        if progress is not None:
            progress(done, len(questions))
        query = Query(text=each.query, spaces=() if each.space is None else (each.space,))
        pools.append(searcher.pooled(principal, query, now))
    if progress is not None:
        progress(len(questions), len(questions))
    width = max(1, *map(len, pools))
    gold, exact = np.zeros((len(pools), width), np.bool_), np.zeros((len(pools), width), np.bool_)
    for row, (pool, each) in enumerate(zip(pools, questions, strict=True)):
        gold[row, : len(pool)] = [judged.memory.id in each.relevant for judged in pool]
        exact[row, : len(pool)] = [judged.exact for judged in pool]
    places = [(row, column) for row, pool in enumerate(pools) for column in range(len(pool))]
    rows, columns = np.array(places, np.intp).reshape(-1, 2).T
    return Asked(
        tuple(judged.evidence for pool in pools for judged in pool),
        (rows, columns),
        gold,
        exact,
        np.array([bool(each.relevant) for each in questions]),
    )


def fit(asked: Asked, embedder_id: str, pair_scorer_id: str | None, operating_point: str, now: datetime) -> Fit:
    """Fit on all questions, and on each half to judge the other."""
    form = shipped_form(embedder_id)
    shipped = Calibrator.from_stored(form)
    everything = np.ones(len(asked.answerable), np.bool_)
    before = asked.confidence(shipped)
    after, at = np.zeros_like(before), {name: np.zeros(len(before)) for name in OPERATING_POINTS}
    for half in _halves(asked.answerable):
        fitted = replace(shipped, blend=_fit_blend(asked, shipped, pair_scorer_id, ~half))
        confidence = asked.confidence(fitted)
        after[half] = confidence[half]
        for name, threshold in _thresholds(confidence, asked, ~half).items():
            at[name][half] = threshold
    thresholds = _thresholds(after, asked, everything)
    old = {name: np.full(len(before), shipped.thresholds[name]) for name in OPERATING_POINTS}
    unanswerable = int((~asked.answerable).sum())
    report = CalibrationReport(
        answerable=int(asked.answerable.sum()),
        unanswerable=unanswerable,
        pooled=int(asked.gold.any(axis=1).sum()),
        embedder=embedder_id,
        pair_scorer=pair_scorer_id,
        before=_figures(before, asked, old),
        after=_figures(after, asked, at),
        thresholds_before=dict(shipped.thresholds),
        thresholds_after=thresholds,
        unresolved=tuple(name for name, rate in OPERATING_POINTS.items() if unanswerable * rate < 1),
        better=False,
        why="",
        written=False,
    )
    report = _compared(report, operating_point)
    stored = {
        **form,
        "embedder": embedder_id,
        "blend": _fit_blend(asked, shipped, pair_scorer_id, everything).stored(),
        "thresholds": thresholds,
        "provenance": _provenance(report, form, now),
    }
    return Fit(stored, report)


def _require_administrator(principal: Principal) -> None:
    if Scope.ADMIN not in principal.scopes:
        raise Forbidden("calibrating needs the scope memory:admin: it changes the answers of everyone")


def _require_enough(answerable: int, unanswerable: int) -> None:
    if answerable >= LEAST_ANSWERABLE and unanswerable >= LEAST_UNANSWERABLE:
        return
    raise InvalidRequest(
        f"{answerable} answerable and {unanswerable} unanswerable questions are too few: at least "
        f"{LEAST_ANSWERABLE} and {LEAST_UNANSWERABLE} are needed. One half is judged by a fit on the other, and among "
        f"fewer than {LEAST_UNANSWERABLE} unanswerable questions not even one false match can be told from "
        f"{OPERATING_POINTS['default']:.0%}",
        field="labelled",
    )


def _unknown_ids(
    connection: Connection, principal: Principal, questions: Sequence[LabelledQuestion], now: datetime
) -> list[str]:
    named = {each for question in questions for each in question.relevant}
    found = memories.authorized(connection, principal, named, filters.compile(Filters()), now)
    spaces = {
        ref: {each.space.id for each in readable_spaces(connection, principal, () if ref is None else (ref,))}
        for ref in {question.space for question in questions}
    }
    unknown = [
        each
        for question in questions
        for each in question.relevant
        if each not in found or found[each].space_id not in spaces[question.space]
    ]
    return list(dict.fromkeys(unknown))


def _halves(answerable: Marks) -> tuple[Marks, Marks]:
    """Two halves of the questions, with equal shares of answerable ones."""
    first = np.zeros(len(answerable), np.bool_)
    order = np.random.default_rng(_SEED)
    for group in (answerable, ~answerable):
        first[order.permutation(np.flatnonzero(group))[::2]] = True
    return first, ~first


def _fit_blend(asked: Asked, shipped: Calibrator, pair_scorer_id: str | None, chosen: Marks) -> blend.Blend:
    """Fit on the best records of the chosen questions."""
    ranks = asked.spread(shipped.ranking(asked.rows, shipped.confidence(asked.rows)))
    first = np.zeros(asked.gold.shape, np.bool_)
    first[np.arange(len(ranks)), np.argmax(ranks, axis=1)] = True
    table = np.array([each.features for each in asked.rows], np.float64)
    plain = np.interp(shipped.trees.score(table), shipped.knots, shipped.heights)
    free = np.isclose(under_rules(plain, table), plain)
    picked = first[asked.place] & chosen[asked.place[0]] & ~asked.exact[asked.place] & free
    columns = {blend.SHIPPED: blend.logit(plain), **nearness(table)}
    columns = {name: values[picked] for name, values in columns.items()}
    right = asked.gold[asked.place][picked]
    alone = blend.fit(columns, right)
    if pair_scorer_id is None:
        return blend.Blend(alone)
    pairs = blend.logit(pair_scores(asked.rows)[picked])
    return blend.Blend(alone, blend.fit({**columns, blend.PAIR: pairs}, right), pair_scorer_id)


def _thresholds(confidence: Matrix, asked: Asked, chosen: Marks) -> dict[str, float]:
    """By name, from the confidences (n, m) of the chosen questions."""
    right = measures.answers(confidence, asked.gold)[chosen & asked.answerable]
    wrong = confidence.max(axis=1)[chosen & ~asked.answerable]
    return {name: round(measures.threshold_for(right, wrong, rate), 4) for name, rate in OPERATING_POINTS.items()}


def _figures(confidence: Matrix, asked: Asked, thresholds: Mapping[str, Matrix]) -> CalibrationFigures:
    top = confidence.max(axis=1)
    best = measures.best(confidence, asked.gold)
    absent = ~asked.answerable
    return CalibrationFigures(
        auroc=measures.auroc(top[asked.answerable], top[absent]) or 0.0,
        ece=measures.calibration_error(*best) or 0.0,
        squared_error=measures.squared_error(*best),
        hit5={
            name: float(measures.found(confidence, asked.gold, at)[asked.answerable].mean())
            for name, at in thresholds.items()
        },
        false_matches={name: float((top >= at)[absent].mean()) for name, at in thresholds.items()},
    )


def _compared(report: CalibrationReport, point: str) -> CalibrationReport:
    before, after = report.before, report.after
    if after.squared_error > before.squared_error:
        why = f"squared error of the confidence {after.squared_error:.4f} against {before.squared_error:.4f} as shipped"
        return replace(report, why=why)
    less = round((before.hit5[point] - after.hit5[point]) * report.answerable)
    more = round((after.false_matches[point] - before.false_matches[point]) * report.unanswerable)
    if less >= 0 and more >= 0 and less + more > 1:
        why = (
            f"at the point `{point}` it finds {after.hit5[point]:.3f} against {before.hit5[point]:.3f} as shipped and "
            f"lets {after.false_matches[point]:.3f} through against {before.false_matches[point]:.3f}"
        )
        return replace(report, why=why)
    why = f"squared error of the confidence {after.squared_error:.4f}, {before.squared_error:.4f} as shipped"
    return replace(report, better=True, why=why)


def _provenance(report: CalibrationReport, form: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    after = report.after
    return {
        "made_by": "memvouch calibrate",
        "made_at": now.isoformat(),
        "seed": _SEED,
        "answerable": report.answerable,
        "unanswerable": report.unanswerable,
        "figures": {
            "auroc": after.auroc,
            "ece": after.ece,
            "hit5": dict(after.hit5),
            "false_matches": dict(after.false_matches),
        },
        "figures_are": "on held-out halves of the user's own labels",
        "on_top_of": form["provenance"],
    }
