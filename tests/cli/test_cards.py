"""What a person sees of domain values."""

from __future__ import annotations

import io
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from cli import cards, documents
from engine.domain.memory import Kind, Memory, MemoryType, Status
from engine.domain.outcome import (
    Considered,
    Degraded,
    Hit,
    Label,
    Leg,
    Matches,
    Nearest,
    NoMatch,
    NoMatchReason,
    Outcome,
    Passage,
    Signals,
    Verdict,
)

MOMENT = datetime(2024, 5, 1, 9, 30, tzinfo=UTC)
SIGNALS = Signals(dense=0.5, lexical=2.0, coverage=1.0, legs=frozenset({Leg.DENSE}))


def memory(content: str, path: str = "team/release") -> Memory:
    return Memory(
        id="018f6f3e-0000-7000-8000-000000000001",
        space_id="018f6f3e-0000-7000-8000-00000000000a",
        content=content,
        path=path,
        memory_type=MemoryType.SEMANTIC,
        kind=Kind.MEMORY,
        status=Status.ACTIVE,
        bucket="work",
        scope=None,
        team_id=None,
        importance=None,
        confidence=None,
        semantic_key=None,
        state_key=None,
        source=None,
        source_id=None,
        agent_id=None,
        agent_instance_hash=None,
        item_status=None,
        due_at=None,
        event_time=None,
        created_at=MOMENT,
        updated_at=MOMENT,
        expires_at=None,
        version=1,
        access_count=0,
        last_accessed_at=None,
        metadata={},
        provenance={},
    )


def hit(content: str, label: Label = Label.STRONG, passage: Passage | None = None) -> Hit:
    return Hit(memory(content), 0.9, label, SIGNALS, passage or Passage(0, len(content)), reasons=("names E1",))


def shown(outcome: Outcome, question: str = "when?", *, strict: bool = True, width: int = 100) -> str:
    stream = io.StringIO()
    cards.show_outcome(Console(file=stream, width=width, highlight=False), outcome, question, {}, strict=strict)
    return stream.getvalue()


def no_match(reason: NoMatchReason, **more: tuple[str, ...]) -> NoMatch:
    return NoMatch(reason=reason, threshold=0.5, considered=7, best_confidence=0.31, **more)  # type: ignore[arg-type]


def test_a_hit_shows_how_sure_where_what_why_and_its_id() -> None:
    text = shown(Matches(hits=(hit("The train leaves."),), threshold=0.5, considered=1))
    for part in ("0.90 strong", "team/release", "The train leaves.", "names E1", memory("x").id):
        assert part in text


@pytest.mark.parametrize("reason", list(NoMatchReason))
def test_every_no_match_says_so_with_its_reason_and_a_next_step(reason: NoMatchReason) -> None:
    text = shown(no_match(reason))
    assert text.startswith("No match. ")
    assert reason.value in text
    assert "next" in text


def test_a_no_match_says_how_near_it_came_and_offers_recall() -> None:
    text = shown(no_match(NoMatchReason.BELOW_THRESHOLD), 'say "hi"')
    assert "0.31 of 7 considered" in text
    assert "0.50" in text
    assert r'memvouch recall "say \"hi\""' in text


def test_an_absent_identifier_is_named_as_it_was_asked() -> None:
    text = shown(no_match(NoMatchReason.IDENTIFIER_ABSENT, missing_identifiers=("hrn-428",)), "what is HRN-428?")
    assert "No stored memory holds HRN-428." in text


def test_weak_hits_of_a_recall_are_called_weak() -> None:
    weak = Matches(hits=(hit("x", Label.WEAK),), threshold=0.5, considered=1)
    assert "probably no answer" in shown(weak, strict=False)
    strong = Matches(hits=(hit("x"), hit("y", Label.WEAK)), threshold=0.5, considered=2)
    assert "probably no answer" not in shown(strong, strict=False)


def test_a_failed_leg_is_shown() -> None:
    outcome = Matches(hits=(hit("x"),), threshold=0.5, considered=1, degraded=(Degraded(Leg.DENSE, "no model"),))
    assert "The dense leg failed: no model" in shown(outcome)


def test_a_trace_shows_every_record_that_was_considered_with_its_reasons() -> None:
    trace = tuple(
        Considered(f"id-{verdict}", f"path/{verdict}", 0.1, verdict, (f"because {verdict}",), SIGNALS)
        for verdict in Verdict
    )
    text = shown(
        NoMatch(reason=NoMatchReason.BELOW_THRESHOLD, threshold=0.5, considered=5, best_confidence=0.1, trace=trace),
        width=200,
    )
    for verdict in Verdict:
        assert f"because {verdict}" in text


def test_a_long_content_is_cut_to_the_passage_that_matched() -> None:
    content = "a" * 500 + " The answer. " + "b" * 500
    found = hit(content, passage=Passage(501, 512))
    assert cards.excerpt(found, full=False) == "…The answer.…"
    assert cards.excerpt(found, full=True) == content


def test_stored_markup_is_printed_and_not_obeyed() -> None:
    assert "[bold]x[/bold] [/nonsense]" in shown(
        Matches(hits=(hit("[bold]x[/bold] [/nonsense]"),), threshold=0.5, considered=1)
    )


@given(st.text(max_size=40))
def test_no_stored_text_reaches_the_terminal_with_control_characters(content: str) -> None:
    outcome = Matches(hits=(hit(f"x{content}\x1b[2J\x07\u202e"),), threshold=0.5, considered=1)
    text = shown(outcome)
    assert not [character for character in text if character < " " and character != "\n" and character != "\t"]
    assert "\x9b" not in text and "\u202e" not in text


def test_a_place_names_its_space_only_if_there_are_several() -> None:
    one = memory("x")
    assert cards.place(one, {one.space_id: "home"}) == "team/release"
    assert cards.place(one, {one.space_id: "home", "other": "work"}) == "home: team/release"


def test_documents_tell_the_two_outcomes_apart() -> None:
    content = "Before. The answer. After."
    found = documents.outcome_document(
        Matches(hits=(hit(content, passage=Passage(8, 19)),), threshold=0.5, considered=1)
    )
    assert found["matched"] is True and found["no_match"] is None
    assert found["hits"][0]["reference"] == memory("x").id
    assert found["hits"][0]["passage"]["text"] == "The answer."
    none = documents.outcome_document(no_match(NoMatchReason.EMPTY_SPACE))
    assert none["matched"] is False and none["hits"] == []
    assert none["no_match"]["reason"] == "empty_space"
    assert "trace" in none and none["trace"] == []


def test_a_no_match_tells_what_the_nearest_record_speaks_of_and_what_it_lacks() -> None:
    near = Nearest("notes/x", 0.31, ("Gdansk", "team"), ("hrn-428", "hotel"))
    outcome = NoMatch(
        reason=NoMatchReason.BELOW_THRESHOLD, threshold=0.5, considered=7, best_confidence=0.31, nearest=near
    )
    text = shown(outcome, "Which hotel did the Gdansk team of HRN-428 book?", width=160)
    assert "notes/x (0.31): speaks of 'Gdansk', 'team'; nothing about 'HRN-428', 'hotel'" in text
