"""`/decisions`: questions that wait for an answer, and the answers."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query as QueryParams

from api.deps import HeaderKey, HostDep, Reader, Writer, one_key
from api.xmemo import places
from api.xmemo.companion.items import decision_item, must_lie_in
from api.xmemo.companion.models import MAX_LIST_LIMIT, DecisionBody, DecisionsParams, ResolveBody
from api.xmemo.responses import Json, example, xmemo_router
from engine.companion import decisions

router = xmemo_router("decisions")

_DECISION = {
    "id": "0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4b",
    "memory_id": "0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4b",
    "decision_id": "0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4b",
    "context": "Which queue do we use?",
    "options": ["kafka", "rabbitmq"],
    "item_status": "open",
    "resolution": None,
}


@router.post("/decisions", summary="Put a question", responses=example(_DECISION))
async def create_decision(host: HostDep, caller: Writer, body: DecisionBody, key: HeaderKey) -> Json:
    """A pending decision with up to 20 options."""
    decision = decisions.Decision(
        context=body.context,
        options=tuple(body.options),
        due_at=body.due_at,
        space=await places.writable(host, caller, body.space, body.team_id),
        bucket=body.bucket,
        scope=body.scope,
        path=body.path,
    )
    made = await host.call(
        decisions.create, host.engine, caller, decision, idempotency_key=one_key(key, body.idempotency_key)
    )
    return Json(decision_item(made))


@router.get("/decisions", summary="Decisions, newest first", responses=example({"decisions": [_DECISION]}))
async def list_decisions(host: HostDep, caller: Reader, params: Annotated[DecisionsParams, QueryParams()]) -> Json:
    """The pending ones by default."""
    found = await host.call(
        decisions.decisions,
        host.engine,
        caller,
        filters=params.filters(),
        spaces=await places.readable(host, caller, params.space, params.team_id),
        due_before=params.due_before,
        limit=min(params.limit, MAX_LIST_LIMIT),
    )
    return Json({"decisions": [decision_item(each) for each in found], "count": len(found)})


@router.post(
    "/decisions/{memory_id}/resolve",
    summary="Answer a question",
    responses=example({**_DECISION, "item_status": "resolved", "resolution": "kafka"}),
)
async def resolve_decision(host: HostDep, caller: Writer, memory_id: str, body: ResolveBody) -> Json:
    """The resolution becomes part of the record's text, so a search finds it."""
    must_lie_in(await host.call(host.engine.get, caller, memory_id), body.bucket, body.scope)
    resolved = await host.call(decisions.resolve, host.engine, caller, memory_id, body.resolution)
    return Json(decision_item(resolved))
