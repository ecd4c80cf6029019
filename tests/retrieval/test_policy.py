"""Strict's decision."""

from __future__ import annotations

import numpy as np

from engine.domain.outcome import Verdict
from engine.retrieval.evidence.gathering import FEATURES, Evidence
from engine.retrieval.evidence.question import understand
from engine.retrieval.policy import judge

VECTOR = np.zeros(4, np.float32)


def evidence(missing: tuple[str, ...] = ()) -> Evidence:
    return Evidence((0.0,) * len(FEATURES), 0.0, 0.0, (), (), missing, ("has 1 of 2 words: relay",))


def verdicts(query: str, confidence: list[float], *missing: tuple[str, ...], threshold: float = 0.5) -> list[Verdict]:
    pool = [evidence(each) for each in missing] or [evidence() for _ in confidence]
    judged = judge(understand(query, VECTOR), pool, np.array(confidence), threshold)
    return [each.verdict for each in judged]


def test_a_record_at_the_threshold_is_returned_and_one_below_is_not() -> None:
    assert verdicts("mail relay", [0.5, 0.499]) == [Verdict.RETURNED, Verdict.BELOW_THRESHOLD]


def test_a_near_miss_identifier_is_vetoed_whatever_the_threshold() -> None:
    assert verdicts("E-4417", [0.99], ("e-4417",), threshold=0.0) == [Verdict.IDENTIFIER_ABSENT]


def test_a_record_that_names_one_of_two_identifiers_is_judged_by_its_confidence() -> None:
    found = verdicts("nginx.conf and app.toml", [0.9, 0.9], ("app.toml",), ("app.toml", "nginx.conf"))
    assert found == [Verdict.RETURNED, Verdict.IDENTIFIER_ABSENT]


def test_a_rejected_record_says_how_far_it_was_from_the_threshold() -> None:
    (judged,) = judge(understand("mail relay", VECTOR), [evidence()], np.array([0.31]), 0.5)
    assert judged.reasons == ("has 1 of 2 words: relay", "confidence 0.31 is below 0.50")
