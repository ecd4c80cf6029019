"""What of a question is only form, which numbers name a thing, and which dates a record meets."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from engine.domain.outcome import Verdict
from engine.retrieval import policy
from engine.retrieval.evidence.frames import labelled_numbers
from engine.retrieval.evidence.gathering import Candidate, Evidence, SpaceView, gather
from engine.retrieval.evidence.question import Question, understand

VECTOR = np.full(4, 0.5, np.float32)


def question(text: str) -> Question:
    return understand(text, VECTOR)


def evidence(text: str, record: str, happened: datetime | None = None) -> Evidence:
    view = SpaceView(100, 20.0, {}, np.zeros((0, 4), np.float32))
    candidate = Candidate("a", record, record, "inbox", 0.3, 1.0, 0.5, frozenset(), happened)
    return gather(question(text), [candidate], view)[0]


@pytest.mark.parametrize(
    ("framed", "bare"),
    [
        ("What kind of boat does Ilse own?", "boat Ilse own"),
        ("How many boats does Ilse own?", "boats Ilse own"),
        ("Do you remember when we sold the boat?", "sold the boat"),
        ("Can you tell me where the boat lies?", "the boat lies"),
        ("Where can I find the boat keys?", "boat keys"),
        ("what does frobnication mean?", "frobnication"),
        ("缆绳是什么意思", "缆绳"),
    ],
)
def test_the_frame_of_a_question_is_no_part_of_what_it_asks_for(framed: str, bare: str) -> None:
    assert question(framed).words == question(bare).words


@pytest.mark.parametrize("text", ["How old is the boat?", "How far is the harbour?", "what is the name of the boat"])
def test_words_that_say_which_property_is_asked_for_stay(text: str) -> None:
    assert len(question(text).words) == 2


def test_a_question_that_is_nothing_but_a_frame_keeps_its_words() -> None:
    assert question("how many").words == ("mani",)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("what does error 1334 mean", {"1334"}),
        ("error code 1334", {"1334"}),
        ("is port 8080 free?", {"8080"}),
        ("who merged PR #812", {"812"}),
        ("错误 1378 是什么意思", {"1378"}),
        ("order 200 chairs", set()),
        ("issue 300 tokens", set()),
        ("error 5.2 percent", set()),
        ("a room of 40 square metres", set()),
        ("in case 20% is too much", set()),
        ("we met in 2024", set()),
    ],
)
def test_a_number_names_a_thing_by_the_word_before_it(text: str, numbers: set[str]) -> None:
    assert labelled_numbers(text) == numbers


def test_another_number_under_the_same_label_is_vetoed() -> None:
    asked = question("what does error 1334 mean")
    records = ["error TS1334: a unique symbol is not allowed", "error TS1335: a rest element is not allowed"]
    found = [evidence(asked.text, record) for record in records]
    verdicts = [each.verdict for each in policy.judge(asked, found, np.array([0.9, 0.9]), 0.5)]
    assert verdicts == [Verdict.RETURNED, Verdict.IDENTIFIER_ABSENT]


def test_the_time_of_an_event_meets_the_date_that_is_asked_for() -> None:
    asked, record = "When did Ilse repair the mast in June 2023?", "Ilse: I repaired the mast today."
    in_june = evidence(asked, record, datetime(2023, 6, 12, tzinfo=UTC))
    in_july = evidence(asked, record, datetime(2023, 7, 12, tzinfo=UTC))
    assert in_june.missing_terms == ()
    assert in_july.missing_terms == ("June",)
    assert set(evidence(asked, record).missing_terms) == {"June", "2023"}


def test_the_time_of_an_event_meets_no_number_of_a_question_without_a_date() -> None:
    found = evidence("Did 12 people repair the mast?", "Ilse repaired the mast.", datetime(2023, 6, 12, tzinfo=UTC))
    assert "12" in found.missing_terms
