"""The pipeline as a caller sees it: filters, limits, reasons, outages."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from engine.domain.access import Scope, SpaceRight
from engine.domain.memory import MemoryType, NewMemory, StateUpdate
from engine.domain.outcome import Label, Leg, Matches, NoMatch, NoMatchReason, Verdict
from engine.domain.query import Filters, Mode, Query, TimeAxis, TimeOrder, TimeWindow
from engine.embedding.fake import FakeEmbedder
from engine.engine import Engine
from engine.errors import (
    EmbedderUnavailable,
    Forbidden,
    IndexUnavailable,
    InvalidPattern,
    InvalidRequest,
    NotFound,
    Unavailable,
)

HARBOUR = "The harbour crane is inspected every March."
BRIDGE = "The bridge paint is renewed every decade."


def put(engine: Engine, space: str, content: str, path: str = "notes", **fields: object) -> str:
    new = NewMemory(content=content, path=path, space=space, **fields)  # type: ignore[arg-type]
    return engine.remember(engine.local_owner(), new).memory.id


def ask(engine: Engine, space: str, text: str, **fields: object) -> Matches | NoMatch:
    query = Query(text=text, spaces=(space,), **fields)  # type: ignore[arg-type]
    return engine.search(engine.local_owner(), query)


def ids(outcome: Matches | NoMatch) -> list[str]:
    return [hit.memory.id for hit in outcome.hits] if isinstance(outcome, Matches) else []


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"text": " \u200b\n"}, "query"),
        ({"text": "x" * 20_001}, "query"),
        ({"text": "a\ud800"}, "query"),
        ({"text": "x", "limit": 0}, "limit"),
        ({"text": "x", "limit": 101}, "limit"),
        ({"text": "x", "min_confidence": 1.1}, "min_confidence"),
        ({"text": "x", "filters": Filters(memory_type="semantik")}, "memory_type"),
    ],
)
def test_a_bad_query_is_refused_by_field(engine: Engine, fields: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        engine.search(engine.local_owner(), Query(**fields))  # type: ignore[arg-type]
    assert caught.value.field == field


def test_a_pattern_that_does_not_parse_is_refused(engine: Engine, space: str) -> None:
    with pytest.raises(InvalidPattern):
        ask(engine, space, "x", filters=Filters(path_filter="notes\\"))


def test_an_empty_space_says_so(engine: Engine, space: str) -> None:
    outcome = ask(engine, space, "anything")
    assert isinstance(outcome, NoMatch)
    assert (outcome.reason, outcome.considered, outcome.best_confidence) == (NoMatchReason.EMPTY_SPACE, 0, 0.0)


def test_filters_that_leave_nothing_say_so(engine: Engine, space: str) -> None:
    put(engine, space, HARBOUR)
    for filters in (Filters(path_filter="other/%"), Filters(bucket="home"), Filters(memory_type="identity")):
        outcome = ask(engine, space, "harbour crane", filters=filters)
        assert isinstance(outcome, NoMatch)
        assert outcome.reason is NoMatchReason.FILTERED_OUT


def test_a_query_about_something_else_is_a_no_match_without_the_rejected_text(engine: Engine, space: str) -> None:
    put(engine, space, HARBOUR)
    outcome = ask(engine, space, "penguin feathers waterproof")
    assert isinstance(outcome, NoMatch)
    assert outcome.reason is NoMatchReason.BELOW_THRESHOLD
    assert outcome.considered == 1
    assert outcome.best_confidence < outcome.threshold
    assert outcome.trace == ()


def test_explain_names_every_pooled_record_and_changes_no_result(engine: Engine, space: str) -> None:
    kept, other = put(engine, space, HARBOUR), put(engine, space, BRIDGE)
    plain = ask(engine, space, "harbour crane inspected March")
    explained = ask(engine, space, "harbour crane inspected March", explain=True)
    assert ids(plain) == ids(explained) == [kept]
    verdicts = {each.memory_id: each.verdict for each in explained.trace}
    assert verdicts == {kept: Verdict.RETURNED, other: Verdict.BELOW_THRESHOLD}


def test_an_identifier_that_no_record_has_is_named(engine: Engine, space: str) -> None:
    put(engine, space, "Ticket QX-1042 is about the harbour crane.")
    outcome = ask(engine, space, "QX-1043")
    assert isinstance(outcome, NoMatch)
    assert outcome.reason is NoMatchReason.IDENTIFIER_ABSENT
    assert outcome.missing_identifiers == ("qx-1043",)


def test_forgiving_always_answers_and_labels_what_is_weak(engine: Engine, space: str) -> None:
    put(engine, space, HARBOUR)
    outcome = ask(engine, space, "penguin feathers waterproof", mode=Mode.FORGIVING)
    assert isinstance(outcome, Matches)
    assert outcome.hits[0].label is Label.WEAK


def test_confidence_does_not_depend_on_the_limit(engine: Engine, space: str) -> None:
    for number in range(8):
        put(engine, space, f"The harbour crane number {number} is inspected.")
    few = ask(engine, space, "harbour crane inspected", mode=Mode.FORGIVING, limit=2)
    many = ask(engine, space, "harbour crane inspected", mode=Mode.FORGIVING, limit=8)
    assert isinstance(few, Matches)
    assert isinstance(many, Matches)
    assert [hit.confidence for hit in few.hits] == [hit.confidence for hit in many.hits[:2]]


def test_min_confidence_replaces_the_threshold(engine: Engine, space: str) -> None:
    put(engine, space, HARBOUR)
    assert isinstance(ask(engine, space, "penguin feathers", min_confidence=0.0), Matches)
    assert isinstance(ask(engine, space, "harbour crane inspected March", min_confidence=1.0), NoMatch)


def test_a_star_lists_the_newest_first_under_the_filters(engine: Engine, space: str) -> None:
    first = put(engine, space, HARBOUR, "a/one")
    second = put(engine, space, BRIDGE, "a/two")
    put(engine, space, "elsewhere", "b")
    assert ids(ask(engine, space, "*", filters=Filters(path_filter="a"))) == [second, first]


def test_an_id_or_a_semantic_key_finds_its_record_first(engine: Engine, space: str) -> None:
    keyed = put(engine, space, HARBOUR, semantic_key="crane-inspection")
    put(engine, space, BRIDGE)
    for text in (keyed, keyed.upper(), "crane-inspection"):
        outcome = ask(engine, space, text)
        assert isinstance(outcome, Matches)
        assert outcome.hits[0].memory.id == keyed
        assert outcome.hits[0].confidence == 1.0
        assert Leg.EXACT in outcome.hits[0].signals.legs


def test_filters_apply_before_the_limit(engine: Engine, space: str) -> None:
    wanted = put(engine, space, "harbour crane report", "wanted/one", memory_type=MemoryType.EPISODIC)
    for number in range(60):
        put(engine, space, f"harbour crane report {number}", f"other/{number}")
    by_path = ask(engine, space, "harbour crane report", filters=Filters(path_filter="WANTED/%"), limit=1)
    by_type = ask(engine, space, "harbour crane report", filters=Filters(memory_type="epi%"), limit=1)
    assert ids(by_path) == ids(by_type) == [wanted]


def test_a_time_window_is_half_open_and_orders_by_its_axis(engine: Engine, space: str) -> None:
    start = datetime(2026, 3, 1, tzinfo=UTC)
    days = [put(engine, space, f"harbour log day {n}", event_time=start + timedelta(days=n)) for n in range(4)]
    window = TimeWindow(start + timedelta(days=1), start + timedelta(days=3), TimeAxis.EVENT)
    outcome = ask(
        engine,
        space,
        "harbour log day",
        mode=Mode.FORGIVING,
        filters=Filters(window=window),
        time_order=TimeOrder.DESCENDING,
    )
    assert ids(outcome) == [days[2], days[1]]


def test_no_space_named_means_all_that_the_token_may_read(engine: Engine, space: str) -> None:
    me = engine.local_owner()
    other = engine.create_space(me, f"{space} twin").id
    here, there = put(engine, space, "visitor badges north"), put(engine, other, "visitor badges east")
    both = replace(me, space_rights=(SpaceRight(space, True), SpaceRight(other, False)))
    one = replace(me, space_rights=(SpaceRight(space, True),))
    query = Query(text="visitor badges", mode=Mode.FORGIVING)
    assert set(ids(engine.search(both, query))) == {here, there}
    assert ids(engine.search(one, query)) == [here]


def test_a_foreign_space_answers_like_a_missing_one(engine: Engine, space: str) -> None:
    narrowed = replace(engine.local_owner(), space_rights=())
    for ref in (space, "no-such-space"):
        with pytest.raises(NotFound, match="not found"):
            engine.search(narrowed, Query(text="x", spaces=(ref,)))


def test_a_token_without_the_read_scope_may_not_search(engine: Engine) -> None:
    writer = replace(engine.local_owner(), scopes=frozenset({Scope.WRITE}))
    with pytest.raises(Forbidden, match="memory:read"):
        engine.search(writer, Query(text="x"))


def test_a_down_embedder_degrades_recall_and_is_named(engine: Engine, embedder: FakeEmbedder, space: str) -> None:
    found = put(engine, space, HARBOUR)
    embedder.failure = EmbedderUnavailable("the model is away")
    try:
        outcome = ask(engine, space, "harbour crane", mode=Mode.FORGIVING)
        assert ids(outcome) == [found]
        assert [each.leg for each in outcome.degraded] == [Leg.DENSE]
        with pytest.raises(Unavailable, match="cannot tell"):
            ask(engine, space, "penguin feathers")
    finally:
        embedder.failure = None


def test_a_down_index_is_an_outage_and_never_a_no_match(engine: Engine, space: str) -> None:
    put(engine, space, HARBOUR)

    class Down:
        """An index whose engine is gone."""

        def __getattr__(self, name: str) -> object:
            def fail(*arguments: object) -> object:
                raise IndexUnavailable("connection refused")

            return fail

    working = engine._applier.index
    engine._applier.index = Down()  # type: ignore[assignment]
    try:
        for mode in Mode:
            with pytest.raises(IndexUnavailable):
                ask(engine, space, "harbour crane", mode=mode)
    finally:
        engine._applier.index = working


def test_a_query_longer_than_the_model_reads_is_asked_in_windows_and_says_so(engine: Engine, space: str) -> None:
    found = put(engine, space, HARBOUR)
    text = "unrelated filler words " * 200 + "harbour crane is inspected every March"
    outcome = ask(engine, space, text, mode=Mode.FORGIVING)
    assert ids(outcome) == [found]
    assert any("windows" in note for note in outcome.notes)


@pytest.mark.parametrize("supposed", ["   ", "the harbour crane " * 300])
def test_a_supposed_answer_of_any_length_helps_to_find(engine: Engine, space: str, supposed: str) -> None:
    found = put(engine, space, HARBOUR)
    assert ids(ask(engine, space, "lifting gear", mode=Mode.FORGIVING, hypothetical_answer=supposed)) == [found]


def test_strict_shows_working_state_only_if_it_is_about_the_question(engine: Engine, space: str) -> None:
    me = engine.local_owner()
    put(engine, space, HARBOUR)
    engine.update_state(me, StateUpdate(current_task="repaint the bridge", space=space))
    outcome = ask(engine, space, "penguin feathers waterproof", prefer_working=True)
    assert isinstance(outcome, NoMatch)


def test_accesses_are_counted(engine: Engine, space: str) -> None:
    found = put(engine, space, HARBOUR)
    ask(engine, space, "harbour crane inspected March")
    engine.doctor()
    memory = engine.get(engine.local_owner(), found)
    assert memory.access_count == 1
    assert memory.last_accessed_at is not None
