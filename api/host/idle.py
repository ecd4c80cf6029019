"""A host that nobody uses ends by itself, if it was started that way."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send


class Idle:
    """Outermost layer: knows since when no request has been under way."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._under_way = 0
        self._since = time.monotonic()
        self._lock = threading.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        with self._lock:
            self._under_way += 1
        try:
            await self._app(scope, receive, send)
        finally:
            with self._lock:
                self._under_way -= 1
                self._since = time.monotonic()

    def seconds(self) -> float:
        """How long nothing has been under way; 0.0 while something is."""
        with self._lock:
            return 0.0 if self._under_way else time.monotonic() - self._since

    def watch(self, limit_seconds: float, end: Callable[[], None]) -> None:
        """Call `end` once, from a thread of its own, when the limit is reached."""

        def run() -> None:
            while (left := limit_seconds - self.seconds()) > 0:
                time.sleep(min(left + 0.01, 5.0))
            end()

        threading.Thread(target=run, name="memvouch-idle", daemon=True).start()
