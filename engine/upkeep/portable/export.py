"""A memory as one line of JSON that `records.py` reads back.

All fields are written; times in ISO 8601 with UTC offset. An import into another folder restores
all but what belongs to the engine there: `updated_at`, `version`, the access counters and the
writing agent, which goes to the provenance.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any

from engine.domain.memory import Memory


def export_record(memory: Memory, space_name: str) -> dict[str, Any]:
    """JSON-ready members: `space` is the space's name, the rest are the fields of `Memory`."""
    record: dict[str, Any] = {"id": memory.id, "space": space_name}
    for field in fields(memory):
        record.setdefault(field.name, _plain(getattr(memory, field.name)))
    return record


def export_line(memory: Memory, space_name: str) -> str:
    """The record on one line, with its newline."""
    return json.dumps(export_record(memory, space_name), ensure_ascii=False) + "\n"


def _plain(value: object) -> object:
    match value:
        case datetime():
            return value.isoformat()
        case Mapping():
            return dict(value)
        case _:
            return value
