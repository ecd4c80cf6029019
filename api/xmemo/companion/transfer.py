"""`/memories/export` and `/memories/import`: pages of JSON Lines."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import Request

from api.deps import HeaderKey, HostDep, Reader, Writer, one_key
from api.xmemo import places
from api.xmemo.companion.models import MAX_EXPORT_LIMIT, ExportBody, ImportBody
from api.xmemo.recall import refuse_query_string
from api.xmemo.responses import Json, example, xmemo_router
from engine.companion import transfer
from engine.domain.query import Filters

router = xmemo_router("transfer")

_PAGE = {"jsonl": '{"content": "The release train leaves on Tuesdays."}\n', "count": 1, "total": 1, "next_cursor": None}
_REPORT = {"lines": 1, "created": 1, "updated": 0, "unchanged": 0, "refused": [], "next_cursor": None}


@router.post("/memories/export", summary="Records as JSON Lines, page by page", responses=example(_PAGE))
async def export_memories(request: Request, host: HostDep, caller: Reader, body: ExportBody | None = None) -> Json:
    """Oldest first, archived ones too. Send `next_cursor` as `cursor` until it is null; pages join as they are."""
    refuse_query_string(request)
    body = body or ExportBody()
    page = await host.call(
        transfer.export_page,
        host.engine,
        caller,
        filters=Filters(bucket=body.bucket, scope=body.scope),
        spaces=await places.readable(host, caller, body.space, body.team_id),
        cursor=body.cursor,
        limit=min(body.limit, MAX_EXPORT_LIMIT),
    )
    return Json({"jsonl": page.jsonl, "count": page.count, "total": page.total, "next_cursor": page.next_cursor})


@router.post("/memories/import", summary="Store records from JSON Lines, page by page", responses=example(_REPORT))
async def import_memories(host: HostDep, caller: Writer, body: ImportBody, key: HeaderKey) -> Json:
    """Lines at fault are named and left out. A page sent twice stores nothing twice. Needs an idempotency key."""
    request = transfer.ImportRequest(
        jsonl=body.jsonl,
        cursor=body.cursor,
        limit=body.limit,
        space=await places.writable(host, caller, body.space, body.team_id),
        bucket=body.bucket,
        scope=body.scope,
        dry_run=body.dry_run,
    )
    report = await host.call(
        transfer.import_page, host.engine, caller, request, idempotency_key=one_key(key, body.idempotency_key)
    )
    answer: dict[str, Any] = {
        **asdict(report),
        "imported": report.created + report.updated + report.unchanged,
        "dry_run": body.dry_run,
    }
    return Json(answer)
