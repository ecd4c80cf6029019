"""What a point carries besides its vectors: what filters need and where the passage lies in the
text, never the text itself. Keys without a value are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.index.conditions import EXACT_FIELDS, NEVER, TIME_AXES, micros
from engine.index.protocol import IndexHit, Point

DENSE = "dense"
LEXICAL = "lexical"

TENANT_KEY = "space_id"
KEYWORD_KEYS = (TENANT_KEY, "record_id", "path_key", "memory_type", "kind", "status", *EXACT_FIELDS)
TIME_KEYS = (*TIME_AXES, "expires_at")
HIT_KEYS = ("record_id", "ordinal", "start", "end")


def keywords(point: Point) -> dict[str, str]:
    """The values that filters compare as a whole."""
    values = {key: getattr(point, key) for key in KEYWORD_KEYS}
    return {key: value for key, value in values.items() if value is not None}


def times(point: Point) -> dict[str, int]:
    """The times in microseconds since 1970; without an expiry, `NEVER`."""
    moments = {key: getattr(point, key) for key in TIME_KEYS}
    return {"expires_at": NEVER} | {key: micros(moment) for key, moment in moments.items() if moment is not None}


def position(point: Point) -> dict[str, str | int]:
    """What makes a hit: the record and where its passage lies."""
    return {key: getattr(point, key) for key in HIT_KEYS}


def hit(stored: Mapping[str, Any], score: float) -> IndexHit:
    """A hit from what `position` gave."""
    return IndexHit(stored["record_id"], score, stored["ordinal"], stored["start"], stored["end"])
