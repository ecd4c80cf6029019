"""`POST /skill/operations`: one endpoint for skill clients. Each operation runs the route that it is a name for.

Answers are `{"ok": true, "operation", "result"}`, errors `{"ok": false, "error": {"code", "message"}}`
with the status that the route would have. `doctor` is the one operation that needs no credential.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, ClassVar

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import Field, ValidationError
from starlette.exceptions import HTTPException

from api.deps import Host, HostDep, authenticate
from api.envelope import current
from api.errors import ErrorStyle, XMemoRoute, answer
from api.xmemo import memories, search, state
from api.xmemo.companion import reminders
from api.xmemo.companion.items import todo_item
from api.xmemo.companion.models import (
    ActivityParams,
    CompleteBody,
    ReminderBody,
    RemindersParams,
    StatsParams,
)
from api.xmemo.companion.overview import activity_body, overview_body
from api.xmemo.items import moment
from api.xmemo.models import RecallParams, RememberBody, SearchParams, StateBody
from api.xmemo.responses import Json, example, xmemo_router
from api.xmemo.wire import JsonObject, ReadModel, WriteModel
from engine.companion import reminders as todos
from engine.companion import restart
from engine.domain.access import Principal
from engine.domain.memory import DEFAULT_STATE_KEY
from engine.domain.query import MATCH_ALL
from engine.errors import AccessError, InvalidIdentifier, InvalidRequest, MemvouchError, NotFound, Unauthenticated

MAX_TODOS = 100
_CODES = {
    400: "invalid_request",
    401: "authentication_required",
    403: "permission_denied",
    404: "not_found",
    409: "conflict",
    413: "content_too_large",
    422: "invalid_request",
    503: "service_unavailable",
}


class SkillRoute(XMemoRoute):
    """A route whose errors are skill errors."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                return await handle(request)
            except MemvouchError as error:
                found = answer(error, ErrorStyle.XMEMO)
                return _refusal(found.status, _code_of(error, found.status), str(error), found.headers)
            except (RequestValidationError, ValidationError) as error:
                return _refusal(422, "invalid_request", _told(error))
            except HTTPException as error:
                code = _CODES.get(error.status_code, "server_error")
                return _refusal(error.status_code, code, str(error.detail), error.headers)

        return handled


router = xmemo_router("skill", {"type": "object", "properties": {"error": {}}, "required": ["error"]})
router.route_class = SkillRoute


class OperationBody(WriteModel):
    """One operation with its arguments."""

    operation: str
    arguments: JsonObject = Field(default_factory=dict)


class DoneArguments(CompleteBody):
    """Arguments of `todo-done`."""

    id: str

    ALIASES: ClassVar[Mapping[str, str]] = {"todo_id": "id"}


class StateKeyArguments(ReadModel):
    """Arguments of `state-restore`."""

    state_key: str = DEFAULT_STATE_KEY
    bucket: str = "work"
    scope: str | None = None

    ALIASES: ClassVar[Mapping[str, str]] = {"key": "state_key"}


@router.post(
    "/skill/operations",
    summary="Run one skill operation",
    responses=example({"ok": True, "operation": "todo-list", "result": []}),
)
async def run_operation(request: Request, host: HostDep, body: OperationBody) -> Json:
    """The operations: doctor, remember, recall, search, state-save, state-restore, todo-add, todo-list, todo-done,
    overview and activity.
    """
    if body.operation == "doctor":
        return _done(body.operation, await _doctor(request))
    caller = await authenticate(request)
    run = _OPERATIONS.get(body.operation)
    if run is None:
        raise NotFound(f"there is no operation {body.operation[:64]!r} here")
    return _done(body.operation, await run(host, caller, body.arguments))


def _done(operation: str, result: Any) -> Json:
    return Json({"ok": True, "operation": operation, "result": result})


async def _doctor(request: Request) -> dict[str, Any]:
    """Whether the server answers and knows the credential. An outage is an error, never `auth_valid: false`."""
    try:
        caller = await authenticate(request)
    except AccessError as error:
        return {"status": "ok", "auth_valid": False, "scopes": [], "problem": str(error)}
    return {"status": "ok", "auth_valid": True, "scopes": sorted(caller.scopes)}


async def _remember(host: Host, caller: Principal, arguments: Mapping[str, Any]) -> str:
    return str(_content(await memories.remember(host, caller, RememberBody.model_validate(arguments), None))["id"])


async def _recall(host: Host, caller: Principal, arguments: Mapping[str, Any]) -> object:
    return (await search.find(host, caller, RecallParams.model_validate(arguments)))["results"]


async def _search(host: Host, caller: Principal, arguments: Mapping[str, Any]) -> object:
    return (await search.find(host, caller, SearchParams.model_validate(arguments)))["results"]


async def _save_state(host: Host, caller: Principal, arguments: Mapping[str, Any]) -> object:
    return _content(await state.update_state(host, caller, StateBody.model_validate(arguments), None))


async def _restore_state(host: Host, caller: Principal, arguments: Mapping[str, Any]) -> object:
    wanted = StateKeyArguments.model_validate(arguments)
    place = restart.Place(bucket=wanted.bucket, scope=wanted.scope)
    found = await host.call(restart.active_state, host.engine, caller, place, wanted.state_key)
    if found is None:
        return None
    return {
        "id": found.id,
        "state_key": found.state_key,
        "content": found.content,
        "metadata": dict(found.metadata),
        "version": found.version,
        "expires_at": moment(found.expires_at),
    }


async def _add_todo(host: Host, caller: Principal, arguments: Mapping[str, Any]) -> object:
    made = _content(await reminders.create_reminder(host, caller, ReminderBody.model_validate(arguments), None))
    return made | {"status": "open"}


async def _list_todos(host: Host, caller: Principal, arguments: Mapping[str, Any]) -> object:
    params = RemindersParams.model_validate({"item_status": MATCH_ALL, "limit": MAX_TODOS, **arguments})
    found = await host.call(
        todos.reminders,
        host.engine,
        caller,
        filters=params.filters(),
        due_before=params.due_before,
        limit=min(params.limit, MAX_TODOS),
    )
    return [todo_item(each) for each in found]


async def _finish_todo(host: Host, caller: Principal, arguments: Mapping[str, Any]) -> object:
    wanted = DoneArguments.model_validate(arguments)
    return todo_item(await host.call(todos.complete, host.engine, caller, wanted.id, wanted.note))


async def _overview(host: Host, caller: Principal, arguments: Mapping[str, Any]) -> object:
    return await overview_body(host, caller, StatsParams.model_validate(arguments))


async def _activity(host: Host, caller: Principal, arguments: Mapping[str, Any]) -> object:
    return await activity_body(host, caller, ActivityParams.model_validate(arguments))


_OPERATIONS: Mapping[str, Callable[[Host, Principal, Mapping[str, Any]], Awaitable[object]]] = {
    "remember": _remember,
    "recall": _recall,
    "search": _search,
    "state-save": _save_state,
    "state-restore": _restore_state,
    "todo-add": _add_todo,
    "todo-list": _list_todos,
    "todo-done": _finish_todo,
    "overview": _overview,
    "activity": _activity,
}


def _content(response: Json) -> dict[str, Any]:
    return dict(json.loads(bytes(response.body)))


def _code_of(error: MemvouchError, status: int) -> str:
    match error:
        case InvalidIdentifier():
            return "invalid_memory_id"
        case Unauthenticated() if not error.missing:
            return "invalid_token"
        case InvalidRequest() if status == 422:
            return "invalid_request"
        case _:
            return _CODES.get(status, "server_error")


def _refusal(status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> Json:
    record = current()
    error = {"code": code, "message": message, "request_id": record.request_id if record else ""}
    return Json({"ok": False, "error": error}, status, dict(headers or {}))


def _told(error: RequestValidationError | ValidationError) -> str:
    """Every faulty field with its fault, without the value."""
    return "; ".join(f"{'.'.join(str(part) for part in each['loc'])}: {each['msg']}" for each in error.errors())
