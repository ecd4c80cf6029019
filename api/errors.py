"""The one mapping of our errors to HTTP.

    error                     XMemo routes                      Crosmos routes
    InvalidIdentifier         400 coded invalid_memory_id       400 validation_error
    ContentTooLarge           413 coded content_too_large       413
    InvalidRequest, its kin   422 list of {loc, msg, type}      400 validation_error with fields
    Unauthenticated, missing  401                               401
    Unauthenticated           403                               401
    Forbidden                 403                               403
    NotFound                  404                               404
    Conflict                  409                               409
    Unavailable               503 with Retry-After              503 with Retry-After
    SetupError                503                               503

XMemo bodies are `{"detail": text}`, `{"detail": [{loc, msg, type}]}` or, with a code,
`{"detail": {code, message}, "error": {code, message}}`. Crosmos bodies are
`{"detail", "code", "request_id", "fields"?}`. The style belongs to the route: `XMemoRoute` is the
default, `CrosmosRoute` chooses the other; a handler that serves both sets `request.state.error_style`.
A message never repeats what the caller sent as a value, so no secret comes back.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from api.envelope import current
from engine.errors import (
    Conflict,
    ContentTooLarge,
    Forbidden,
    InvalidIdentifier,
    InvalidRequest,
    MemvouchError,
    NotFound,
    SetupError,
    Unauthenticated,
    Unavailable,
)

CHALLENGE = {"WWW-Authenticate": 'Bearer realm="memvouch"'}

log = structlog.get_logger("memvouch.http")


class ErrorStyle(StrEnum):
    """Whose error bodies a route speaks."""

    XMEMO = "xmemo"
    CROSMOS = "crosmos"


class XMemoRoute(APIRoute):
    """A route with XMemo error bodies."""

    error_style = ErrorStyle.XMEMO


class CrosmosRoute(APIRoute):
    """A route with Crosmos error bodies and statuses."""

    error_style = ErrorStyle.CROSMOS


@dataclass(frozen=True, slots=True)
class Answer:
    """An error as it goes over the wire."""

    status: int
    body: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)

    def response(self) -> JSONResponse:
        return JSONResponse(self.body, self.status, dict(self.headers))


def install(app: FastAPI) -> None:
    """Let an app answer all of our errors, and those of the framework, in our bodies."""
    app.add_exception_handler(MemvouchError, _on_ours)
    app.add_exception_handler(RequestValidationError, _on_validation)
    app.add_exception_handler(HTTPException, _on_http)


def style_of(request: Request) -> ErrorStyle:
    """The style that the handler chose, else the route's, else XMemo."""
    of_route = getattr(request.scope.get("route"), "error_style", ErrorStyle.XMEMO)
    return ErrorStyle(getattr(request.state, "error_style", of_route))


def answer(error: MemvouchError, style: ErrorStyle, place: str = "body") -> Answer:
    """The answer to one of our errors; `place` is where a faulty field stood: `body`, `query` or `path`."""
    message = str(error)
    headers = {}
    match error:
        case Unavailable():
            headers = {"Retry-After": str(max(1, math.ceil(error.retry_after_seconds)))}
        case Conflict() if style is ErrorStyle.CROSMOS:
            # Its clients would send the same request again, to the same end.
            headers = {"x-should-retry": "false"}
        case Unauthenticated() if error.missing or style is ErrorStyle.CROSMOS:
            headers = CHALLENGE
    status = _status(error, style)
    if style is ErrorStyle.CROSMOS:
        named = error.field if isinstance(error, InvalidRequest) else None
        return Answer(status, crosmos_body(status, message, {named: [message]} if named else None), headers)
    match error:
        case InvalidIdentifier():
            return Answer(status, coded("invalid_memory_id", message))
        case ContentTooLarge():
            return Answer(status, coded("content_too_large", message))
        case InvalidRequest():
            entry = {"loc": [place, *([error.field] if error.field else [])], "msg": message, "type": "invalid_request"}
            return Answer(status, {"detail": [entry]})
        case Unauthenticated():
            message = "Authentication required" if error.missing else "Invalid or inactive API Key"
    return Answer(status, {"detail": message}, headers)


def coded(code: str, message: str) -> dict[str, Any]:
    """An error body with a code, for readers of either key."""
    return {"detail": {"code": code, "message": message}, "error": {"code": code, "message": message}}


def crosmos_body(status: int, message: str, fields: Mapping[str, Sequence[str]] | None = None) -> dict[str, Any]:
    """A Crosmos error body; with `fields` or status 400 it is a validation error."""
    record = current()
    body: dict[str, Any] = {
        "detail": message,
        "code": _CROSMOS_CODES.get(status, "error"),
        "request_id": record.request_id if record else "",
    }
    if status == 400:
        body["detail"] = "Validation failed"
        body["fields"] = {"formErrors": [] if fields else [message], "fieldErrors": dict(fields or {})}
    return body


_CROSMOS_CODES = {
    400: "validation_error",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    409: "conflict",
    413: "content_too_large",
    503: "service_unavailable",
}


def _status(error: MemvouchError, style: ErrorStyle) -> int:
    crosmos = style is ErrorStyle.CROSMOS
    match error:
        case InvalidIdentifier():
            return 400
        case ContentTooLarge():
            return 413
        case InvalidRequest():
            return 400 if crosmos else 422
        case Unauthenticated():
            return 401 if crosmos or error.missing else 403
        case Forbidden():
            return 403
        case NotFound():
            return 404
        case Conflict():
            return 409
        case Unavailable() | SetupError():
            return 503
        case _:
            return 500


def _place(request: Request) -> str:
    return "query" if request.method in ("GET", "HEAD", "DELETE") else "body"


async def _on_ours(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, MemvouchError):
        raise error
    found = answer(error, style_of(request), _place(request))
    if found.status >= 500:
        record = current()
        log.warning("unavailable", request_id=record.request_id if record else None, error=str(error))
    return found.response()


async def _on_validation(request: Request, error: Exception) -> JSONResponse:
    """Faulty fields: where, what and why, without the value."""
    if not isinstance(error, RequestValidationError):
        raise error
    entries = [
        {"loc": [str(part) for part in each["loc"]], "msg": str(each["msg"]), "type": str(each["type"])}
        for each in error.errors()
    ]
    if style_of(request) is ErrorStyle.XMEMO:
        return JSONResponse({"detail": entries}, 422)
    fields: dict[str, list[str]] = {}
    for entry in entries:
        fields.setdefault(".".join(entry["loc"][1:]) or "body", []).append(str(entry["msg"]))
    return JSONResponse(crosmos_body(400, "Validation failed", fields), 400)


async def _on_http(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, HTTPException):
        raise error
    if style_of(request) is ErrorStyle.CROSMOS:
        return JSONResponse(crosmos_body(error.status_code, str(error.detail)), error.status_code, error.headers)
    body: dict[str, Any] = {"detail": error.detail}
    if isinstance(error.detail, dict):
        body["error"] = error.detail
    return JSONResponse(body, error.status_code, error.headers)
