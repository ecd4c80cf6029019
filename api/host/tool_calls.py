"""Tool calls of a stdio server, sent to the folder's host over the owner's socket.

The host dies, the next call starts another: a call whose answer was lost is sent again, with the
same idempotency key and the mark of a repeat, so that nothing is written twice. Like `start`,
this module is loaded by every stdio server and imports nothing heavy before the first call.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from api.host.start import ensure_host, living_socket
from engine.errors import Unavailable

if TYPE_CHECKING:
    import httpx

_TIMEOUT_SECONDS = 300.0
_PAUSES_SECONDS = (0.0, 0.1, 0.4, 1.0, 2.0)
"""Before each try. A killed process takes connections until its memory is given back, and then resets them."""
_ACCEPT = "application/json, text/event-stream"


class HostCalls:
    """`mcp_profiles.stdio.ToolCalls` through the host of a folder."""

    def __init__(self, data_dir: Path, profile: str) -> None:
        self._data_dir = data_dir
        self._path = f"/mcp/{profile}"
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None

    def prepare(self) -> None:
        """Find or start the host, while the client still says hello."""
        threading.Thread(target=self._prepare, name="memvouch-prepare", daemon=True).start()

    def close(self) -> None:
        with self._lock:
            if self._client is not None:
                self._client.close()

    def call(self, name: str, arguments: Mapping[str, Any], agent: str | None) -> Mapping[str, Any]:
        """The tool's result; an outage becomes a result that says so."""
        import httpx

        key = uuid.uuid4().hex
        lost: httpx.TransportError | None = None
        try:
            for pause_seconds in _PAUSES_SECONDS:
                time.sleep(pause_seconds)
                try:
                    return _result(self._post(name, arguments, agent, key, is_repeat=lost is not None))
                except httpx.TransportError as error:
                    lost = error
        except Unavailable as error:
            return _failed(f"Not available now: {error}")
        return _failed(f"Not available now: the host of this memory was lost again and again ({lost}).")

    def _post(
        self, name: str, arguments: Mapping[str, Any], agent: str | None, key: str, *, is_repeat: bool
    ) -> httpx.Response:
        headers = {"Accept": _ACCEPT, "Idempotency-Key": key}
        if is_repeat:
            headers["X-Memvouch-Repeat"] = "1"
        if agent:
            headers["X-Memory-OS-Agent-ID"] = agent
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": name, "arguments": dict(arguments)},
        }
        return self._connected().post(self._path, json=message, headers=headers)

    def _connected(self) -> httpx.Client:
        """A client of a host that lives now."""
        import httpx

        with self._lock:
            # Asked before every call, since httpcore leaves a socket open whose connect was refused.
            if self._client is not None and living_socket(self._data_dir) is None:
                # Calls that are under way on it must fail by themselves, not by a closed client.
                self._client = None
            if self._client is None:
                path = ensure_host(self._data_dir)
                self._client = httpx.Client(
                    transport=httpx.HTTPTransport(uds=str(path)),
                    base_url="http://host",
                    timeout=httpx.Timeout(_TIMEOUT_SECONDS, connect=5.0),
                    trust_env=False,
                )
            return self._client

    def _prepare(self) -> None:
        try:
            self._connected()
        except Unavailable:
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
