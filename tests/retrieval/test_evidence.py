"""What evidence says of a record for a question."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.embedding.protocol import Vectors
from engine.retrieval.evidence.features import TYPICAL_NEIGHBOURS, nearest_neighbours
from engine.retrieval.evidence.gathering import FEATURES, Candidate, Evidence, SpaceView, gather
from engine.retrieval.evidence.question import Question, understand

DIMENSION = 8


def unit(*values: float) -> Vectors:
    vector = np.zeros(DIMENSION, np.float32)
    vector[: len(values)] = values
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


def candidate(text: str, name: str = "a", *, path: str = "inbox", dense: float = 0.3, content: str = "") -> Candidate:
    return Candidate(name, content or text, text, path, dense, 1.0, 0.5, frozenset())


def view(records: int = 100, frequencies: dict[str, int] | None = None) -> SpaceView:
    return SpaceView(records, 20.0, frequencies or {}, np.zeros((0, DIMENSION), np.float32))


def ask(text: str, *texts: str, space: SpaceView | None = None) -> list[Evidence]:
    candidates = [candidate(each, str(place)) for place, each in enumerate(texts)]
    return gather(understand(text, unit(1.0)), candidates, space or view())


def feature(evidence: Evidence, name: str) -> float:
    return evidence.features[FEATURES.index(name)]


def test_a_record_with_all_words_is_covered_and_one_with_none_is_not() -> None:
    full, none = ask("mail relay port", "The mail relay listens on port 587.", "Code owners approve changes.")
    assert full.coverage == pytest.approx(1.0)
    assert none.coverage == 0.0
    assert none.missing_terms == ("relay", "mail", "port") or set(none.missing_terms) == {"mail", "relay", "port"}


def test_other_endings_of_a_word_cover_it() -> None:
    (evidence,) = ask("renewing certificates", "Certificate renewals are automated.")
    assert evidence.coverage == pytest.approx(1.0)


def test_a_rare_missing_word_costs_more_than_a_common_one() -> None:
    frequencies = {"window": 90, "zephyrlock": 1}
    rare, common = ask("zephyrlock window", "a window", "the zephyrlock", space=view(100, frequencies))
    assert rare.coverage < common.coverage


def test_a_synonym_supports_a_word_without_covering_it() -> None:
    related, unrelated = ask("buy a car", "She decided to purchase the vehicle.", "The python sleeps on stones.")
    assert related.coverage == unrelated.coverage == 0.0
    assert feature(related, "support") > 0.5 > feature(unrelated, "support")


def test_a_sibling_identifier_is_missing_and_the_exact_one_is_met() -> None:
    sibling, exact = ask("What does PAY_TIMEOUT_0x1F mean?", "PAY_TIMEOUT_0x2F: no answer.", "PAY_TIMEOUT_0x1F: late.")
    assert sibling.missing_identifiers == ("pay_timeout_0x1f",)
    assert feature(sibling, "identifiers_met") == 0.0
    assert exact.missing_identifiers == ()
    assert feature(exact, "identifiers_met") == 1.0


def test_an_identifier_is_found_anywhere_in_a_long_record_and_in_its_path() -> None:
    question = understand("src/app/main.py", unit(1.0))
    long = candidate("some passage", content="some passage, and far below: src/app/main.py is generated")
    placed = candidate("entry point of the service", path="src/app/main.py")
    absent = candidate("some passage", content="some passage, and far below: src/app/main.pyc")
    evidence = gather(question, [long, placed, absent], view())
    assert [each.missing_identifiers for each in evidence] == [(), (), ("src/app/main.py",)]


def test_words_of_the_path_count_when_path_and_passage_hold_all_that_is_asked() -> None:
    question = understand("billing projects billing", unit(1.0))
    whole, partly = gather(
        question,
        [candidate("Rounds half up.", path="projects/billing"), candidate("Rounds half up.", path="projects/mail")],
        view(),
    )
    assert whole.coverage == pytest.approx(1.0)
    assert partly.coverage == 0.0


def test_padding_that_clients_append_asks_nothing_of_a_record() -> None:
    plain = understand("docker swarm ports", unit(1.0))
    padded = understand("docker swarm ports memory memories recall saved facts", unit(1.0))
    assert padded.words == plain.words
    assert understand("memory leak in the worker", unit(1.0)).words == ("memori", "leak", "worker")


@pytest.mark.parametrize(
    ("text", "foreign"),
    [
        ("When does the library close?", False),
        ("¿Cuándo cierra la biblioteca los sábados?", True),
        ("Wann wird der Torcode zum nächsten Mal geändert?", True),
        ("restart nginx after the upgrade", False),
        ("Übergröße ändern", False),
        ("図書館は何時に閉まりますか", True),
        ("Когда закрывается библиотека?", True),
        ("متى تغلق المكتبة؟", True),
        ("nginx の upstream timeout", False),
        ("TS2345 是什么意思", True),
        ("1334?", False),
    ],
)
def test_a_question_that_is_not_in_english_is_told_apart(text: str, foreign: bool) -> None:
    (evidence,) = ask(text, "Some record.")
    assert (feature(evidence, "foreign") >= 0.5) == foreign


def test_names_inside_a_question_are_missed_in_records_about_someone_else() -> None:
    right, wrong = ask(
        "which seat does Bram prefer on a train", "Bram prefers a window seat.", "Ilse prefers a window seat."
    )
    assert feature(right, "names_missing") == 0.0
    assert feature(wrong, "names_missing") == 1.0


def test_a_sample_of_one_vector_says_nothing_of_neighbours() -> None:
    assert nearest_neighbours(np.stack([unit(1.0)])) == TYPICAL_NEIGHBOURS
    alike = np.stack([unit(1.0, 0.01 * step) for step in range(200)])
    assert nearest_neighbours(alike)[0] > 0.9


def test_a_question_without_a_word_is_answered_by_nothing() -> None:
    (evidence,) = ask("?!", "Some record.")
    assert evidence.coverage == 0.0
    assert evidence.matched_terms == ()


def test_reasons_name_what_matched_and_what_is_missing() -> None:
    (evidence,) = ask("password rotation of staging Postgres", "Staging Postgres is version 15.")
    said = " ".join(evidence.reasons)
    assert "Postgres" in said
    assert "'password'" in said


texts = st.text(min_size=1, max_size=80)


@given(query=texts, records=st.lists(texts, min_size=1, max_size=5), total=st.integers(1, 10_000))
def test_every_feature_is_finite_for_any_text(query: str, records: Sequence[str], total: int) -> None:
    evidence = ask(query, *records, space=view(total))
    assert np.isfinite(np.array([each.features for each in evidence])).all()
    assert all(0.0 <= each.coverage <= 1.0 + 1e-9 for each in evidence)


def test_twenty_records_are_judged_within_a_few_milliseconds() -> None:
    sentence = "the quick brown fox jumps over a lazy dog while seven wizards brew strong coffee near old harbour walls"
    candidates = [candidate(f"{sentence} {sentence[place:]} w{place}", str(place)) for place in range(20)]
    question = understand("where do the seven wizards brew their coffee", unit(1.0))
    gather(question, candidates, view())
    assert min(_seconds(question, candidates) for _ in range(7)) < 0.02


def _seconds(question: Question, candidates: Sequence[Candidate]) -> float:
    start = time.perf_counter()
    gather(question, candidates, view())
    return time.perf_counter() - start
