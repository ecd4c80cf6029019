"""An exported line holds the whole memory and is read back as the same."""

from __future__ import annotations

import io
import json
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engine.domain.memory import Kind, Memory, MemoryType, Status
from engine.upkeep.portable import Draft, ImportDefaults, export_line, export_record, read_lines

SET_ANEW = {
    "space_id",
    "status",
    "updated_at",
    "version",
    "access_count",
    "last_accessed_at",
    "agent_id",
    "agent_instance_hash",
    "provenance",
}


def memory(**changes: Any) -> Memory:
    moment = datetime(2024, 2, 29, 12, 30, 15, 123456, tzinfo=UTC)
    values: dict[str, Any] = {
        "id": "018f6f3e-0000-7000-8000-000000000001",
        "space_id": "018f6f3e-0000-7000-8000-00000000000a",
        "content": "Anna lives in Lyon.",
        "path": "people/anna",
        "memory_type": MemoryType.SEMANTIC,
        "kind": Kind.MEMORY,
        "status": Status.ACTIVE,
        "bucket": "work",
        "scope": None,
        "team_id": None,
        "importance": 0.25,
        "confidence": None,
        "semantic_key": "anna",
        "state_key": None,
        "source": "hand",
        "source_id": "n1",
        "agent_id": "robot",
        "agent_instance_hash": "ff",
        "item_status": None,
        "due_at": None,
        "event_time": moment,
        "created_at": moment,
        "updated_at": moment,
        "expires_at": None,
        "version": 3,
        "access_count": 9,
        "last_accessed_at": moment,
        "metadata": {"a": [1, None]},
        "provenance": {"b": {"c": True}},
    }
    return Memory(**{**values, **changes})


def read_back(line: str) -> Draft:
    (item,) = read_lines(io.BytesIO(line.encode()), ImportDefaults(), name="x")
    assert isinstance(item, Draft), item
    return item


def test_an_exported_line_names_every_field() -> None:
    record = json.loads(export_line(memory(), "home"))
    assert set(record) == {field.name for field in fields(Memory)} | {"space"}
    assert record["space"] == "home"
    assert record["created_at"] == "2024-02-29T12:30:15.123456+00:00"


def test_a_memory_survives_export_and_import() -> None:
    old = memory()
    new = read_back(export_line(old, "home")).memory
    for field in fields(Memory):
        if field.name not in SET_ANEW:
            assert getattr(new, field.name) == getattr(old, field.name), field.name
    assert new.space == "home"
    assert new.provenance == {"b": {"c": True}, "agent_id": "robot"}


def test_an_archived_memory_comes_back_as_archived() -> None:
    assert read_back(export_line(memory(status=Status.ARCHIVED), "home")).archived


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=60))
def test_any_storable_text_survives_on_one_line(content: str) -> None:
    line = export_line(memory(content=content), "home")
    assert line.count("\n") == 1
    (item,) = read_lines(io.BytesIO(line.encode()), ImportDefaults(), name="x")
    if content.strip():
        assert isinstance(item, Draft) and item.memory.content == content


def test_the_record_form_has_only_json_values() -> None:
    assert json.loads(json.dumps(export_record(memory(), "home"))) == export_record(memory(), "home")
