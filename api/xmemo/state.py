"""`POST /update_state`: what an agent is doing now, one slot per key."""

from __future__ import annotations

from api.deps import HeaderKey, HostDep, Writer, one_key
from api.xmemo import places
from api.xmemo.items import memory_item, written_body
from api.xmemo.models import StateBody
from api.xmemo.responses import Json, example, xmemo_router
from engine.domain.memory import StateUpdate

router = xmemo_router("state")

_EXAMPLE = {
    "id": "0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4b",
    "memory_id": "0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4b",
    "state_key": "active_task",
    "version": 3,
    "status": "active",
    "expires_at": "2026-01-31T09:00:00Z",
    "ttl_seconds": 86400,
}


@router.post("/update_state", summary="Write working state", responses=example(_EXAMPLE))
async def update_state(host: HostDep, caller: Writer, body: StateBody, key: HeaderKey) -> Json:
    """Each write is the next version of its slot (space, bucket, scope, `state_key`) and starts its time anew."""
    metadata = dict(body.metadata or {})
    if body.session_id is not None:
        metadata["session_id"] = body.session_id
    written = await host.call(
        host.engine.update_state,
        caller,
        StateUpdate(
            state_key=body.state_key,
            content=body.content,
            current_task=body.current_task,
            next_action=body.next_action,
            blocked_reason=body.blocked_reason,
            ttl_seconds=body.ttl_seconds,
            space=await places.writable(host, caller, body.space, body.team_id),
            bucket=body.bucket,
            scope=body.scope,
            path=body.path,
            source=body.source,
            metadata=metadata or None,
        ),
        idempotency_key=one_key(key, body.idempotency_key),
    )
    answer = written_body(written)
    return Json(
        memory_item(written.memory)
        | {"write_status": answer["status"], "state_key": body.state_key.strip(), "ttl_seconds": body.ttl_seconds or 0}
    )
