"""`/reminders`: what is to be done, until it is done."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query as QueryParams

from api.deps import HeaderKey, HostDep, Reader, Writer, one_key
from api.xmemo import places
from api.xmemo.companion.items import must_lie_in, reminder_item
from api.xmemo.companion.models import MAX_LIST_LIMIT, CompleteBody, ReminderBody, RemindersParams
from api.xmemo.responses import Json, example, xmemo_router
from engine.companion import reminders

router = xmemo_router("reminders")

_REMINDER = {
    "id": "0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4b",
    "memory_id": "0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4b",
    "todo_id": "0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4b",
    "content": "Renew the certificate.",
    "due_at": "2026-01-31T09:00:00Z",
    "item_status": "open",
    "status": "active",
}


@router.post("/reminders", summary="Make a reminder", responses=example(_REMINDER))
async def create_reminder(host: HostDep, caller: Writer, body: ReminderBody, key: HeaderKey) -> Json:
    """An open reminder."""
    reminder = reminders.Reminder(
        content=body.content,
        due_at=body.due_at,
        session_id=body.session_id,
        space=await places.writable(host, caller, body.space, body.team_id),
        bucket=body.bucket,
        scope=body.scope,
        path=body.path,
        source=body.source,
        metadata=body.metadata,
    )
    made = await host.call(
        reminders.create, host.engine, caller, reminder, idempotency_key=one_key(key, body.idempotency_key)
    )
    return Json(reminder_item(made))


@router.get("/reminders", summary="Reminders, newest first", responses=example({"reminders": [_REMINDER]}))
async def list_reminders(host: HostDep, caller: Reader, params: Annotated[RemindersParams, QueryParams()]) -> Json:
    """The open ones by default."""
    found = await host.call(
        reminders.reminders,
        host.engine,
        caller,
        filters=params.filters(),
        spaces=await places.readable(host, caller, params.space, params.team_id),
        due_before=params.due_before,
        limit=min(params.limit, MAX_LIST_LIMIT),
    )
    return Json({"reminders": [reminder_item(each) for each in found], "count": len(found)})


@router.post(
    "/reminders/{memory_id}/complete",
    summary="A reminder is done",
    responses=example({**_REMINDER, "item_status": "completed"}),
)
async def complete_reminder(host: HostDep, caller: Writer, memory_id: str, body: CompleteBody | None = None) -> Json:
    """Completing it again changes nothing and is no error."""
    body = body or CompleteBody()
    must_lie_in(await host.call(host.engine.get, caller, memory_id), body.bucket, body.scope)
    done = await host.call(reminders.complete, host.engine, caller, memory_id, body.note)
    return Json(reminder_item(done))
