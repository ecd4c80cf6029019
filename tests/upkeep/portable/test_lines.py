"""JSON Lines: every line is accounted for, whatever it holds."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.domain.memory import CONTENT_LIMIT_BYTES, Kind, MemoryType
from engine.upkeep.portable import Draft, ImportDefaults, Item, LineForm, Skipped, SkipReason, read_lines
from engine.upkeep.portable.lines import LINE_LIMIT_BYTES

NOTHING = ImportDefaults()


def read(raw: bytes, defaults: ImportDefaults = NOTHING, form: LineForm = LineForm.AUTO) -> list[Item]:
    return list(read_lines(io.BytesIO(raw), defaults, name="chat", form=form))


def read_objects(*objects: object, defaults: ImportDefaults = NOTHING) -> list[Item]:
    return read("".join(json.dumps(each) + "\n" for each in objects).encode(), defaults)


def only_draft(items: Sequence[Item]) -> Draft:
    (item,) = items
    assert isinstance(item, Draft), item
    return item


def only_skipped(items: Sequence[Item]) -> Skipped:
    (item,) = items
    assert isinstance(item, Skipped), item
    return item


def test_a_record_carries_every_field_that_it_names() -> None:
    draft = only_draft(
        read_objects(
            {
                "id": "018F6F3E-0000-7000-8000-000000000001",
                "content": "The gate code is 4417.",
                "path": "home/gate",
                "space": "family",
                "memory_type": "SEMANTIC",
                "kind": "decision",
                "bucket": "private",
                "scope": "house",
                "importance": 0.5,
                "confidence": 1,
                "semantic_key": "gate-code",
                "source": "notebook",
                "source_id": "p. 3",
                "time": "2024-03-15T10:00:00+02:00",
                "created_at": 1710489600,
                "expires_at": "2031-01-01",
                "metadata": {"page": 3},
                "provenance": {"by": "hand"},
            }
        )
    )
    new = draft.memory
    assert new.id == "018f6f3e-0000-7000-8000-000000000001"
    assert (new.content, new.path, new.space) == ("The gate code is 4417.", "home/gate", "family")
    assert (new.memory_type, new.kind, new.bucket, new.scope) == (
        MemoryType.SEMANTIC,
        Kind.DECISION,
        "private",
        "house",
    )
    assert (new.importance, new.confidence, new.semantic_key) == (0.5, 1.0, "gate-code")
    assert (new.source, new.source_id) == ("notebook", "p. 3")
    assert new.event_time == datetime(2024, 3, 15, 8, tzinfo=UTC)
    assert new.created_at == datetime(2024, 3, 15, 8, tzinfo=UTC)
    assert new.expires_at == datetime(2031, 1, 1, tzinfo=UTC)
    assert (new.metadata, new.provenance) == ({"page": 3}, {"by": "hand"})
    assert draft.notes == ()


def test_defaults_fill_only_what_a_record_leaves_open() -> None:
    defaults = ImportDefaults(path="old", bucket="b", source="s", memory_type=MemoryType.IDENTITY)
    bare, full = read_objects(
        {"text": "one"},
        {"text": "two", "path": "p", "bucket": "x", "source": "y", "type": "working"},
        defaults=defaults,
    )
    assert isinstance(bare, Draft) and isinstance(full, Draft)
    assert (bare.memory.path, bare.memory.bucket, bare.memory.source) == ("old", "b", "s")
    assert bare.memory.memory_type is MemoryType.IDENTITY
    assert (full.memory.path, full.memory.bucket, full.memory.source) == ("p", "x", "y")
    assert full.memory.memory_type is MemoryType.WORKING


def test_a_member_with_an_unknown_name_is_kept_in_the_metadata() -> None:
    draft = only_draft(read_objects({"text": "x", "mood": "calm", "metadata": {"a": 1}}))
    assert draft.memory.metadata == {"mood": "calm", "a": 1}


def test_a_type_of_another_system_is_kept_in_the_metadata() -> None:
    draft = only_draft(read_objects({"text": "x", "type": "utterance"}))
    assert draft.memory.memory_type is None
    assert draft.memory.metadata == {"type": "utterance"}


def test_a_time_that_cannot_be_read_is_kept_and_told() -> None:
    draft = only_draft(read_objects({"text": "x", "time": "half past noon"}))
    assert draft.memory.event_time is None
    assert draft.memory.metadata == {"time": "half past noon"}
    assert "time" in draft.notes[0]


def test_an_expiry_that_cannot_be_read_is_not_imported_as_everlasting() -> None:
    assert only_skipped(read_objects({"text": "x", "expires_at": "soon"})).reason is SkipReason.BAD_FIELD


def test_a_foreign_id_becomes_the_source_id_and_the_identity() -> None:
    first = only_draft(read_objects({"id": "conv-1/17", "text": "before"}))
    second = only_draft(read_objects({"id": "conv-1/17", "text": "after an edit"}))
    assert first.memory.id is None and first.memory.source_id == "conv-1/17"
    assert first.identity == second.identity
    assert first.fingerprint != second.fingerprint


def test_a_deleted_record_is_left_out_and_an_archived_one_is_marked() -> None:
    deleted, archived = read_objects({"text": "x", "status": "deleted"}, {"text": "x", "status": "archived"})
    assert isinstance(deleted, Skipped) and deleted.reason is SkipReason.DELETED
    assert isinstance(archived, Draft) and archived.archived


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"text": "x"', SkipReason.BAD_JSON),
        (b"not json", SkipReason.BAD_JSON),
        (b'{"text": "x", "importance": NaN}', SkipReason.BAD_JSON),
        (b'["text"]', SkipReason.BAD_FIELD),
        (b'{"path": "p"}', SkipReason.BAD_FIELD),
        (b'{"text": 4}', SkipReason.BAD_FIELD),
        (b'{"text": "x", "space": 4}', SkipReason.BAD_FIELD),
        (b'{"text": "x", "id": [1]}', SkipReason.BAD_FIELD),
        (b'{"text": "  "}', SkipReason.EMPTY),
        (b'{"text": "\xff"}', SkipReason.NOT_TEXT),
        (b'{"text": "\\ud800"}', SkipReason.NOT_TEXT),
        (b'{"text": "x", "metadata": {"k": "\\udc00"}}', SkipReason.NOT_TEXT),
        (b'{"text": "a\\u0000b"}', SkipReason.NOT_TEXT),
        (b'{"text": "x", "metadata": {"k": "\\u0000"}}', SkipReason.NOT_TEXT),
        (b'{"text": "x", "metadata": ' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}", SkipReason.BAD_JSON),
    ],
)
def test_a_line_that_cannot_be_stored_is_skipped_with_its_number_and_reason(line: bytes, reason: SkipReason) -> None:
    first, bad, last = read(b'{"text": "before"}\n' + line + b'\n{"text": "after"}\n')
    assert isinstance(first, Draft) and isinstance(last, Draft)
    assert isinstance(bad, Skipped)
    assert (bad.position, bad.reason) == ("line 2", reason)
    assert bad.detail


def test_content_up_to_the_limit_is_read_and_one_byte_more_is_too_long() -> None:
    fits, too_long = read_objects({"text": "é" * (CONTENT_LIMIT_BYTES // 2)}, {"text": "a" * (CONTENT_LIMIT_BYTES + 1)})
    assert isinstance(fits, Draft)
    assert isinstance(too_long, Skipped) and too_long.reason is SkipReason.TOO_LONG


def test_an_endless_line_is_skipped_without_losing_the_next() -> None:
    first, second = read(b'{"text": "' + b"a" * (2 * LINE_LIMIT_BYTES) + b'"}\n{"text": "next"}')
    assert isinstance(first, Skipped) and first.reason is SkipReason.TOO_LONG
    assert isinstance(second, Draft) and second.memory.content == "next"


def test_a_repeated_record_is_a_duplicate_and_names_the_first() -> None:
    _, again = read_objects({"text": "x", "path": "p"}, {"path": "p", "text": "x"})
    assert isinstance(again, Skipped) and again.reason is SkipReason.DUPLICATE
    assert "line 1" in again.detail


def test_a_byte_order_mark_and_blank_lines_do_no_harm() -> None:
    items = read(b'\xef\xbb\xbf{"text": "x"}\r\n\r\n   \n{"text": "y"}')
    assert [item.position for item in items if isinstance(item, Draft)] == ["line 1", "line 4"]
    assert len(items) == 2


def test_a_json_array_is_named_as_what_it_is() -> None:
    items = read(b'[\n  {"text": "x"},\n')
    assert isinstance(items[0], Skipped) and "JSON array" in items[0].detail


def test_offsets_end_at_the_size_of_the_stream() -> None:
    raw = b'{"text": "x"}\nbroken\n{"text": "y"}'
    offsets = [item.offset for item in read(raw)]
    assert offsets == sorted(offsets)
    assert offsets[-1] == len(raw)


def test_a_turn_becomes_an_episodic_memory_of_its_session() -> None:
    draft = only_draft(
        read_objects(
            {"role": "user", "name": "Mira", "content": "Ship it.", "time": "2024-05-01", "session": "s1", "mood": 1}
        )
    )
    new = draft.memory
    assert new.content == "Mira: Ship it."
    assert new.path == "conversations/chat/s1"
    assert new.memory_type is MemoryType.EPISODIC
    assert new.event_time == datetime(2024, 5, 1, tzinfo=UTC)
    assert new.metadata == {"mood": 1, "role": "user", "speaker": "Mira"}


def test_a_wrapped_turn_with_parts_is_unwrapped_and_tells_what_had_no_text() -> None:
    draft = only_draft(
        read_objects(
            {
                "type": "assistant",
                "sessionId": "abc",
                "timestamp": "2025-01-01T00:00:00Z",
                "message": {"role": "assistant", "content": [{"type": "text", "text": "Done."}, {"type": "tool_use"}]},
            }
        )
    )
    assert draft.memory.content == "Done."
    assert draft.memory.path == "conversations/chat/abc"
    assert "1 part" in draft.notes[0]


def test_a_turn_that_is_said_twice_is_two_memories() -> None:
    first, second = read_objects({"role": "user", "content": "yes"}, {"role": "user", "content": "yes"})
    assert isinstance(first, Draft) and isinstance(second, Draft)
    assert first.identity != second.identity


def test_a_turn_with_the_same_id_and_text_is_a_duplicate() -> None:
    turn = {"role": "user", "content": "yes", "id": "t1"}
    _, again = read_objects(turn, turn)
    assert isinstance(again, Skipped) and again.reason is SkipReason.DUPLICATE


def test_the_conversation_form_reads_lines_without_a_role_as_turns() -> None:
    draft = only_draft(read(b'{"content": "hello"}', form=LineForm.CONVERSATION))
    assert draft.memory.path == "conversations/chat"


def test_the_record_form_reads_lines_with_a_role_as_records() -> None:
    draft = only_draft(read(b'{"content": "hello", "role": "cook"}', form=LineForm.RECORDS))
    assert draft.memory.path == "inbox"
    assert draft.memory.metadata == {"role": "cook"}


def test_reading_twice_gives_the_same_identities() -> None:
    raw = b'{"text": "x", "metadata": {"b": 1, "a": 2}}\n{"role": "user", "content": "yes"}\n{"id": 7, "text": "z"}'
    assert [item.identity for item in read(raw) if isinstance(item, Draft)] == [
        item.identity for item in read(raw) if isinstance(item, Draft)
    ]


_LETTERS = 'ab 7é界"\\\n\u2028\x00\ud800'
"""Enough kinds of characters; the whole of Unicode makes the first draw slow on a busy machine."""

_scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
_json_values: st.SearchStrategy[Any] = st.recursive(
    _scalars | st.text(_LETTERS, max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(_LETTERS, max_size=6), inner, max_size=3),
    max_leaves=6,
)
_NAMES = ["content", "text", "path", "type", "time", "id", "space", "role", "message", "metadata", "expires_at", "x"]
_objects = st.dictionaries(st.sampled_from(_NAMES), _json_values, max_size=6).map(lambda it: json.dumps(it).encode())
_lines = _objects | st.binary(max_size=40) | st.sampled_from([b"", b" ", b"{", b"[1]", b'{"text":"ok"}'])


@given(st.lists(_lines, max_size=12), st.sampled_from(list(LineForm)))
def test_every_line_that_is_not_blank_yields_exactly_one_item(lines: list[bytes], form: LineForm) -> None:
    raw = b"\n".join(lines)
    expected = [
        f"line {number}"
        for number, line in enumerate(raw.split(b"\n"), start=1)
        if (line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line).strip()
    ]
    assert [item.position for item in read(raw, form=form)] == expected


@given(_json_values.filter(lambda value: isinstance(value, dict)), st.text(_LETTERS, min_size=1, max_size=20))
def test_what_becomes_a_draft_can_be_written_as_json_and_utf_8(extra: dict[str, Any], text: str) -> None:
    for item in read_objects({**extra, "content": text}):
        if isinstance(item, Draft):
            json.dumps(dict(item.memory.metadata), allow_nan=False).encode()
            assert item.memory.content.encode()
