"""`/memories/stats`, `/memories/overview` and `/memories/activity`: how much there is, and what was done."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query as QueryParams

from api.deps import Host, HostDep, Reader
from api.xmemo import places
from api.xmemo.companion.models import ActivityParams, StatsParams
from api.xmemo.items import moment
from api.xmemo.responses import Json, example, xmemo_router
from engine.companion import overview
from engine.companion.overview import ActivityType, Statistics
from engine.domain.access import Principal

router = xmemo_router("overview")

DISTRIBUTIONS = ("type", "kind", "status", "bucket")
LATEST = 10
_STATS = {
    "totals": {"memories": 2, "content_bytes": 74},
    "distributions": {"type": {"semantic": 2}},
    "groups": {"path": [{"value": "team/release", "count": 2}]},
}
_ACTIVITY = {
    "activity": [
        {
            "type": "write",
            "action": "remember",
            "memory_id": "0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4b",
            "at": "2026-01-31T09:00:00Z",
        }
    ],
    "total": 1,
}


@router.get("/memories/stats", summary="Numbers of records, in total and by group", responses=example(_STATS))
async def stats(host: HostDep, caller: Reader, params: Annotated[StatsParams, QueryParams()]) -> Json:
    """Over the records that the filters admit; `[since, until)` is about their creation."""
    return Json(await stats_body(host, caller, params))


@router.get("/memories/overview", summary="Numbers and the latest activity", responses=example(_STATS | _ACTIVITY))
async def show_overview(host: HostDep, caller: Reader, params: Annotated[StatsParams, QueryParams()]) -> Json:
    """`stats`, the spaces, and the last ten things that were done."""
    return Json(await overview_body(host, caller, params))


@router.get("/memories/activity", summary="What was done, newest first", responses=example(_ACTIVITY))
async def activity(host: HostDep, caller: Reader, params: Annotated[ActivityParams, QueryParams()]) -> Json:
    """What was forgotten is named by its id only."""
    return Json(await activity_body(host, caller, params))


async def stats_body(host: Host, caller: Principal, params: StatsParams) -> dict[str, Any]:
    """The answer of `stats`."""
    groups = tuple(dict.fromkeys((*DISTRIBUTIONS, *params.groups)))
    found: Statistics = await host.call(
        overview.statistics,
        host.engine,
        caller,
        filters=params.filters(),
        spaces=await places.readable(host, caller, params.space, params.team_id),
        groups=groups,
        top_n=params.top_n,
    )
    totals = found.totals
    return {
        "totals": {
            "memories": totals.records,
            "content_bytes": totals.content_bytes,
            "oldest": moment(totals.oldest),
            "newest": moment(totals.newest),
        },
        "distributions": {name: dict(found.groups[name]) for name in DISTRIBUTIONS},
        "groups": {
            name: [{"value": value, "count": number} for value, number in found.groups[name].items()]
            for name in params.groups
        },
        "top_n": params.top_n,
    }


async def overview_body(host: Host, caller: Principal, params: StatsParams) -> dict[str, Any]:
    """The answer of `overview`."""
    body = await stats_body(host, caller, params)
    spaces = await host.call(host.engine.spaces, caller)
    body["spaces"] = [
        {"id": each.space.id, "name": each.space.name, "team_id": each.space.team_id, "can_write": each.can_write}
        for each in spaces
    ]
    lately = ActivityParams(
        since=params.since, until=params.until, space=params.space, team_id=params.team_id, limit=LATEST
    )
    return body | await activity_body(host, caller, lately)


async def activity_body(host: Host, caller: Principal, params: ActivityParams) -> dict[str, Any]:
    """The answer of `activity`."""
    found = await host.call(
        overview.activity,
        host.engine,
        caller,
        wanted=ActivityType(params.activity_type),
        spaces=await places.readable(host, caller, params.space, params.team_id),
        since=params.since,
        until=params.until,
        include_timeline=params.include_timeline,
        limit=params.limit,
    )
    return {
        "activity": [
            {
                "id": deed.id,
                "type": overview.kind_of_deed(deed),
                "action": deed.action,
                "memory_id": deed.target,
                "space_id": deed.space_id,
                "user_id": deed.user_id,
                "kind": deed.kind,
                "path": deed.path,
                "content": None if deed.content is None else deed.content[: overview.SHOWN_CHARACTERS],
                "at": moment(deed.at),
            }
            for deed in found.deeds
        ],
        "total": found.total,
    }
