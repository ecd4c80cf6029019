"""What every answer carries, whatever happened: a request id, an audit id, one log line, one count.

`X-Request-ID` is the caller's own if it is a plain token of at most 128 characters, else a new one.
`X-XMemo-Audit-ID` is a fresh UUID, which the audit keeps with whatever the request changed. Request
fields that were not understood on a write are named in `X-Memvouch-Ignored`. A fault that nobody
expected becomes a JSON 500 here; its traceback goes to the log with the request id, never to the
caller.
"""

from __future__ import annotations

import logging
import re
import time
import uuid
from contextvars import ContextVar
from dataclasses import dataclass, field
from urllib.parse import quote

import structlog
from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.metrics import Metrics
from engine.upkeep.administration import answer_id

AUDIT_HEADER = "X-XMemo-Audit-ID"
IGNORED_HEADER = "X-Memvouch-Ignored"
REQUEST_ID_HEADER = "X-Request-ID"
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_MAX_NAMED = 20
_PREFIXES = ("/api/v1", "/v1")

log = structlog.get_logger("memvouch.http")
_levels = logging.getLogger("memvouch.http")


@dataclass(slots=True)
class RequestRecord:
    """What is known of the running request.

    `ignored` collects names of fields not understood, `calls` the milliseconds of each engine call.
    """

    request_id: str
    audit_id: str
    token_id: str | None = None
    ignored: list[str] = field(default_factory=list)
    calls: dict[str, float] = field(default_factory=dict)


_current: ContextVar[RequestRecord | None] = ContextVar("memvouch_request", default=None)


def current() -> RequestRecord | None:
    """The record of the request that this task serves; `None` outside of one."""
    return _current.get()


def ignore_fields(names: list[str]) -> None:
    """Note request fields that were not understood, for the header and the log."""
    record = current()
    if record is not None:
        clean = [name.encode("utf-8", "replace").decode() for name in names]
        record.ignored += [name for name in clean if name not in record.ignored]


def note_call(name: str, seconds: float) -> None:
    """Note how long an engine call of this request ran, for the log."""
    record = current()
    if record is not None:
        record.calls[name] = round(record.calls.get(name, 0.0) + seconds * 1000, 2)


class Envelope:
    """The outermost ASGI layer."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        record = RequestRecord(_request_id(scope), str(uuid.uuid4()))
        token, answering = _current.set(record), answer_id.set(record.audit_id)
        started = time.perf_counter()
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _stamp(MutableHeaders(scope=message), record)
            await send(message)

        if _levels.isEnabledFor(logging.DEBUG):
            log.debug("request begins", request_id=record.request_id, path=scope["path"], sent=_names(scope))
        try:
            with self._metrics.in_progress():
                await self._app(scope, receive, sending)
        except Exception:
            log.exception("request failed", request_id=record.request_id, method=scope["method"])
            if status:
                raise
            await JSONResponse({"detail": "Internal Server Error"}, 500)(scope, receive, sending)
        finally:
            seconds = time.perf_counter() - started
            self._metrics.served(scope["method"], route_of(scope), status, seconds)
            _write_line(scope, record, status, seconds)
            _current.reset(token)
            answer_id.reset(answering)


def route_of(scope: Scope) -> str:
    """The template of the route, such as `/v1/memories/{memory_id}`; never the path as sent."""
    template = getattr(scope.get("route"), "path", None)
    if not template:
        # Routes of Starlette's own leave their endpoint only; without parameters the path is their template.
        return scope["path"] if "endpoint" in scope and not scope.get("path_params") else "unmatched"
    prefix = next((each for each in _PREFIXES if scope["path"].startswith(f"{each}/")), "")
    return template if template.startswith(f"{prefix}/") and prefix else f"{prefix}{template}"


def _names(scope: Scope) -> list[str]:
    """Names of the headers and query fields of a request, without their values."""
    return [*Headers(scope=scope), *QueryParams(scope["query_string"])]


def _request_id(scope: Scope) -> str:
    sent = Headers(scope=scope).get(REQUEST_ID_HEADER, "")
    return sent if _REQUEST_ID.fullmatch(sent) else uuid.uuid4().hex


def _stamp(headers: MutableHeaders, record: RequestRecord) -> None:
    headers[REQUEST_ID_HEADER] = record.request_id
    headers[AUDIT_HEADER] = record.audit_id
    headers["Cache-Control"] = headers.get("Cache-Control", "no-store")
    headers["X-Content-Type-Options"] = "nosniff"
    if record.ignored:
        headers[IGNORED_HEADER] = ", ".join(quote(name[:64], safe="") for name in record.ignored[:_MAX_NAMED])


def _write_line(scope: Scope, record: RequestRecord, status: int, seconds: float) -> None:
    line: dict[str, object] = {
        "request_id": record.request_id,
        "audit_id": record.audit_id,
        "method": scope["method"],
        "route": route_of(scope),
        "status": status,
        "milliseconds": round(seconds * 1000, 2),
    }
    if record.calls:
        line["calls"] = dict(record.calls)
    if record.token_id:
        line["token_id"] = record.token_id
    if record.ignored:
        line["ignored"] = [name[:64] for name in record.ignored[:_MAX_NAMED]]
    log.info("request", **line)
