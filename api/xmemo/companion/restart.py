"""`/restart`: note where a session stands, and go on from there in the next one."""

from __future__ import annotations

from dataclasses import replace

from api.deps import Caller, HeaderKey, HostDep, Writer, one_key
from api.xmemo import places
from api.xmemo.companion.items import nothing_restored, restored_body, snapshot_item
from api.xmemo.companion.models import RestoreBody, SnapshotBody
from api.xmemo.responses import Json, example, xmemo_router
from engine.companion import restart
from engine.domain.access import Principal, Scope
from engine.errors import Forbidden

router = xmemo_router("restart")

_SNAPSHOT = {
    "id": "0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4b",
    "snapshot_id": "0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4b",
    "label": "friday",
    "created_at": "2026-01-31T09:00:00Z",
    "expires_at": None,
    "timeline_count": 3,
    "reminders_count": 1,
    "decisions_count": 0,
    "states_count": 1,
}
_RESTORERS = frozenset({Scope.RESTORE, Scope.WRITE, Scope.ADMIN})


@router.post("/restart/snapshot", summary="Note where a session stands", responses=example(_SNAPSHOT))
async def take_snapshot(host: HostDep, caller: Writer, body: SnapshotBody, key: HeaderKey) -> Json:
    """The active state, recent events, open reminders and pending decisions; ids, never texts."""
    space = await places.writable(host, caller, body.space, body.team_id)
    wanted = restart.SnapshotRequest(
        place=restart.Place(space=space, bucket=body.bucket, scope=body.scope),
        state_key=body.state_key,
        label=body.label,
        session_id=body.session_id,
        timeline_limit=body.timeline_limit,
        reminder_limit=body.reminder_limit,
        decision_limit=body.decision_limit,
        ttl_seconds=body.ttl_seconds,
        source=body.source,
        path=body.path,
        metadata=body.metadata,
    )
    taken = await host.call(
        restart.snapshot, host.engine, caller, wanted, idempotency_key=one_key(key, body.idempotency_key)
    )
    return Json(snapshot_item(taken))


@router.post(
    "/restart/restore",
    summary="Go on from a snapshot",
    responses=example({"id": _SNAPSHOT["id"], "restored": True, "status": "restored"}),
)
async def restore_snapshot(host: HostDep, caller: Caller, body: RestoreBody | None = None) -> Json:
    """The named snapshot or the latest that matches; `restored: false` when there is none.

    Without `restore_state` and `record_restore_event` it is a pure read and needs no more rights.
    """
    body = body or RestoreBody()
    actor = caller if not (body.restore_state or body.record_restore_event) else _restorer(caller)
    if body.team_id is not None:
        space = await places.writable(host, caller, body.space, body.team_id)
    else:
        space = body.space
    place = restart.Place(space=space, bucket=body.bucket, scope=body.scope)
    found = await host.call(
        restart.find,
        host.engine,
        caller,
        place,
        snapshot_id=body.snapshot_id,
        state_key=body.state_key,
        session_id=body.source_session_id,
    )
    if found is None:
        return Json(nothing_restored())
    restored = await host.call(
        restart.restore,
        host.engine,
        actor,
        found,
        place,
        restore_state=body.restore_state,
        record_event=body.record_restore_event,
        ttl_seconds=body.ttl_seconds,
        target_session_id=body.target_session_id,
        source=body.source,
    )
    return Json(restored_body(restored))


def _restorer(caller: Principal) -> Principal:
    """The right to restore includes the two writes of a restore; the spaces stay those of the token."""
    if caller.scopes.isdisjoint(_RESTORERS):
        raise Forbidden("this token lacks the scope memory:restore or memory:write")
    return replace(caller, scopes=caller.scopes | {Scope.WRITE})
