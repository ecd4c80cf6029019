"""The fastembed pair scorer, run for real on a tiny cross-encoder that is written here."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path

import pytest

from engine.domain.memory import NewMemory
from engine.domain.outcome import Leg, Matches
from engine.domain.query import Mode, Query
from engine.embedding.fake import FakeEmbedder
from engine.embedding.quiet import SWITCH
from engine.engine import Engine
from engine.errors import PairScorerUnavailable, SetupError
from engine.retrieval.pairs import factory, fastembed_scorer
from engine.retrieval.pairs.fastembed_scorer import FastEmbedPairScorer
from engine.settings import Settings
from tests.retrieval import tiny_cross_encoder
from tests.retrieval.tiny_cross_encoder import OFFSET

pytest.importorskip("fastembed", reason="the fastembed extra is not installed")

NAME = "memvouch-tests/tiny-cross-encoder"
KNOWN = "Xenova/ms-marco-MiniLM-L-6-v2"


@pytest.fixture(scope="module")
def model_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from fastembed.common.model_description import ModelSource
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    if NAME not in {description["model"] for description in TextCrossEncoder.list_supported_models()}:
        TextCrossEncoder.add_custom_model(NAME, ModelSource(hf="memvouch-tests/none"), model_file="model.onnx")
    return tiny_cross_encoder.write(tmp_path_factory.mktemp("tiny-cross-encoder"))


@pytest.fixture
def scorer(model_path: Path) -> FastEmbedPairScorer:
    return FastEmbedPairScorer(NAME, threads=1, model_path=model_path)


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path))


def test_it_gives_the_scores_of_the_model_in_order(scorer: FastEmbedPairScorer) -> None:
    scores = scorer.score("harbour crane", ["penguin feathers", "the crane", "the harbour crane is inspected"])
    assert scores.tolist() == [OFFSET, OFFSET + 2, OFFSET + 4]
    assert scorer.id == f"fastembed:{NAME}"
    assert scorer.score("harbour", []).shape == (0,)


def test_a_score_depends_on_its_own_pair_only(scorer: FastEmbedPairScorer) -> None:
    alone = scorer.score("harbour crane", ["the crane"])
    beside = scorer.score("harbour crane", ["the crane", "crane " * 60])
    assert alone[0] == beside[0]


def test_a_text_longer_than_the_model_reads_is_judged_by_its_beginning(scorer: FastEmbedPairScorer) -> None:
    within, beyond = scorer.score("harbour crane", ["crane " + "the " * 200, "the " * 200 + "crane"])
    assert (within, beyond) == (OFFSET + 2, OFFSET)


def test_nothing_is_loaded_before_it_is_needed(model_path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "filled-later"
    scorer = FastEmbedPairScorer(NAME, model_path=folder)
    folder.symlink_to(model_path)
    scorer.warm_up()
    folder.unlink()
    assert scorer.score("crane", ["crane"]).tolist() == [OFFSET + 2]


@pytest.mark.usefixtures("offline")
def test_a_model_that_cannot_be_fetched_is_an_outage_that_says_what_to_do() -> None:
    scorer = FastEmbedPairScorer(KNOWN)
    with pytest.raises(PairScorerUnavailable, match=r"FASTEMBED_CACHE_PATH.*MEMVOUCH_PAIR_SCORER"):
        scorer.score("harbour", ["crane"])


def test_a_load_that_failed_is_not_tried_again_at_once(
    model_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = tmp_path / "later"
    scorer = FastEmbedPairScorer(NAME, model_path=later)
    with pytest.raises(PairScorerUnavailable):
        scorer.score("harbour", ["crane"])
    later.symlink_to(model_path)
    with pytest.raises(PairScorerUnavailable):
        scorer.score("harbour", ["crane"])
    monkeypatch.setattr(fastembed_scorer, "RETRY_AFTER_SECONDS", 0.0)
    assert scorer.score("crane", ["crane"]).tolist() == [OFFSET + 2]


def test_nobody_waits_long_for_a_load_under_way(scorer: FastEmbedPairScorer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fastembed_scorer, "_PATIENCE_SECONDS", 0.01)
    scorer._loading.acquire()
    try:
        with pytest.raises(PairScorerUnavailable, match="still being loaded"):
            scorer.score("crane", ["crane"])
    finally:
        scorer._loading.release()
    assert scorer.score("crane", ["crane"]).tolist() == [OFFSET + 2]


def test_telemetry_is_off_before_a_model_is_loaded(model_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SWITCH, raising=False)
    FastEmbedPairScorer(NAME, model_path=model_path)
    assert os.environ[SWITCH] == "1"


def test_a_model_that_fastembed_does_not_know_is_a_setup_error_that_lists_the_others() -> None:
    with pytest.raises(SetupError, match=f"no cross-encoder named nobody/nothing; it has .*{KNOWN}"):
        FastEmbedPairScorer("nobody/nothing")


def test_without_the_extra_the_error_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed.rerank.cross_encoder", None)
    with pytest.raises(SetupError, match=r"pip install 'memvouch\[fastembed\]'"):
        FastEmbedPairScorer(NAME)


def test_the_setting_chooses_a_scorer_or_none(tmp_path: Path) -> None:
    assert factory.create(Settings(data_dir=tmp_path)) is None
    chosen = factory.create(Settings(data_dir=tmp_path, pair_scorer=f"fastembed:{KNOWN}"))
    assert chosen is not None and chosen.id == f"fastembed:{KNOWN}"


@pytest.mark.parametrize("setting", ["", "fastembed:", "openai:x", KNOWN])
def test_a_setting_that_names_no_scorer_is_refused(tmp_path: Path, setting: str) -> None:
    with pytest.raises(SetupError, match="use fastembed:<model>"):
        factory.create(Settings(data_dir=tmp_path, pair_scorer=setting))


def test_a_search_reads_its_pool_with_the_model(scorer: FastEmbedPairScorer, tmp_path: Path) -> None:
    with Engine.open(Settings(data_dir=tmp_path), embedder=FakeEmbedder(), pair_scorer=scorer) as engine:
        me = engine.local_owner()
        engine.remember_many(me, [NewMemory(content="The harbour crane is inspected"), NewMemory(content="Penguin")])
        outcome = engine.search(me, Query(text="harbour crane", mode=Mode.FORGIVING, explain=True))
        pairs = {each.signals.pair for each in outcome.trace}
    assert sorted(pair for pair in pairs if pair is not None) == pytest.approx(
        [1 / (1 + math.exp(-(OFFSET + 2 * shared))) for shared in (0, 2)]
    )


@pytest.mark.usefixtures("offline")
def test_an_engine_whose_setting_names_an_absent_model_answers_without_it_and_says_so(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data", pair_scorer=f"fastembed:{KNOWN}")
    with Engine.open(settings, embedder=FakeEmbedder()) as engine:
        me = engine.local_owner()
        engine.remember(me, NewMemory(content="The harbour crane is inspected every March."))
        outcome = engine.search(me, Query(text="harbour crane", mode=Mode.FORGIVING))
        assert isinstance(outcome, Matches)
        assert [each.leg for each in outcome.degraded] == [Leg.PAIR]
        assert "FASTEMBED_CACHE_PATH" in outcome.degraded[0].reason
