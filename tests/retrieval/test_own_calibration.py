"""Calibrating with a user's own questions, end to end on a small space."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from engine.domain.access import Scope
from engine.domain.calibration import (
    LEAST_ANSWERABLE,
    LEAST_UNANSWERABLE,
    OPERATING_POINTS,
    CalibrationReport,
    Keep,
    LabelledQuestion,
)
from engine.domain.memory import ForgetMode, NewMemory
from engine.domain.outcome import Matches
from engine.domain.query import Query
from engine.embedding.fake import FakeEmbedder
from engine.engine import Engine
from engine.errors import EmbedderUnavailable, Forbidden, InvalidRequest, NotFound, PairScorerUnavailable, Unavailable
from engine.retrieval.calibration import own as own_calibration
from engine.retrieval.calibration.calibrator import OWN_CALIBRATION
from engine.retrieval.pairs.fake import FakePairScorer
from engine.settings import Settings
from engine.store.ids import new_id
from tests.field_cases.facts import facts

ANSWERABLE, UNANSWERABLE = LEAST_ANSWERABLE + 2, LEAST_UNANSWERABLE + 2


@dataclass(frozen=True, slots=True)
class Room:
    """An open engine with facts in it and questions about them."""

    engine: Engine
    embedder: FakeEmbedder
    scorer: FakePairScorer | None
    folder: Path
    questions: tuple[LabelledQuestion, ...]

    def calibrate(self, keep: Keep = Keep.IF_BETTER) -> CalibrationReport:
        return self.engine.calibrate(self.engine.local_owner(), self.questions, keep=keep)

    def confidence(self) -> float:
        """Of the answer to the first question."""
        query = Query(text=self.questions[0].query, min_confidence=0.0)
        outcome = self.engine.search(self.engine.local_owner(), query)
        assert isinstance(outcome, Matches)
        return outcome.hits[0].confidence

    @property
    def own(self) -> Path:
        return self.folder / OWN_CALIBRATION


def opened(folder: Path, scorer: FakePairScorer | None) -> Iterator[Room]:
    known, embedder = facts(100, ANSWERABLE, seed=3), FakeEmbedder()
    settings = Settings(data_dir=folder, flush_seconds=0.05)
    with Engine.open(settings, embedder=embedder, pair_scorer=scorer) as engine:
        drafts = [NewMemory(content=statement, path="facts") for statement in known.statements]
        ids = [written.memory.id for written in engine.remember_many(engine.local_owner(), drafts)]
        answered = [LabelledQuestion(text, (ids[number],)) for text, number in known.answered]
        unanswered = [LabelledQuestion(text, ()) for text in known.unanswered[:UNANSWERABLE]]
        yield Room(engine, embedder, scorer, folder, (*answered, *unanswered))


@pytest.fixture(scope="module")
def one_room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    yield from opened(tmp_path_factory.mktemp("room"), None)


@pytest.fixture
def room(one_room: Room) -> Iterator[Room]:
    """The room of all tests, by the shipped calibration."""
    yield one_room
    one_room.engine.reset_calibration(one_room.engine.local_owner())


@pytest.fixture
def paired(tmp_path: Path) -> Iterator[Room]:
    yield from opened(tmp_path, FakePairScorer())


def misleading(questions: Sequence[LabelledQuestion]) -> list[LabelledQuestion]:
    """The answers of one half exchanged: what a fit learns on a half is wrong for the other."""
    answerable = np.array([bool(each.relevant) for each in questions])
    wrong = own_calibration._halves(answerable)[0] & answerable
    others = [each.relevant for each in reversed(questions) if each.relevant]
    return [replace(each, relevant=others[number]) if wrong[number] else each for number, each in enumerate(questions)]


def test_a_fit_that_is_better_is_in_use_at_once_and_after_a_restart(paired: Room) -> None:
    room = paired
    before = room.confidence()
    report = room.calibrate()
    assert report.better and report.written
    assert (report.answerable, report.unanswerable, report.pooled) == (ANSWERABLE, UNANSWERABLE, ANSWERABLE)
    after = room.confidence()
    assert after != before
    assert room.engine.doctor().calibration.startswith("your own")
    room.engine.close()
    with Engine.open(Settings(data_dir=room.folder), embedder=room.embedder, pair_scorer=room.scorer) as again:
        assert replace(room, engine=again).confidence() == after


def test_a_report_compares_held_out_halves_with_the_shipped_calibration(room: Room) -> None:
    report = room.calibrate(Keep.NEVER)
    assert report.after.squared_error < report.before.squared_error
    assert report.after.ece < report.before.ece
    assert report.after.auroc > 0.9
    for name in OPERATING_POINTS:
        assert 0 <= report.after.hit5[name] <= 1 and 0 <= report.after.false_matches[name] <= 1
    assert report.after.hit5["default"] > report.before.hit5["default"]
    points = report.thresholds_after
    assert points["lenient"] <= points["default"] <= points["strict"]


def test_points_that_so_few_labels_cannot_show_are_named(room: Room) -> None:
    assert room.calibrate(Keep.NEVER).unresolved == ("strict",)


def test_nothing_is_kept_on_a_dry_run(room: Room) -> None:
    before = room.confidence()
    report = room.calibrate(Keep.NEVER)
    assert report.better and not report.written
    assert not room.own.exists()
    assert room.confidence() == before


def test_a_reset_goes_back_to_the_shipped_calibration(room: Room) -> None:
    me, before = room.engine.local_owner(), room.confidence()
    room.calibrate()
    assert room.engine.reset_calibration(me)
    assert room.confidence() == before
    assert not room.engine.reset_calibration(me)


def test_calibrating_again_starts_from_the_shipped_model_and_finds_the_same(room: Room) -> None:
    first = room.calibrate()
    stored = json.loads(room.own.read_text("utf-8"))
    assert room.calibrate() == first
    again = json.loads(room.own.read_text("utf-8"))
    assert again["blend"] == stored["blend"] and again["thresholds"] == stored["thresholds"]


def test_a_fit_that_is_worse_is_only_kept_by_force(room: Room) -> None:
    misled = replace(room, questions=tuple(misleading(room.questions)))
    report = misled.calibrate()
    assert not report.better and not report.written
    assert not room.own.exists()
    assert f"{report.after.squared_error:.4f}" in report.why and f"{report.before.squared_error:.4f}" in report.why
    assert misled.calibrate(Keep.ALWAYS).written
    assert room.own.exists()


def test_with_a_scorer_the_fit_knows_the_pair_score_and_its_scorer(paired: Room) -> None:
    report = paired.calibrate(Keep.ALWAYS)
    assert paired.scorer is not None
    assert report.pair_scorer == paired.scorer.id
    stored = json.loads(paired.own.read_text("utf-8"))
    assert stored["blend"]["scorer"] == paired.scorer.id
    assert stored["blend"]["paired"]["weights"]["pair"] > 0
    assert "pair" not in stored["blend"]["alone"]["weights"]


def test_a_stored_calibration_says_where_it_is_from_and_holds_no_text(room: Room) -> None:
    room.calibrate()
    text = room.own.read_text("utf-8")
    provenance = json.loads(text)["provenance"]
    assert {"made_by", "made_at", "answerable", "unanswerable", "figures", "on_top_of"} <= provenance.keys()
    assert not [each.query for each in room.questions if each.query in text]


@pytest.mark.parametrize(
    ("answerable", "unanswerable"), [(LEAST_ANSWERABLE - 1, UNANSWERABLE), (ANSWERABLE, LEAST_UNANSWERABLE - 1), (0, 0)]
)
def test_too_few_labels_are_refused_with_what_is_needed(room: Room, answerable: int, unanswerable: int) -> None:
    few = (*room.questions[:answerable], *room.questions[ANSWERABLE:][:unanswerable])
    with pytest.raises(InvalidRequest, match=f"at least {LEAST_ANSWERABLE} and {LEAST_UNANSWERABLE}") as caught:
        replace(room, questions=few).calibrate(Keep.ALWAYS)
    assert f"{answerable} answerable and {unanswerable} unanswerable" in str(caught.value)


def _with_first(room: Room, relevant: Sequence[str], space: str | None = None) -> Room:
    first = replace(room.questions[0], relevant=tuple(relevant), space=space)
    return replace(room, questions=(first, *room.questions[1:]))


def test_ids_of_no_memory_in_the_space_are_refused_by_name(room: Room) -> None:
    me = room.engine.local_owner()
    room.engine.create_space(me, "elsewhere")
    known, missing = room.questions[0].relevant[0], new_id()
    forgotten = room.engine.remember(me, NewMemory(content="Gone soon.")).memory.id
    room.engine.forget(me, forgotten, ForgetMode.SOFT)
    for relevant in ([known, missing], [known, "not-an-id"], [forgotten]):
        with pytest.raises(InvalidRequest, match=relevant[-1]):
            _with_first(room, relevant).calibrate()
    with pytest.raises(InvalidRequest, match=known):
        _with_first(room, [known], space="elsewhere").calibrate()
    with pytest.raises(NotFound):
        _with_first(room, [known], space="no-such-space").calibrate()


def test_a_question_that_stands_twice_is_refused(room: Room) -> None:
    again = LabelledQuestion(f"  {room.questions[2].query.upper()}", ())
    with pytest.raises(InvalidRequest, match="question 55 is question 3 again"):
        replace(room, questions=(*room.questions, again)).calibrate()


def test_a_star_is_no_question(room: Room) -> None:
    with pytest.raises(InvalidRequest, match="no question"):
        replace(room, questions=(*room.questions, LabelledQuestion("*", ()))).calibrate()


def test_only_an_administrator_may_calibrate_or_reset(room: Room) -> None:
    reader = replace(room.engine.local_owner(), scopes=frozenset({Scope.READ}))
    with pytest.raises(Forbidden, match="memory:admin"):
        room.engine.calibrate(reader, room.questions)
    with pytest.raises(Forbidden, match="memory:admin"):
        room.engine.reset_calibration(reader)


def test_nothing_is_fitted_while_a_part_is_away(paired: Room) -> None:
    assert paired.scorer is not None
    for part, failure in (
        (paired.embedder, EmbedderUnavailable("away")),
        (paired.scorer, PairScorerUnavailable("away")),
    ):
        part.failure = failure
        with pytest.raises(Unavailable, match="away"):
            paired.calibrate(Keep.ALWAYS)
        part.failure = None
    assert not paired.own.exists()


def test_progress_is_told_question_by_question(room: Room) -> None:
    told: list[tuple[int, int]] = []
    room.engine.calibrate(
        room.engine.local_owner(),
        room.questions,
        keep=Keep.NEVER,
        progress=lambda done, total: told.append((done, total)),
    )
    assert told == [(done, len(room.questions)) for done in range(len(room.questions) + 1)]
