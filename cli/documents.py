"""Domain values as JSON-ready documents: what `--json` prints.

Names are those of the domain; times are ISO 8601 with UTC offset; enums are their values. A
document has every field of its value, so that a script never has to ask twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any, assert_never

from engine.domain.outcome import ContextPack, Hit, Matches, NoMatch, Outcome


def plain(value: object) -> Any:
    """Any domain value as JSON-ready data; tuples become lists, sets sorted lists."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    match value:
        case Enum():
            return value.value
        case datetime():
            return value.isoformat()
        case Path():
            return str(value)
        case Mapping():
            return {str(plain(key)): plain(each) for key, each in value.items()}
        case set() | frozenset():
            return sorted(plain(each) for each in value)
        case list() | tuple():
            return [plain(each) for each in value]
        case _:
            return value


def hit_document(hit: Hit) -> dict[str, Any]:
    """A hit with the text that matched."""
    document = {"reference": hit.reference, **plain(hit)}
    document["passage"]["text"] = hit.memory.content[hit.passage.start : hit.passage.end]
    return document


def outcome_document(outcome: Outcome) -> dict[str, Any]:
    """`matched` tells the two outcomes apart; a no-match has `hits: []` and `no_match`."""
    match outcome:
        case Matches():
            return {
                "matched": True,
                "hits": [hit_document(hit) for hit in outcome.hits],
                "no_match": None,
                **_shared(outcome),
            }
        case NoMatch():
            no_match = {
                "reason": outcome.reason.value,
                "threshold": outcome.threshold,
                "considered": outcome.considered,
                "best_confidence": outcome.best_confidence,
                "missing_identifiers": list(outcome.missing_identifiers),
                "nearest": plain(outcome.nearest),
            }
            return {"matched": False, "hits": [], "no_match": no_match, **_shared(outcome)}
        case _:
            assert_never(outcome)


def _shared(outcome: Outcome) -> dict[str, Any]:
    return {
        "threshold": outcome.threshold,
        "considered": outcome.considered,
        "degraded": plain(outcome.degraded),
        "notes": list(outcome.notes),
        "trace": plain(outcome.trace),
    }


def pack_document(pack: ContextPack) -> dict[str, Any]:
    """A context pack; `items` have their hits in full."""
    document: dict[str, Any] = plain(pack)
    for item, packed in zip(document["items"], pack.items, strict=True):
        item["hit"] = hit_document(packed.hit)
    return document
