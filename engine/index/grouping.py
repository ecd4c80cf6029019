"""The best records, from an engine that ranks passages.

Ask for the best `width` passages and keep one hit per record. One long record may own all of them,
so the width grows fourfold until enough records are seen or the passages end. Nothing that was not
fetched can beat what was: passages arrive best first, therefore the first seen of a record is its
best. A tie at the cut is fetched as a whole, up to `TIE_WIDTH` passages, so that the order by
record id holds; in a larger tie the engine's own order decides who is in.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.index.points import best_by_record
from engine.index.protocol import IndexHit

TIE_WIDTH = 4096
_GROWTH = 4

Fetch = Callable[[int], list[IndexHit]]
"""The best `width` passages, best first; fewer than `width` means that there are no more."""


def top_records(fetch: Fetch, limit: int) -> list[IndexHit]:
    """The `limit` best records, best first, ties by record id; a record's score is its best passage's."""
    width = 2 * limit
    while True:
        passages = fetch(width)
        records = best_by_record(passages)[:limit]
        if len(passages) < width or _is_settled(records, passages, limit):
            return records
        width *= _GROWTH


def _is_settled(records: list[IndexHit], passages: list[IndexHit], limit: int) -> bool:
    if len(records) < limit:
        return False
    return records[-1].score > passages[-1].score or len(passages) >= TIE_WIDTH
