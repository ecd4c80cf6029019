"""The one way of local clients to the host of a folder, and what happens when the host dies.

A request whose connection breaks is sent again to the next host, which is started if need be, with
pauses in between: a killed process takes connections until its memory is given back, and then resets
them. Whoever sends makes a second arrival harmless (an idempotency key, ids of its own, or a verb
whose second run finds its work done) and can tell it from the first: it is marked. So the death of a
host costs a retried request, and never a write. An answer that does not come in time is no death: its
request may still run, and is not sent again.

Like `start`, this module is loaded by every stdio server and imports nothing heavy before the first
request.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from api.host.start import ensure_host, living_socket
from engine.errors import Unavailable

if TYPE_CHECKING:
    import httpx

REPEAT_HEADER = "X-Memvouch-Repeat"
"""Set to `1` on a request that may have arrived before."""
_PAUSES_SECONDS = (0.0, 0.1, 0.4, 1.0, 2.0)
"""Before each try."""
_CONNECT_SECONDS = 5.0


class HostConnection:
    """Requests to whatever host serves a folder. Used from any number of threads."""

    def __init__(self, data_dir: Path, timeout_seconds: float | None) -> None:
        """`timeout_seconds` bounds the wait for an answer; `None` waits as long as the host lives."""
        self._data_dir = data_dir
        self._timeout_seconds = timeout_seconds
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None
        self._former: list[httpx.Client] = []

    def open(self) -> None:
        """Find or start the host now. Raises what `ensure_host` raises."""
        self._connected()

    def close(self) -> None:
        with self._lock:
            for client in [*self._former, *([self._client] if self._client else [])]:
                client.close()
            self._former.clear()
            self._client = None

    def post(self, path: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> httpx.Response:
        """The answer, whatever its status; its request carries `REPEAT_HEADER` if it was not the first.

        Raises:
            Unavailable: no host came up, it was lost again and again, or it did not answer in time.
            FolderBusy: a process that is no host has the folder open.
        """
        import httpx

        lost: httpx.TransportError | None = None
        for pause_seconds in _PAUSES_SECONDS:
            time.sleep(pause_seconds)
            mark = {REPEAT_HEADER: "1"} if lost is not None else {}
            try:
                return self._connected().post(path, json=body, headers={**(headers or {}), **mark})
            except (httpx.ReadTimeout, httpx.WriteTimeout) as error:
                raise Unavailable(f"the host of {self._data_dir} did not answer in time") from error
            except httpx.TransportError as error:
                lost = error
        raise Unavailable(f"the host of {self._data_dir} was lost again and again: {lost}") from lost

    def _connected(self) -> httpx.Client:
        """A client of a host that lives now."""
        import httpx

        with self._lock:
            # Asked before every request, since httpcore leaves a socket open whose connect was refused.
            if self._client is not None and living_socket(self._data_dir) is None:
                # Requests that are under way on it must fail by themselves, not by a closed client.
                self._former.append(self._client)
                self._client = None
            if self._client is None:
                path = ensure_host(self._data_dir)
                self._client = httpx.Client(
                    transport=httpx.HTTPTransport(uds=str(path)),
                    base_url="http://host",
                    timeout=httpx.Timeout(self._timeout_seconds, connect=_CONNECT_SECONDS),
                    trust_env=False,
                )
            return self._client


def is_repeat(response: httpx.Response) -> bool:
    """Whether the request that was answered may have arrived before."""
    return REPEAT_HEADER in response.request.headers
