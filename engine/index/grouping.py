"""The best records, from an engine that ranks passages.

Ask for the best `width` passages and keep one hit per record. Passages arrive best first, therefore
the first seen of a record is its best and nothing unseen can beat it. Two things ask for more:

* One long record may own all of them: the width grows fourfold until enough records are seen or
  the passages end.
* Records may tie where the width cuts: then the tie is fetched as well, so that the order by record
  id holds. Of a tie beyond the best `TIE_WIDTH` passages the engine's own order decides who is in.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.index.points import best_by_record
from engine.index.protocol import IndexHit

TIE_WIDTH = 256
_GROWTH = 4

Fetch = Callable[[int], list[IndexHit]]
"""The best `width` passages, best first; fewer than `width` means that there are no more."""


def top_records(fetch: Fetch, limit: int) -> list[IndexHit]:
    """The `limit` best records, best first, ties by record id; a record's score is its best passage's."""
    width = 2 * limit
    while True:
        passages = fetch(width)
        records = best_by_record(passages)[:limit]
        if len(passages) < width:
            return records
        if len(records) < limit:
            width *= _GROWTH
        elif records[-1].score > passages[-1].score or width >= TIE_WIDTH:
            return records
        else:
            width = TIE_WIDTH
