"""`recall_context`: a forgiving search, packed into a token budget.

The search looks further than `max_items`, since near duplicates collapse and items that do not fit
are skipped.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from engine.domain.access import Principal
from engine.domain.outcome import ContextPack, Matches
from engine.domain.query import MAX_LIMIT, ContextQuery, Mode
from engine.embedding.wordpiece import TOKENIZER_NAME, count_tokens
from engine.errors import InvalidRequest
from engine.retrieval.packing import pack
from engine.retrieval.search import Searcher

MAX_ITEMS = 1000
MAX_TOKENS = 100_000
_LOOK_FURTHER = 3


def recall_context(searcher: Searcher, principal: Principal, wanted: ContextQuery, now: datetime) -> ContextPack:
    """Pack what answers best; an empty pack says how many records matched and why none is in.

    `max_items` is 1..1000, `max_tokens` 0..100000.
    """
    if not 1 <= wanted.max_items <= MAX_ITEMS:
        raise InvalidRequest(f"max_items must lie between 1 and {MAX_ITEMS}", field="max_items")
    if not 0 <= wanted.max_tokens <= MAX_TOKENS:
        raise InvalidRequest(f"max_tokens must lie between 0 and {MAX_TOKENS}", field="max_tokens")
    limit = min(max(wanted.max_items * _LOOK_FURTHER, wanted.query.limit), MAX_LIMIT)
    query = replace(wanted.query, mode=Mode.FORGIVING, limit=limit)
    outcome = searcher.search(principal, query, now)
    hits = outcome.hits if isinstance(outcome, Matches) else ()
    packed = pack(
        hits,
        max_items=wanted.max_items,
        max_tokens=wanted.max_tokens,
        count_tokens=count_tokens,
        tokenizer=TOKENIZER_NAME,
    )
    return replace(packed, degraded=outcome.degraded)
