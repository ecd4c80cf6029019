"""What is forgotten for good is gone from every table and file, also what ingest made of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.domain.memory import ForgetMode, Memory, MemoryPatch, NewMemory
from engine.domain.source import ContentType, Message, NewConversation, NewSource
from engine.engine import Engine
from engine.errors import Conflict
from tests.engines import open_engine

MARK = "Zyxqvark"
"""A name that occurs nowhere else; capitalised, so that ingest takes it for an entity too."""
FORGOTTEN = [ForgetMode.HARD, ForgetMode.REDACT]


def found_in_files(folder: Path) -> list[str]:
    """Every file of a closed folder that holds the mark, in whatever case."""
    marks = (MARK.encode(), MARK.lower().encode(), MARK.encode("utf-16-le"))
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if any(mark in path.read_bytes() for mark in marks)]


def found_in_tables(folder: Path) -> list[str]:
    """Every table with a row that holds the mark."""
    with sqlite3.connect(folder / "memvouch.db") as connection:
        dump = [line for line in connection.iterdump() if MARK.lower() in line.lower()]
    connection.close()
    return [line[:40] for line in dump]


def written(engine: Engine) -> None:
    """A record with the mark in whatever it can say, changed, kept under keys."""
    me = engine.local_owner()
    new = NewMemory(
        content=f"{MARK} keeps the spare key.",
        path="keys",
        semantic_key=f"key-{MARK}",
        source="the desk",
        metadata={"who": MARK},
        provenance={"heard": MARK},
    )
    memory = engine.remember(me, new, idempotency_key="k").memory
    engine.update(me, memory.id, MemoryPatch(content=f"{MARK} kept the spare key."), idempotency_key="u")


def conversation(engine: Engine) -> None:
    """A session in two parts, whose marked turn is context of the next segment and of the next source."""
    me = engine.local_owner()
    said = ["Hello.", "Good day.", "One moment.", f"{MARK} keeps the spare key.", "Noted.", "Anything else?"]
    turns = tuple(Message("user", text, place) for place, text in enumerate(said))
    space = me.default_space_id or ""
    for end in (4, 6):
        engine.ingest.take_conversation(me, space, NewConversation(messages=turns[:end], session_id="s"))
        engine.ingest.worker.drain()


def document(engine: Engine) -> None:
    me = engine.local_owner()
    text = f"# Keys\n\n{MARK} keeps the spare key.\n\n# Doors\n\nThe door sticks in winter."
    new = NewSource(content=text, content_type=ContentType.MARKDOWN)
    engine.ingest.take_sources(me, me.default_space_id or "", [new])
    engine.ingest.worker.drain()


def records(engine: Engine) -> None:
    me = engine.local_owner()
    new = NewSource(content=f'[{{"who": "{MARK}"}}, {{"who": "Nobody"}}]', content_type=ContentType.JSON)
    engine.ingest.take_sources(me, me.default_space_id or "", [new])
    engine.ingest.worker.drain()


def marked(engine: Engine) -> list[Memory]:
    """The records whose own text has the mark; copies in the context of others are not asked for."""
    found, _ = engine.ingest.memories(engine.local_owner(), None, descending=False)
    return [memory for memory in found if MARK in memory.content][:1]


@pytest.mark.parametrize("mode", FORGOTTEN)
@pytest.mark.parametrize("made", [written, conversation, document, records])
def test_what_is_forgotten_for_good_is_in_no_table_and_no_file(
    tmp_path: Path, made: Callable[[Engine], object], mode: ForgetMode
) -> None:
    with open_engine(tmp_path) as engine:
        made(engine)
    assert "memvouch.db" in found_in_files(tmp_path), "the test would see the text"
    with open_engine(tmp_path) as engine:
        for memory in marked(engine):
            engine.forget(engine.local_owner(), memory.id, mode)
        assert engine.doctor().equal
    assert found_in_tables(tmp_path) == []
    assert found_in_files(tmp_path) == []


def test_a_deleted_source_leaves_nothing_in_the_context_of_later_ones(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine:
        conversation(engine)
        me = engine.local_owner()
        first = engine.ingest.sources(me, None)[0][-1]
        engine.ingest.delete_source(me, first.id)
        assert engine.doctor().equal
    assert found_in_tables(tmp_path) == []


def test_a_deleted_space_leaves_nothing(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine:
        me = engine.local_owner()
        for made in (written, conversation, document):
            made(engine)
        engine.delete_space(me, me.default_space_id or "")
    assert found_in_tables(tmp_path) == []
    assert "memvouch.db" not in found_in_files(tmp_path)


def test_neighbours_and_the_rest_of_the_source_stay(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine:
        conversation(engine)
        me = engine.local_owner()
        engine.forget(me, marked(engine)[0].id, ForgetMode.HARD)
        left = [memory.content for memory in engine.ingest.memories(me, None)[0]]
        assert "user: Noted.\nuser: Anything else?" in left and "user: Hello.\nuser: Good day." in left
        texts = [source.content for source in engine.ingest.sources(me, None)[0]]
        assert "user: Hello.\nuser: Good day.\nuser: [redacted]\nuser: [redacted]" in texts


def test_a_session_that_is_sent_again_does_not_bring_the_forgotten_turn_back(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine:
        conversation(engine)
        me = engine.local_owner()
        for memory in marked(engine):
            engine.forget(me, memory.id, ForgetMode.HARD)
        said = ["Hello.", "Good day.", "One moment.", f"{MARK} keeps the spare key."]
        turns = tuple(Message("user", text, place) for place, text in enumerate([*said, "What was it again?"]))
        new = NewConversation(messages=turns, session_id="s")
        engine.ingest.take_conversation(me, me.default_space_id or "", new)
        engine.ingest.worker.drain()
        assert marked(engine) == []
    assert found_in_tables(tmp_path) == []


def test_a_record_whose_source_is_still_being_taken_in_cannot_be_forgotten_for_good_yet(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine:
        me = engine.local_owner()
        new = NewSource(content="Tea is at four.")
        accepted = engine.ingest.take_sources(me, me.default_space_id or "", [new])
        memory = engine.remember(me, NewMemory(content="Tea is at four.", source_id=accepted.source_ids[0])).memory
        for mode in FORGOTTEN:
            with pytest.raises(Conflict, match="still being taken in"):
                engine.forget(me, memory.id, mode)
        engine.ingest.worker.drain()
        assert engine.forget(me, memory.id, ForgetMode.HARD) is None


def test_a_redaction_that_is_repeated_changes_nothing(tmp_path: Path) -> None:
    with open_engine(tmp_path) as engine:
        written(engine)
        me, memory = engine.local_owner(), marked(engine)[0]
        first = engine.forget(me, memory.id, ForgetMode.REDACT)
        assert first is not None and (first.source, first.semantic_key) == (None, None)
        assert (dict(first.metadata), dict(first.provenance)) == ({}, {})
        assert engine.forget(me, memory.id, ForgetMode.REDACT) == first
