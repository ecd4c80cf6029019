"""`GET /recall`: the best effort, labelled. `POST /recall/context`: several memories in a token budget."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from api.deps import HostDep, Reader
from api.xmemo import places
from api.xmemo.address import FromAddress, parameters
from api.xmemo.items import degraded, hit_item
from api.xmemo.models import MAX_ITEMS, ContextBody, RecallParams
from api.xmemo.responses import Json, example, xmemo_router
from api.xmemo.search import applied_scope, find
from api.xmemo.search import refuse_query_string as refuse_query_string
from engine.domain.outcome import ContextPack
from engine.domain.query import MAX_LIMIT, ContextQuery, Mode, Query

router = xmemo_router("recall")

_PACK = {
    "items": [{"id": "0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4b", "content": "The release train leaves on Tuesdays."}],
    "context_text": "[1] id=0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4b\ncontent: The release train leaves on Tuesdays.",
    "budget": {"tokens": 2000, "items": 8, "used_tokens": 41, "max_tokens": 2000, "used_items": 1},
}


@router.get(
    "/recall",
    summary="The best effort for a question, every hit labelled",
    responses=example({"results": []}, "Hits with `label` strong, likely or weak."),
    openapi_extra=parameters(RecallParams),
)
async def recall(
    host: HostDep, caller: Reader, params: Annotated[RecallParams, Depends(FromAddress(RecallParams))]
) -> Json:
    """Forgiving: weak hits are returned too, and say that they are weak."""
    return Json(await find(host, caller, params))


@router.post(
    "/recall",
    summary="The same, for a question that is too long for an address",
    responses=example({"results": []}, "Hits with `label` strong, likely or weak."),
)
async def recall_by_body(request: Request, host: HostDep, caller: Reader, body: RecallParams) -> Json:
    """The fields of the query string, in the body."""
    refuse_query_string(request)
    return Json(await find(host, caller, body))


@router.post(
    "/recall/context",
    summary="Pack what answers best into a token budget",
    responses=example(_PACK, "`items` and `context_text` in the same order."),
)
async def recall_context(request: Request, host: HostDep, caller: Reader, body: ContextBody) -> Json:
    """Whole items first; the last one may be cut. An empty pack says how many records matched."""
    refuse_query_string(request)
    spaces = await places.readable(host, caller, body.space, body.team_id, body.spaces)
    max_items = body.max_items or body.limit or MAX_ITEMS
    pack = await host.call(
        host.engine.recall_context,
        caller,
        ContextQuery(
            query=Query(
                text=body.query,
                mode=Mode.FORGIVING,
                limit=min(max_items, MAX_LIMIT),
                spaces=spaces,
                filters=body.filters(),
                prefer_working=body.prefer_working,
                explain=body.explain,
                min_confidence=body.threshold,
                time_order=body.time_order,
                hypothetical_answer=body.hypothetical_answer,
            ),
            max_items=max_items,
            max_tokens=body.max_tokens,
        ),
    )
    return Json(pack_body(pack, explain=body.explain, scope=applied_scope(body)))


def pack_body(pack: ContextPack, *, explain: bool, scope: str | None) -> dict[str, object]:
    """A context pack as the contract's body."""
    items = [
        hit_item(item.hit, explain=explain) | {"tokens": item.tokens, "truncated": item.truncated}
        for item in pack.items
    ]
    body: dict[str, object] = {
        "items": items,
        "context_text": pack.text,
        "budget": {
            "tokens": pack.max_tokens,
            "items": pack.max_items,
            "used_tokens": pack.tokens,
            "max_tokens": pack.max_tokens,
            "max_items": pack.max_items,
            "used_items": len(pack.items),
            "tokenizer": pack.tokenizer,
        },
        "coverage": {
            "matched": pack.matched,
            "left_out": [{"memory_id": each.memory_id, "why": each.why.value} for each in pack.left_out],
            "degraded": [degraded(each) for each in pack.degraded],
        },
    }
    if scope is not None:
        body["scope"] = scope
    return body
