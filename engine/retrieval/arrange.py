"""The order in which kept records are shown.

Working state that was asked for comes first, then an exact id or key, then everything by rank. In
forgiving mode recency and importance only decide between records whose evidence is as good as
equal; `recency_bias` is the caller's own wish and may do more. `time_order` sorts what would be
shown anyway by time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime

from engine.domain.query import Mode, Query, TimeAxis, TimeOrder
from engine.retrieval.judged import Judged
from engine.text.analysis import analyse, term_counts

TIE = 0.01
"""Ranks whose ratio is nearer to one than this are a tie."""

_DAY_SECONDS = 86_400.0
_HALF_LIFE_DAYS = 30.0
_DIVERSITY = 0.3


def order(judged: Sequence[Judged], query: Query, now: datetime) -> list[Judged]:
    """All kept records in the order to show; the caller cuts at the limit."""
    ordered = sorted(judged, key=lambda each: _key(each, query, now))
    if query.diversify:
        ordered = _diverse(ordered, query.limit)
    if query.time_order is not None:
        head, rest = ordered[: query.limit], ordered[query.limit :]
        axis = query.filters.window.axis
        head.sort(key=lambda each: _time(each, axis), reverse=query.time_order is TimeOrder.DESCENDING)
        return head + rest
    return ordered


def _key(judged: Judged, query: Query, now: datetime) -> tuple[float, ...] | tuple[object, ...]:
    rank = judged.rank * (1.0 + query.recency_bias * _freshness(judged, now))
    pinned = (not judged.working, not judged.exact)
    if query.mode is Mode.STRICT:
        return (*pinned, -rank, judged.memory.id)
    return (
        *pinned,
        -round(math.log(max(rank, 1e-9)) / TIE),
        -_freshness(judged, now) - (judged.memory.importance or 0.0) * TIE,
        -rank,
        judged.memory.id,
    )


def _freshness(judged: Judged, now: datetime) -> float:
    moment = judged.memory.event_time or judged.memory.created_at
    age_days = max((now - moment).total_seconds(), 0.0) / _DAY_SECONDS
    return float(2.0 ** (-age_days / _HALF_LIFE_DAYS))


def _time(judged: Judged, axis: TimeAxis) -> tuple[datetime, str]:
    memory = judged.memory
    match axis:
        case TimeAxis.EVENT:
            moment = memory.event_time or memory.created_at
        case TimeAxis.UPDATED:
            moment = memory.updated_at
        case TimeAxis.CREATED:
            moment = memory.created_at
    return moment, memory.id


def _diverse(ordered: list[Judged], limit: int) -> list[Judged]:
    """Maximal marginal relevance by shared words, on the records that may be shown."""
    words = {each.memory.id: set(term_counts(analyse(each.memory.content[:2000]))) for each in ordered}
    top = max((each.rank for each in ordered), default=1.0) or 1.0
    left = list(ordered)
    chosen: list[Judged] = []
    while left and len(chosen) < limit:
        best = max(
            left,
            key=lambda each: (
                (1 - _DIVERSITY) * each.rank / top
                - _DIVERSITY * max((_overlap(words[each.memory.id], words[c.memory.id]) for c in chosen), default=0.0)
            ),
        )
        chosen.append(best)
        left.remove(best)
    return chosen + left


def _overlap(one: set[str], other: set[str]) -> float:
    return len(one & other) / len(one | other) if one or other else 1.0
