"""`/mcp` and `/mcp/{profile}`: the profiles over Streamable HTTP.

Every request stands for itself: it is authenticated, served and forgotten. A session id is handed
out because some clients ask until they get one, and any id is accepted, so that sessions outlive a
restart. `POST` answers plain JSON; there is no stream to `GET` (405), and `DELETE` has nothing to end
(200). A missing and an invalid token are both 401 here, with the challenge that starts an OAuth
client's flow.

A call with an `Idempotency-Key` may be sent again; `X-Memvouch-Repeat: 1` says that it was.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import structlog
from anyio.abc import TaskGroup, TaskStatus
from fastapi import FastAPI
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from api.deps import Host, authenticate
from api.host.connection import REPEAT_HEADER
from api.mcp_bodies import RestBodies
from api.oauth.routes import base_of
from engine.domain.access import DEFAULT_SCOPES, Principal
from engine.errors import Forbidden, MemvouchError, NotFound, Unauthenticated
from mcp_profiles import render, server
from mcp_profiles.call import Call, Doors
from mcp_profiles.dispatch import ToolResult, dispatch, failed
from mcp_profiles.profile import DEFAULT_PROFILE, Profile, named

SESSION_HEADER = "Mcp-Session-Id"
_SESSION_LIMIT = 128
_KEY_LIMIT = 200
_RESOURCE_METADATA_PATH = "/.well-known/oauth-protected-resource/mcp"
_FAULT = "Memvouch failed on its own account; its log says more. This is not an answer."

log = structlog.get_logger("memvouch.mcp")


@dataclass(slots=True)
class _Open:
    """The SDK's manager of one state of a profile. It ends once it is replaced and no request is under way."""

    profile: Profile
    manager: StreamableHTTPSessionManager
    under_way: int = 0
    is_replaced: bool = False
    end: anyio.Event = field(default_factory=anyio.Event)

    def end_if_idle(self) -> None:
        if self.is_replaced and not self.under_way:
            self.end.set()


class Profiles:
    """The SDK's managers, one for each profile that somebody asked for, while the app runs."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._doors = Doors(engine=host.engine, administration=host.administration, bodies=RestBodies())
        self._open: dict[str, _Open] = {}
        self._running = 0
        self._tasks: TaskGroup | None = None
        self._opening = anyio.Lock()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep opened managers alive."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            yield
            tasks.cancel_scope.cancel()

    @property
    def running_managers(self) -> int:
        """How many managers live, those that wait for their last request included."""
        return self._running

    @asynccontextmanager
    async def manager(self, name: str) -> AsyncIterator[StreamableHTTPSessionManager]:
        """The manager of a profile, for one request; a user's profile that was edited gets a new one.

        Raises `NotFound`.
        """
        found = await self._current(name)
        found.under_way += 1
        try:
            yield found.manager
        finally:
            found.under_way -= 1
            found.end_if_idle()

    async def _current(self, name: str) -> _Open:
        async with self._opening:
            try:
                profile = named(name, self._host.engine.settings.data_dir)
            except MemvouchError:
                self._replace(name, None)
                raise
            found = self._open.get(name)
            if found is None or found.profile != profile:
                if self._tasks is None:
                    raise NotFound("the application does not run")
                found = await self._tasks.start(self._serve, profile)
                self._replace(name, found)
        return found

    def _replace(self, name: str, new: _Open | None) -> None:
        """Let a new manager, or none, take the place of the one that there was."""
        former = self._open.pop(name, None)
        if new is not None:
            self._open[name] = new
        if former is not None:
            former.is_replaced = True
            former.end_if_idle()

    async def _serve(self, profile: Profile, *, task_status: TaskStatus[_Open]) -> None:
        async def run(request: Request, name: str, arguments: Mapping[str, Any]) -> ToolResult:
            return await self._run(profile, request, name, arguments)

        manager = StreamableHTTPSessionManager(
            server.build(profile, run),
            json_response=True,
            stateless=True,
            max_request_body_size=self._host.options.max_body_bytes,
        )
        self._running += 1
        try:
            async with manager.run():
                opened = _Open(profile, manager)
                task_status.started(opened)
                await opened.end.wait()
        finally:
            self._running -= 1

    async def _run(self, profile: Profile, request: Request, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        principal: Principal = request.state.mcp_caller
        key = request.headers.get("idempotency-key", "").strip()[:_KEY_LIMIT]
        call = Call(
            doors=self._doors,
            profile=profile,
            principal=principal,
            idempotency_key=key or None,
            is_repeat=bool(key) and request.headers.get(REPEAT_HEADER) == "1",
        )
        try:
            return await self._host.call(dispatch, call, name, arguments)
        except MemvouchError as error:
            return failed(render.error(error))
        except Exception:
            log.exception("a tool failed", tool=name, profile=profile.name)
            return failed(_FAULT)


class McpEndpoint:
    """The ASGI endpoint of one of the paths."""

    def __init__(self, path: str) -> None:
        self.path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Log and metrics take the template of the path from here.
        scope["route"] = self
        request = Request(scope, receive)
        if request.method == "DELETE":
            await Response(status_code=200)(scope, receive, send)
        elif request.method != "POST":
            body = {"detail": "Method Not Allowed"}
            await JSONResponse(body, 405, {"Allow": "POST, DELETE"})(scope, receive, send)
        else:
            await self._post(request, scope, receive, send)

    async def _post(self, request: Request, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            request.state.mcp_caller = await authenticate(request)
        except (Unauthenticated, Forbidden) as error:
            await _challenge(request, error)(scope, receive, send)
            return
        profiles: Profiles = request.app.state.mcp
        async with profiles.manager(request.path_params.get("profile", DEFAULT_PROFILE)) as manager:
            await manager.handle_request(scope, receive, _with_session(request, send))


def install(app: FastAPI) -> None:
    """Mount the paths and make the profiles of an app whose host is set."""
    # The SDK tells of every request that it began and ended; the host's own line says it once.
    logging.getLogger("mcp").setLevel(logging.WARNING)
    app.state.mcp = Profiles(app.state.host)
    for path in ("/mcp", "/mcp/{profile}"):
        app.router.routes.append(
            Route(path, McpEndpoint(path), methods=["GET", "POST", "DELETE"], include_in_schema=False)
        )


@asynccontextmanager
async def running(app: FastAPI) -> AsyncIterator[None]:
    """Serve the profiles of an app; belongs into its lifespan."""
    profiles: Profiles = app.state.mcp
    async with profiles.running():
        yield


def _with_session(request: Request, send: Send) -> Send:
    """Hand out a session id, or the client's own back. The newest protocol has no sessions."""
    if request.headers.get("mcp-protocol-version") in MODERN_PROTOCOL_VERSIONS:
        return send
    sent = request.headers.get(SESSION_HEADER, "")
    session_id = sent if 0 < len(sent) <= _SESSION_LIMIT and sent.isascii() and sent.isprintable() else uuid.uuid4().hex

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] < 300:
            MutableHeaders(scope=message)[SESSION_HEADER] = session_id
        await send(message)

    return sending


def _challenge(request: Request, error: Unauthenticated | Forbidden) -> JSONResponse:
    """401 for everybody who is not a known caller, with what an OAuth client needs to begin."""
    missing = isinstance(error, Unauthenticated) and error.missing
    parts = ['Bearer realm="memvouch"']
    if not missing:
        parts.append('error="invalid_token"')
    parts.append(f'resource_metadata="{base_of(request)}{_RESOURCE_METADATA_PATH}"')
    # Without it a client asks for every scope that there is.
    parts.append(f'scope="{" ".join(sorted(DEFAULT_SCOPES))}"')
    body = {
        "error": "invalid_token" if not missing else "unauthorized",
        "detail": "Authentication required" if missing else "Invalid or inactive API Key",
    }
    return JSONResponse(body, 401, {"WWW-Authenticate": ", ".join(parts)})
