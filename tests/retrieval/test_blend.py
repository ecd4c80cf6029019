"""The few weights that a user's own labels put on top of the shipped model."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.retrieval.calibration.blend import PAIR, SHIPPED, Blend, Sum, fit, logit, sigmoid

RNG = np.random.default_rng(7)


def labels(log_odds: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray(RNG.random(len(log_odds)) < sigmoid(log_odds))


def test_many_labels_recover_the_weights_that_made_them() -> None:
    columns = {SHIPPED: RNG.normal(0, 2, 20_000), "cosine_z": RNG.normal(0, 2, 20_000)}
    found = fit(columns, labels(-1.0 + 0.5 * columns[SHIPPED] + 0.8 * columns["cosine_z"]))
    assert found.intercept == pytest.approx(-1.0, abs=0.1)
    assert found.weights[SHIPPED] == pytest.approx(0.5, abs=0.1)
    assert found.weights["cosine_z"] == pytest.approx(0.8, abs=0.1)


def test_without_labels_the_shipped_model_stays_as_it_is() -> None:
    nothing = np.zeros(0)
    found = fit({SHIPPED: nothing, "cosine_z": nothing}, np.zeros(0, np.bool_))
    assert found == Sum(0.0, {SHIPPED: 1.0, "cosine_z": 0.0})


def test_few_labels_move_little() -> None:
    few = {SHIPPED: np.array([1.0, -1.0])}
    found = fit(few, np.array([False, True]))
    assert abs(found.intercept) < 0.5
    assert 0.3 < found.weights[SHIPPED] < 1.0


def test_a_column_that_speaks_against_is_left_out() -> None:
    columns = {SHIPPED: RNG.normal(0, 1, 2_000), "cosine_z": RNG.normal(0, 1, 2_000)}
    found = fit(columns, labels(columns[SHIPPED] - 2 * columns["cosine_z"]))
    assert found.weights.keys() == {SHIPPED}
    assert fit({SHIPPED: -columns[SHIPPED]}, labels(5 * columns[SHIPPED])).weights == {}


def test_labels_that_one_column_separates_still_give_finite_weights() -> None:
    column = np.concatenate([np.full(50, 5.0), np.full(50, -5.0)])
    found = fit({SHIPPED: column}, column > 0)
    assert np.isfinite(found.intercept) and 0 < found.weights[SHIPPED] < 10


def test_a_record_without_a_pair_score_is_judged_by_the_sum_that_needs_none() -> None:
    blend = Blend(Sum(0.0, {SHIPPED: 1.0}), Sum(0.0, {PAIR: 1.0}), "scorer")
    sure = blend.confidence(np.array([0.3, 0.3]), {}, np.array([np.nan, 0.9]))
    assert sure == pytest.approx([0.3, 0.9])


def test_a_blend_comes_back_from_its_stored_form() -> None:
    blend = Blend(Sum(-0.5, {SHIPPED: 1.25}), Sum(0.5, {SHIPPED: 1.0, PAIR: 0.75}), "scorer")
    assert Blend.load(json.loads(json.dumps(blend.stored()))) == blend


@pytest.mark.parametrize("fault", [{"scorer": None}, {"paired": None}, {"alone": None}])
def test_a_stored_blend_of_half_a_scorer_is_refused(fault: dict[str, None]) -> None:
    stored = Blend(Sum(0.0, {}), Sum(0.0, {}), "scorer").stored()
    with pytest.raises(ValueError, match="names their scorer"):
        Blend.load(stored | fault)


def test_log_odds_of_certainty_are_finite() -> None:
    assert np.isfinite(logit(np.array([0.0, 1.0]))).all()
    assert sigmoid(logit(np.array([0.2, 0.8]))) == pytest.approx([0.2, 0.8])
