"""`GET /memories/search`: the strict targeted match, or a forgiving search when asked."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from api.deps import Host, HostDep, Reader
from api.xmemo import places
from api.xmemo.address import FromAddress, parameters
from api.xmemo.items import memory_item, outcome_body
from api.xmemo.models import RecallParams, SearchParams, Timed
from api.xmemo.responses import Json, example, xmemo_router
from engine.domain.access import Principal
from engine.domain.outcome import NoMatch
from engine.domain.query import LIST_ALL, MATCH_ALL, MAX_LIMIT, ListQuery, Query, TimeAxis, TimeOrder
from engine.errors import InvalidRequest

router = xmemo_router("search")

_EXAMPLE = {
    "results": [
        {
            "id": "0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4b",
            "memory_id": "0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4b",
            "content": "The release train leaves on Tuesdays.",
            "path": "team/release",
            "bucket": "work",
            "memory_type": "semantic",
            "score": 0.93,
            "similarity": 0.93,
            "confidence": 0.93,
            "label": "strong",
        }
    ],
    "threshold": 0.52,
    "coverage": {"considered": 20, "degraded": []},
}


@router.get(
    "/memories/search",
    summary="Find what answers a question, or say that nothing does",
    responses=example(_EXAMPLE, "Hits, or `results: []` with `no_match` that says why."),
    openapi_extra=parameters(SearchParams),
)
async def search(
    host: HostDep, caller: Reader, params: Annotated[SearchParams, Depends(FromAddress(SearchParams))]
) -> Json:
    """Strict by default: a weak hit is never the answer. An outage is 503, never an empty list."""
    return Json(await find(host, caller, params))


@router.post(
    "/memories/search",
    summary="The same, for a question that is too long for an address",
    responses=example(_EXAMPLE, "Hits, or `results: []` with `no_match` that says why."),
)
async def search_by_body(request: Request, host: HostDep, caller: Reader, body: SearchParams) -> Json:
    """The fields of the query string, in the body."""
    refuse_query_string(request)
    return Json(await find(host, caller, body))


async def find(host: Host, caller: Principal, params: SearchParams | RecallParams) -> dict[str, object]:
    """The body of a search's answer; `/recall` asks the same way with another mode."""
    spaces = await places.readable(host, caller, params.space, params.team_id, params.spaces)
    if params.is_feed or (params.query == LIST_ALL and params.orders_by_update):
        return await _feed(host, caller, params, spaces)
    outcome = await host.call(
        host.engine.search,
        caller,
        Query(
            text=params.query,
            mode=params.mode,
            limit=min(params.limit, MAX_LIMIT),
            spaces=spaces,
            filters=params.filters(),
            prefer_working=params.prefer_working,
            explain=params.explain,
            min_confidence=params.threshold,
            time_order=params.time_order,
        ),
    )
    result = outcome.reason.value if isinstance(outcome, NoMatch) else "matches"
    host.metrics.answered(params.mode.value, result)
    body = outcome_body(outcome, explain=params.explain, scope=applied_scope(params))
    if params.orders_by_update:
        newest_first = params.time_order is not TimeOrder.ASCENDING
        body["results"].sort(key=lambda item: (item["updated_at"], item["id"]), reverse=newest_first)
    return body


def applied_scope(params: Timed) -> str | None:
    """The scope that was applied, if one was."""
    return params.scope if params.scope != MATCH_ALL else None


def refuse_query_string(request: Request) -> None:
    """Filters of a read with a body belong into the body; one in the address would be dropped."""
    for name in request.query_params:
        raise InvalidRequest(f"send {name[:64]!r} in the body, not in the address", field=name)


async def _feed(
    host: Host, caller: Principal, params: SearchParams | RecallParams, spaces: tuple[str, ...]
) -> dict[str, object]:
    """All records of the window in time order. The filters are the whole question, so each one answers it."""
    filters = params.filters()
    page = await host.call(
        host.engine.list_memories,
        caller,
        ListQuery(
            spaces=spaces,
            filters=filters,
            limit=min(params.limit, MAX_LIMIT),
            order_by=TimeAxis.UPDATED if params.orders_by_update else filters.window.axis,
            order=params.time_order or TimeOrder.DESCENDING,
        ),
    )
    host.metrics.answered("feed", "matches" if page.memories else "empty")
    certain = {"score": 1.0, "similarity": 1.0, "confidence": 1.0, "label": "strong"}
    body: dict[str, object] = {
        "results": [memory_item(memory) | certain for memory in page.memories],
        "threshold": 0.0,
        "coverage": {"considered": page.total, "degraded": []},
    }
    if not page.memories:
        body["no_match"] = {"reason": "filtered_out", "threshold": 0.0, "considered": 0, "best_confidence": 0.0}
    return body
