"""`POST /search`: the best of one space, or with `mode: strict` only what the engine vouches for.

`rerank`, `graph` and `recall_id` are accepted: evidence is always weighed, names and identifiers
always count, and no request waits for another. An outage is 503, never an empty list.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar

from fastapi import Request
from pydantic import Field

from api.crosmos.items import candidate_item
from api.crosmos.wire import Uuid, check_space, crosmos_router
from api.deps import Host, HostDep, Reader
from api.xmemo.responses import Json
from api.xmemo.wire import WireModel
from engine.companion import time_words
from engine.domain.access import Principal, ReadableSpace
from engine.domain.memory import Kind
from engine.domain.outcome import Matches, NoMatch
from engine.domain.query import SEARCHABLE_KINDS, Filters, Mode, Query

router = crosmos_router("search")

LIMIT = 50
_SPARE = 10
"""Hits asked for beyond the limit, so that time words can bring one forward and working state can be left out."""


class SearchBody(WireModel):
    """A question to one space. `mode` and `min_confidence` are extensions."""

    query: Annotated[str, Field(min_length=1, max_length=3000)]
    space_id: Uuid
    limit: Annotated[int, Field(ge=1)] = 10
    recency_bias: Annotated[float, Field(ge=0, le=1)] | None = None
    rerank: bool = True
    graph: bool = True
    diversify: bool = False
    include_source: bool = True
    recall_id: str | None = None
    mode: Mode = Mode.FORGIVING
    min_confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    ALIASES: ClassVar[Mapping[str, str]] = {"space_uuid": "space_id"}


@router.post("/search", summary="Search a space")
async def search(request: Request, host: HostDep, caller: Reader, body: SearchBody) -> Json:
    """Candidates in rank order; an empty list when nothing fits. `source` is left out unless asked for."""
    started = time.perf_counter()
    check_space(request, caller, body.space_id)
    space = await host.call(host.engine.space, caller, body.space_id)
    limit = min(body.limit, LIMIT)
    outcome = await host.call(
        host.engine.search,
        caller,
        Query(
            text=body.query,
            mode=body.mode,
            limit=limit + _SPARE,
            spaces=(body.space_id,),
            filters=Filters(kinds=SEARCHABLE_KINDS - {Kind.STATE}),
            min_confidence=body.min_confidence,
            recency_bias=body.recency_bias or 0.0,
            diversify=body.diversify,
        ),
    )
    host.organisations.count_query(caller.tenant_id)
    host.metrics.answered(body.mode.value, outcome.reason.value if isinstance(outcome, NoMatch) else "matches")
    candidates = await _candidates(host, caller, space, body, outcome, limit)
    answer: dict[str, Any] = {
        "query": body.query,
        "candidates": candidates,
        "total": len(candidates),
        "took_ms": round((time.perf_counter() - started) * 1000, 1),
    }
    if isinstance(outcome, NoMatch):
        answer["no_match"] = {
            "reason": outcome.reason.value,
            "threshold": outcome.threshold,
            "considered": outcome.considered,
            "best_confidence": outcome.best_confidence,
        }
    return Json(answer)


async def _candidates(
    host: Host,
    caller: Principal,
    space: ReadableSpace,
    body: SearchBody,
    outcome: Matches | NoMatch,
    limit: int,
) -> list[dict[str, Any]]:
    hits = outcome.hits if isinstance(outcome, Matches) else ()
    shown = [
        hit
        for hit in hits
        if host.engine.ingest.shows(hit.memory)
        and (body.min_confidence is None or hit.confidence >= body.min_confidence)
    ]
    ranked = time_words.preferred(shown, body.query, datetime.now(UTC))[:limit]
    if not ranked:
        return []
    owner = await host.call(host.organisations.user_name, space.space.tenant_id, space.space.owner_user_id)
    items = [candidate_item(host.engine, hit, score, owner) for hit, score in ranked]
    if body.include_source:
        ids = {hit.memory.source_id for hit, _ in ranked if hit.memory.source_id}
        texts = await host.call(host.engine.ingest.texts, caller, space.space.id, ids) if ids else {}
        for item in items:
            item["source"] = texts.get(item["source_id"] or "")
    return items
