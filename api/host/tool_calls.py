"""Tool calls of a stdio server, sent to the folder's host over the owner's socket.

Every call carries an idempotency key, so that one which is sent again because the host died writes
nothing twice. Like `start`, this module is loaded by every stdio server and imports nothing heavy
before the first call.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from api.host.connection import HostConnection
from engine.errors import SetupError, Unavailable

if TYPE_CHECKING:
    import httpx

_TIMEOUT_SECONDS = 300.0
_ACCEPT = "application/json, text/event-stream"


class HostCalls:
    """`mcp_profiles.stdio.ToolCalls` through the host of a folder."""

    def __init__(self, data_dir: Path, profile: str) -> None:
        self._path = f"/mcp/{profile}"
        self._connection = HostConnection(data_dir, _TIMEOUT_SECONDS)

    def prepare(self) -> None:
        """Find or start the host, while the client still says hello."""
        threading.Thread(target=self._prepare, name="memvouch-prepare", daemon=True).start()

    def close(self) -> None:
        self._connection.close()

    def call(self, name: str, arguments: Mapping[str, Any], agent: str | None) -> Mapping[str, Any]:
        """The tool's result; an outage becomes a result that says so."""
        headers = {"Accept": _ACCEPT, "Idempotency-Key": uuid.uuid4().hex}
        if agent:
            headers["X-Memory-OS-Agent-ID"] = agent
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": name, "arguments": dict(arguments)},
        }
        try:
            return _result(self._connection.post(self._path, message, headers))
        except (Unavailable, SetupError) as error:
            return _failed(f"Not available now: {error}")

    def _prepare(self) -> None:
        try:
            self._connection.open()
        except (Unavailable, SetupError):
            # The first call tries again and says so.
            return


def _result(response: httpx.Response) -> Mapping[str, Any]:
    try:
        answer = response.json()
    except ValueError:
        answer = {}
    if response.status_code == 200 and isinstance(answer.get("result"), dict):
        result: dict[str, Any] = answer["result"]
        return result
    error = answer.get("error")
    reason = error.get("message") if isinstance(error, dict) else answer.get("detail")
    return _failed(f"The host of this memory refused the call ({response.status_code}): {reason or 'no reason given'}.")


def _failed(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": True}
