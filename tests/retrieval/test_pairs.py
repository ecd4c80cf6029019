"""What a pair scorer changes in an answer, and what happens when it does not answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.domain.memory import NewMemory
from engine.domain.outcome import Leg, Matches, NoMatch
from engine.domain.query import Mode, Query
from engine.embedding.fake import FakeEmbedder
from engine.engine import Engine
from engine.errors import PairScorerUnavailable
from engine.retrieval.calibration.blend import Blend, Sum
from engine.retrieval.calibration.calibrator import OWN_CALIBRATION, Calibrator, shipped_form
from engine.retrieval.pairs.fake import FakePairScorer
from engine.settings import Settings

STORED = (
    "The harbour crane is inspected every March.",
    "The harbour office keeps the tide tables of March.",
    "The bridge paint is renewed every decade.",
)
QUESTION = "When is the harbour crane inspected?"
AWAY = PairScorerUnavailable("the cross-encoder is away")


class Partial(FakePairScorer):
    """Sure of one passage, whatever the question."""

    def __init__(self, favourite: str) -> None:
        super().__init__()
        self._favourite = favourite

    def score(self, question: str, passages: Sequence[str]) -> NDArray[np.float64]:
        return np.array([8.0 if each == self._favourite else -8.0 for each in passages])


def opened(folder: Path, scorer: FakePairScorer | None) -> Engine:
    engine = Engine.open(Settings(data_dir=folder, flush_seconds=0.05), embedder=FakeEmbedder(), pair_scorer=scorer)
    if not engine.stats(engine.local_owner())[0].records:
        engine.remember_many(engine.local_owner(), [NewMemory(content=each, path="notes") for each in STORED])
    return engine


def ask(engine: Engine, mode: Mode = Mode.FORGIVING, text: str = QUESTION) -> Matches | NoMatch:
    return engine.search(engine.local_owner(), Query(text=text, mode=mode, explain=True))


def contents(outcome: Matches | NoMatch) -> list[str]:
    assert isinstance(outcome, Matches)
    return [hit.memory.content for hit in outcome.hits]


@pytest.fixture
def scorer() -> FakePairScorer:
    return FakePairScorer()


@pytest.fixture
def engine(tmp_path: Path, scorer: FakePairScorer) -> Iterator[Engine]:
    with opened(tmp_path, scorer) as engine:
        yield engine


@pytest.fixture
def needing(tmp_path: Path, scorer: FakePairScorer) -> Iterator[Engine]:
    """An engine whose own calibration believes the pair score alone."""
    write_own(tmp_path, scorer.id)
    with opened(tmp_path, scorer) as engine:
        yield engine


def write_own(folder: Path, scorer_id: str) -> None:
    blend = Blend(Sum(-1.0, {"log_odds": 1.0}), Sum(0.0, {"pair": 1.0}), scorer_id)
    form = shipped_form(FakeEmbedder().id) | {"embedder": FakeEmbedder().id, "blend": blend.stored()}
    (folder / OWN_CALIBRATION).write_text(json.dumps(form), "utf-8")


def test_a_pair_score_is_told_as_a_signal_of_every_record(engine: Engine) -> None:
    outcome = ask(engine)
    assert isinstance(outcome, Matches)
    pairs = {each.memory_id: each.signals.pair for each in outcome.trace}
    assert len(pairs) == len(STORED)
    assert all(pair is not None and 0 < pair < 1 for pair in pairs.values())
    assert outcome.hits[0].signals.pair == max(pair or 0.0 for pair in pairs.values())
    assert any("read together with the question" in reason for reason in outcome.hits[0].reasons)


def test_without_a_scorer_there_is_no_pair_score(tmp_path: Path) -> None:
    with opened(tmp_path, None) as engine:
        assert all(each.signals.pair is None for each in ask(engine).trace)


def test_a_pair_score_that_the_calibration_does_not_know_only_reorders(tmp_path: Path) -> None:
    with opened(tmp_path, None) as engine:
        engine.remember(engine.local_owner(), NewMemory(content="The harbour crane is inspected every May."))
        plain = ask(engine)
    second = contents(plain)[1]
    with opened(tmp_path, Partial(second)) as engine:
        partial = ask(engine)
    assert {each.memory_id: each.confidence for each in plain.trace} == {
        each.memory_id: each.confidence for each in partial.trace
    }
    assert contents(partial)[0] == second


def test_a_scorer_that_is_away_is_named_and_changes_nothing_that_a_confidence_needs(
    engine: Engine, scorer: FakePairScorer
) -> None:
    scorer.failure = AWAY
    outcome = ask(engine)
    assert [(each.leg, each.reason) for each in outcome.degraded] == [(Leg.PAIR, str(AWAY))]
    assert contents(outcome)[0] == STORED[0]
    unknown = ask(engine, Mode.STRICT, "penguin feathers waterproof")
    assert isinstance(unknown, NoMatch)
    assert [each.leg for each in unknown.degraded] == [Leg.PAIR]


def test_a_calibration_that_knows_the_pair_score_makes_it_part_of_the_confidence(needing: Engine) -> None:
    outcome = ask(needing)
    assert [each.confidence for each in outcome.trace] == pytest.approx(
        [each.signals.pair for each in outcome.trace], abs=1e-4
    )


def test_strict_does_not_answer_without_a_score_that_its_threshold_was_fitted_with(
    needing: Engine, scorer: FakePairScorer
) -> None:
    scorer.failure = AWAY
    with pytest.raises(PairScorerUnavailable):
        ask(needing, Mode.STRICT)
    forgiving = ask(needing, Mode.FORGIVING)
    assert contents(forgiving)[0] == STORED[0]
    assert [each.leg for each in forgiving.degraded] == [Leg.PAIR]


@pytest.mark.parametrize("in_use", ["another-scorer", None])
def test_a_calibration_for_another_scorer_is_left_aside_with_a_notice(
    needing: Engine, tmp_path: Path, scorer: FakePairScorer, in_use: str | None
) -> None:
    embedder = FakeEmbedder().id
    assert Calibrator.load(embedder, tmp_path, scorer.id).own
    calibrator = Calibrator.load(embedder, tmp_path, in_use)
    assert not calibrator.own and not calibrator.needs_pairs
    assert (
        calibrator.notice is not None and scorer.id in calibrator.notice and "memvouch calibrate" in calibrator.notice
    )
    assert calibrator.notice in calibrator.origin


def test_doctor_tells_the_scorer_and_where_the_confidences_are_from(engine: Engine, scorer: FakePairScorer) -> None:
    report = engine.doctor()
    assert report.pair_scorer == scorer.id
    assert report.calibration.startswith("shipped")


def test_a_query_read_in_windows_says_what_the_scorer_read(engine: Engine) -> None:
    outcome = ask(engine, text="harbour crane " + "unrelated filler words " * 200)
    assert any("the pair scorer read the first" in note for note in outcome.notes)
