"""`query="*"`: everything under the filters, newest first, without ranking.

The filters are the whole question, so each record answers it: confidence 1.0.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from engine.domain.access import ReadableSpace
from engine.domain.memory import Memory
from engine.domain.outcome import Hit, Label, Matches, NoMatch, NoMatchReason, Outcome, Passage, Signals
from engine.domain.query import TimeOrder
from engine.retrieval.request import Prepared
from engine.store import memories

_LISTED = Signals(dense=None, lexical=0.0, coverage=0.0, legs=frozenset())


def list_all(connection: Connection, spaces: Sequence[ReadableSpace], prepared: Prepared) -> Outcome:
    """The first `limit` records of all given spaces."""
    ids = [each.space.id for each in spaces]
    found, total = memories.page(
        connection,
        ids,
        prepared.where,
        prepared.now,
        limit=prepared.query.limit,
        offset=0,
        order_by=prepared.query.filters.window.axis.value,
        descending=prepared.query.time_order is not TimeOrder.ASCENDING,
    )
    if not found:
        stored = memories.has_live(connection, ids, prepared.now)
        reason = NoMatchReason.FILTERED_OUT if stored else NoMatchReason.EMPTY_SPACE
        return NoMatch(reason=reason, threshold=0.0, considered=0, best_confidence=0.0)
    return Matches(hits=tuple(_hit(memory) for memory in found), threshold=0.0, considered=total)


def _hit(memory: Memory) -> Hit:
    return Hit(
        memory=memory,
        confidence=1.0,
        label=Label.STRONG,
        signals=_LISTED,
        passage=Passage(0, len(memory.content)),
        reasons=("it meets the filters",),
    )
