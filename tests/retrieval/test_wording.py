"""What a person is told of a passage beside a question."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.retrieval.evidence.question import understand
from engine.retrieval.evidence.reading import read
from engine.retrieval.evidence.wording import reasons, word
from engine.text.analysis import TermKind, analyse

VECTOR = np.zeros(4, np.float32)
VOCABULARY = (
    *("MinIO", "which", "does", "many", "how", "the", "bucket", "Gdansk", "hotel", "HRN-428", "HRN-427", "port"),
    *("587", "25", "parseHTTPHeader", "src/app/main.py", "2025-03-04", "error", "1334", "10:30", "東京の天気"),
)
SENTENCES = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=9).map(" ".join)


def told(question: str, passage: str, *, whole: bool = True) -> str:
    asked, reading = understand(question, VECTOR), read(passage)
    return " · ".join(reasons(asked, reading, word(asked, reading, {}), passage, 0.5, whole=whole))


@given(SENTENCES, SENTENCES)
def test_a_matched_word_is_in_both_texts_and_a_missing_one_only_in_the_question(question: str, passage: str) -> None:
    asked = understand(question, VECTOR)
    wording = word(asked, read(passage), {})
    held = {term.text for term in analyse(passage).terms}
    forms = asked.spelled
    assert sorted((*wording.matched, *wording.missing)) == sorted(forms.values())
    assert all(each in question for each in forms.values())
    for form, surface in forms.items():
        assert (surface in wording.matched) == (form in held)


@given(SENTENCES, SENTENCES)
def test_no_piece_of_an_identifier_or_a_joined_word_is_named(question: str, passage: str) -> None:
    asked = understand(question, VECTOR)
    wording = word(asked, read(passage), {})
    whole = {term.surface for term in asked.analysis.terms if term.kind is not TermKind.PART}
    named = {*wording.matched, *wording.missing}
    assert named <= whole
    assert not named & {"Min", "IO", "HTTP", "Header", "app", "main.py", "HRN", "2025"}


def test_a_joined_word_counts_once() -> None:
    assert "has 1 of 2 words: MinIO" in told("MinIO bucket", "MinIO runs on the old server.")


def test_question_words_are_never_named_as_missing() -> None:
    found = told("Which hotel does Ada book, and how many rooms?", "The ferry leaves at noon.")
    assert "'hotel'" in found
    assert all(f"'{each}'" not in found.casefold() for each in ("which", "does", "how", "many", "and"))


def test_a_sibling_identifier_or_date_is_named_beside_the_one_asked_for() -> None:
    assert "asks for HRN-428, record says HRN-427" in told("cause of HRN-428", "HRN-427 was a full disk.")
    assert "asks for 2025-03-04, record says 2025-04-03" in told("release of 2025-03-04", "Released on 2025-04-03.")


def test_another_number_beside_the_same_word_is_named() -> None:
    found = told("Who uses port 587?", "The relay listens on port 25.")
    assert "asks for 587, record says 25" in found
    assert "'587'" not in found


def test_a_number_that_counts_something_else_is_no_conflict() -> None:
    assert "record says" not in told("order 200 chairs", "The office has 12 desks.")


def test_of_a_part_of_a_record_only_the_part_is_said_to_lack_a_word() -> None:
    assert "this passage lacks 'hotel'" in told("hotel Gdansk", "The team meets in Gdansk.", whole=False)
    assert "no mention of 'hotel'" in told("hotel Gdansk", "The team meets in Gdansk.")
