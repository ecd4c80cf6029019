"""`/memories/{id}/usage` and `/memories/{id}/versions`."""

from __future__ import annotations

from api.deps import HeaderKey, HostDep, Reader, one_key
from api.xmemo.companion.models import UsageBody
from api.xmemo.items import moment, version_item
from api.xmemo.responses import Json, example, xmemo_router
from engine.companion import usage
from engine.domain.memory import MemoryVersion

router = xmemo_router("memories")

_ID = "0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4b"
_USED = {"id": _ID, "memory_id": _ID, "action": "used", "status": "recorded"}


@router.post("/memories/{memory_id}/usage", summary="A memory was of use", responses=example(_USED))
async def mark_used(
    host: HostDep, caller: Reader, memory_id: str, key: HeaderKey, body: UsageBody | None = None
) -> Json:
    """Counts as an access and stands in the audit. It changes no record, so the right to read is enough."""
    body = body or UsageBody()
    memory = await host.call(
        usage.mark_used,
        host.engine,
        caller,
        memory_id,
        body.action,
        tracking_id=body.usage_tracking_id,
        idempotency_key=one_key(key, body.idempotency_key),
    )
    return Json(
        {
            "id": memory.id,
            "memory_id": memory.id,
            "action": body.action,
            "usage_tracking_id": body.usage_tracking_id,
            "status": "recorded",
        }
    )


@router.get(
    "/memories/{memory_id}/versions",
    summary="A memory's history, newest first",
    responses=example({"id": _ID, "versions": [{"version": 2, "content": "Now on Wednesdays.", "current": True}]}),
)
async def list_versions(host: HostDep, caller: Reader, memory_id: str) -> Json:
    """The present state and all former ones; a redacted record has none of these any more."""
    memory = await host.call(host.engine.get, caller, memory_id)
    former = await host.call(host.engine.versions, caller, memory_id)
    now = MemoryVersion(
        memory_id=memory.id,
        version=memory.version,
        content=memory.content,
        path=memory.path,
        memory_type=memory.memory_type,
        recorded_at=memory.updated_at,
    )
    versions = [version_item(now) | {"current": True}, *(version_item(each) | {"current": False} for each in former)]
    body = {"id": memory.id, "memory_id": memory.id, "updated_at": moment(memory.updated_at)}
    return Json(body | {"versions": versions, "count": len(versions)})
