"""What confidences are worth, on examples that can be counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from engine.retrieval.calibration import measures

CONFIDENCE = np.array([[0.9, 0.4, 0.0], [0.2, 0.7, 0.1]])
GOLD = np.array([[False, True, False], [False, True, False]])


def test_a_gold_record_counts_as_found_if_it_reaches_the_threshold() -> None:
    assert measures.found(CONFIDENCE, GOLD, 0.4).tolist() == [True, True]
    assert measures.found(CONFIDENCE, GOLD, 0.5).tolist() == [False, True]
    assert measures.found(CONFIDENCE, GOLD, np.array([0.4, 0.8])).tolist() == [True, False]


def test_only_the_first_five_are_shown() -> None:
    sure = np.linspace(0.9, 0.4, 6)[None, :]
    assert not measures.found(sure, np.arange(6)[None, :] == 5, 0.0)[0]
    assert measures.found(sure, np.arange(6)[None, :] == 4, 0.0)[0]


def test_the_best_record_is_the_surest() -> None:
    sure, right = measures.best(CONFIDENCE, GOLD)
    assert sure.tolist() == [0.9, 0.7]
    assert right.tolist() == [False, True]


def test_auroc_counts_pairs_in_order_and_ties_half() -> None:
    assert measures.auroc(np.array([0.9, 0.5]), np.array([0.5, 0.1])) == pytest.approx(3.5 / 4)
    assert measures.auroc(np.array([]), np.array([0.1])) is None


def test_calibration_error_weighs_the_gap_of_each_bin_by_its_questions() -> None:
    sure, right = np.array([0.95, 0.95, 0.15, 0.15]), np.array([True, False, False, False])
    assert measures.calibration_error(sure, right) == pytest.approx((0.45 * 2 + 0.15 * 2) / 4)
    assert measures.calibration_error(np.array([]), np.array([], np.bool_)) is None


def test_squared_error_is_that_of_a_probability() -> None:
    assert measures.squared_error(np.array([0.8, 0.4]), np.array([True, False])) == pytest.approx((0.04 + 0.16) / 2)


def test_a_threshold_lets_at_most_the_rate_through_and_no_lower_one_does() -> None:
    wrong = np.arange(100) / 100 + 0.001
    for rate in (0.15, 0.05, 0.01, 0.0):
        found = measures.threshold_for(np.array([0.1]), wrong, rate)
        assert (wrong >= found).mean() <= rate
        assert (wrong >= found - 0.005).mean() > rate
    assert measures.threshold_for(np.ones(3), np.ones(3), 0.5) == 1.0


def test_a_threshold_keeps_away_from_both_sides() -> None:
    right, wrong = np.array([0.1, 0.6, 0.9]), np.array([0.05, 0.2])
    assert measures.threshold_for(right, wrong, 0.0) == pytest.approx((0.205 + 0.6) / 2)


def test_the_place_of_the_best_answer_counts_from_one() -> None:
    scores = np.array([[0.2, 0.9, 0.5], [0.2, 0.9, 0.5], [0.2, 0.9, 0.5]])
    gold = np.array([[True, False, True], [False, True, False], [False, False, False]])
    assert measures.places(scores, gold).tolist() == [2.0, 1.0, np.inf]
