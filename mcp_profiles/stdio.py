"""A profile over stdin and stdout: a thin server that starts at once and pipes the calls.

`initialize`, `server/discover` and `tools/list` are answered from the profile's declaration, before
anything is loaded; only `tools/call` goes on to whoever runs tools (the folder's host, or an engine
in this process). The loop is our own because importing the SDK alone costs most of the second that
a client grants a server; what it sends is held against the SDK's clients by tests.

File descriptor 1 is kept for the protocol: it is moved away first, so that whatever else prints in
this process or its libraries lands on stderr.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, BinaryIO, Protocol

from engine.errors import MemvouchError
from mcp_profiles import listing
from mcp_profiles.profile import Profile

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSIONS = ("2026-07-28",)
"""Protocol versions with and without `initialize`; a test keeps them equal to the SDK's."""

_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
_SERVER_KEY = "io.modelcontextprotocol/serverInfo"
_CALLS_AT_A_TIME = 8
_PARSE_ERROR, _INVALID_REQUEST, _METHOD_NOT_FOUND, _INVALID_PARAMS = -32700, -32600, -32601, -32602
_EMPTY_LISTS = {
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}


class ToolCalls(Protocol):
    """Runs tools, from several threads at a time."""

    def prepare(self) -> None:
        """Begin to load what calls will need; called once, when the first answer is out."""

    def call(self, name: str, arguments: Mapping[str, Any], agent: str | None) -> Mapping[str, Any]:
        """The result of one `tools/call`. Never raises for a failing tool; `agent` names the client."""

    def close(self) -> None:
        """The client has hung up."""


class Later:
    """Tool calls whose maker is slow: it runs in a thread, and calls wait for it."""

    def __init__(self, make: Callable[[], ToolCalls]) -> None:
        self._make = make
        self._made: Future[ToolCalls] = Future()

    def prepare(self) -> None:
        threading.Thread(target=self._run, name="memvouch-load", daemon=True).start()

    def call(self, name: str, arguments: Mapping[str, Any], agent: str | None) -> Mapping[str, Any]:
        try:
            made = self._made.result()
        except MemvouchError as error:
            return {"content": [{"type": "text", "text": f"Not available: {error}"}], "isError": True}
        return made.call(name, arguments, agent)

    def close(self) -> None:
        if self._made.done() and self._made.exception() is None:
            self._made.result().close()

    def _run(self) -> None:
        try:
            made = self._make()
            made.prepare()
            self._made.set_result(made)
        except Exception as error:
            # Every waiting call gets it: one of ours as its answer, another as a defect.
            self._made.set_exception(error)
            if not isinstance(error, MemvouchError):
                raise


class ProtocolError(Exception):
    """A request that is answered by a JSON-RPC error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class StdioServer:
    """One connection: reads requests line by line until the client hangs up."""

    def __init__(self, profile: Profile, calls: ToolCalls, output: BinaryIO) -> None:
        self._profile = profile
        self._calls = calls
        self._output = output
        self._writing = threading.Lock()
        self._agent: str | None = None
        self._is_prepared = False
        self._cancelled: set[str] = set()

    def serve(self, lines: BinaryIO) -> None:
        """Answer until the input ends; calls that have begun are finished."""
        with ThreadPoolExecutor(_CALLS_AT_A_TIME, thread_name_prefix="memvouch-call") as pool:
            for line in lines:
                if line.strip():
                    self._take(line, pool)
                    self._prepare_once()
        self._calls.close()

    def _prepare_once(self) -> None:
        if not self._is_prepared:
            self._is_prepared = True
            self._calls.prepare()

    def _take(self, line: bytes, pool: ThreadPoolExecutor) -> None:
        try:
            message = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            self._send_error(None, _PARSE_ERROR, "this line is no JSON")
            return
        if not isinstance(message, dict) or not isinstance(message.get("method", ""), str):
            self._send_error(None, _INVALID_REQUEST, "a message is one JSON-RPC object")
            return
        method, request_id = message.get("method"), message.get("id")
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        if method is None:
            return
        if "id" not in message or method.startswith("notifications/"):
            if method == "notifications/cancelled":
                self._cancelled.add(_key(params.get("requestId")))
            if "id" in message:
                self._send({"jsonrpc": "2.0", "id": request_id, "result": {}})
            return
        if method == "tools/call":
            pool.submit(self._answer, request_id, method, params)
        else:
            self._answer(request_id, method, params)

    def _answer(self, request_id: Any, method: str, params: Mapping[str, Any]) -> None:
        try:
            result = self._result(method, params)
        except ProtocolError as error:
            self._send_error(request_id, error.code, str(error))
            return
        if _key(request_id) in self._cancelled:
            self._cancelled.discard(_key(request_id))
            return
        self._send({"jsonrpc": "2.0", "id": request_id, "result": result})

    def _result(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        meta = params.get("_meta")
        is_modern = isinstance(meta, dict) and meta.get(_VERSION_KEY) in MODERN_VERSIONS
        if method == "initialize":
            return self._initialized(params)
        if method == "server/discover":
            return self._modern(self._discovered(), cached=True)
        if method == "ping":
            return {}
        if method == "tools/call":
            result = self._called(params, meta if isinstance(meta, dict) else {})
            return self._modern(result, cached=False) if is_modern else result
        if method == "tools/list":
            found: dict[str, Any] = {"tools": listing.tools(self._profile)}
        elif method in _EMPTY_LISTS:
            found = {_EMPTY_LISTS[method]: []}
        else:
            raise ProtocolError(_METHOD_NOT_FOUND, f"there is no method {method[:64]}")
        return self._modern(found, cached=True) if is_modern else found

    def _initialized(self, params: Mapping[str, Any]) -> dict[str, Any]:
        self._agent = _client_name(params.get("clientInfo"))
        wanted = params.get("protocolVersion")
        return {
            "protocolVersion": wanted if wanted in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
            "capabilities": {"tools": {"listChanged": False}},
            "serverInfo": listing.server_info(self._profile),
            "instructions": self._profile.instructions,
        }

    def _discovered(self) -> dict[str, Any]:
        return {
            "supportedVersions": list(MODERN_VERSIONS),
            "capabilities": {"tools": {"listChanged": False}},
            "instructions": self._profile.instructions,
        }

    def _called(self, params: Mapping[str, Any], meta: Mapping[str, Any]) -> Mapping[str, Any]:
        name, arguments = params.get("name"), params.get("arguments")
        if not isinstance(name, str):
            raise ProtocolError(_INVALID_PARAMS, "name must be the name of a tool")
        if not isinstance(arguments, dict | None):
            raise ProtocolError(_INVALID_PARAMS, "arguments must be an object")
        return self._calls.call(name, arguments or {}, _client_name(meta.get(_CLIENT_KEY)) or self._agent)

    def _modern(self, result: Mapping[str, Any], *, cached: bool) -> dict[str, Any]:
        """A result as the protocol without sessions wants it."""
        found = {**result, "resultType": "complete", "_meta": {_SERVER_KEY: listing.server_info(self._profile)}}
        return found | {"ttlMs": 0, "cacheScope": "private"} if cached else found

    def _send_error(self, request_id: Any, code: int, message: str) -> None:
        self._send({"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}})

    def _send(self, message: Mapping[str, Any]) -> None:
        # ASCII only: half of a surrogate pair in an id or a text must not break the stream.
        line = json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"
        with self._writing:
            self._output.write(line)
            self._output.flush()


def protocol_output() -> BinaryIO:
    """The stream of the protocol; from now on everything that is printed goes to stderr."""
    sys.stdout.flush()
    private = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return os.fdopen(private, "wb")


def _client_name(info: Any) -> str | None:
    """The client's name as an agent id: plain characters only, since it travels in a header."""
    name = info.get("name") if isinstance(info, dict) else None
    if not isinstance(name, str):
        return None
    plain = "".join(each if each.isascii() and each.isprintable() else "-" for each in name.strip()[:128])
    return plain.strip() or None


def _key(request_id: Any) -> str:
    return json.dumps(request_id, default=str)
