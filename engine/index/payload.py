"""What a point carries besides its vectors, the same on every engine.

Keys of value `None` are left out. Times are integers (see `engine.index.conditions`). The payload
holds what filters need and where the passage lies in the text, never the text itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any

from engine.index.conditions import EXACT_FIELDS, NEVER, TIME_AXES, lane, micros
from engine.index.protocol import IndexHit, Point

DENSE = "dense"
LEXICAL = "lexical"

TENANT_KEY = "space_id"
KEYWORD_KEYS = ("lane", "record_id", "path_key", "memory_type", "kind", "status", *EXACT_FIELDS)
INTEGER_KEYS = (*TIME_AXES, "expires_at")
HIT_KEYS = ("record_id", "ordinal", "start", "end")

_VECTORS = frozenset({DENSE, LEXICAL})
_CARRIED = tuple(field.name for field in fields(Point) if field.name not in _VECTORS)


def payload(point: Point) -> dict[str, str | int]:
    """The payload of a point. Raises `TypeError` for a naive datetime."""
    carried = {name: getattr(point, name) for name in _CARRIED}
    values = {
        name: micros(value) if isinstance(value, datetime) else value
        for name, value in carried.items()
        if value is not None
    }
    values.setdefault("expires_at", NEVER)
    values["lane"] = lane(point.space_id, point.status, point.kind, expires=point.expires_at is not None)
    return values


def hit(stored: Mapping[str, Any], score: float) -> IndexHit:
    """A hit from the payload's `HIT_KEYS`."""
    return IndexHit(stored["record_id"], score, stored["ordinal"], stored["start"], stored["end"])
