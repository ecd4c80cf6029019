"""`/timeline`: what happened and when. Events are appended and never merged."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query as QueryParams

from api.deps import HeaderKey, HostDep, Reader, Writer, one_key
from api.xmemo import places
from api.xmemo.companion.items import event_item
from api.xmemo.companion.models import MAX_LIST_LIMIT, EventBody, TimelineParams
from api.xmemo.responses import Json, example, xmemo_router
from engine.companion import timeline
from engine.domain.query import MATCH_ALL

router = xmemo_router("timeline")

_EVENT = {
    "id": "0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4b",
    "memory_id": "0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4b",
    "event_id": "0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4b",
    "event_type": "milestone",
    "content": "The first customer went live.",
    "occurred_at": "2026-01-31T09:00:00Z",
}


@router.post("/timeline/events", summary="Note an event", responses=example(_EVENT))
async def record_event(host: HostDep, caller: Writer, body: EventBody, key: HeaderKey) -> Json:
    """Two equal events are two events."""
    event = timeline.Event(
        content=body.content,
        event_type=body.event_type,
        session_id=body.session_id,
        occurred_at=body.occurred_at,
        importance=body.importance,
        confidence=body.confidence,
        space=await places.writable(host, caller, body.space, body.team_id),
        bucket=body.bucket,
        scope=body.scope,
        source=body.source,
        path=body.path,
        metadata=body.metadata,
    )
    made = await host.call(
        timeline.record, host.engine, caller, event, idempotency_key=one_key(key, body.idempotency_key)
    )
    return Json(event_item(made))


@router.get("/timeline", summary="Events, the latest first", responses=example({"events": [_EVENT]}))
async def list_events(host: HostDep, caller: Reader, params: Annotated[TimelineParams, QueryParams()]) -> Json:
    """`[since, until)` is about the time at which an event occurred."""
    found = await host.call(
        timeline.events,
        host.engine,
        caller,
        filters=params.filters(),
        spaces=await places.readable(host, caller, params.space, params.team_id),
        session_id=params.session_id,
        event_type=None if params.event_type == MATCH_ALL else params.event_type,
        limit=min(params.limit, MAX_LIST_LIMIT),
    )
    return Json({"events": [event_item(each) for each in found], "count": len(found)})
