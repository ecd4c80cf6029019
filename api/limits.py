"""Limits per request and per caller: the size of a body, and how often a token may ask.

A body is refused by its announced length before it is read, or as soon as more than allowed has
come in. The rate limit is a token bucket of one minute per credential (per address without one);
credentials are known here by their digest only. What comes through the owner's socket, a batch of an
import for instance, has neither limit.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections import OrderedDict

from fastapi import HTTPException
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.deps import credentials_of
from api.guards import came_by_socket

_MAX_CALLERS = 10_000


class BodyLimit:
    """Answers 413 to a body above `max_bytes`."""

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or came_by_socket(scope):
            await self._app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "0")
        if not announced.isdecimal() or int(announced) > self._max_bytes:
            await self._refuse(scope, receive, send)
            return
        read = 0

        async def receiving() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._max_bytes:
                # The one exception that the framework lets through while it reads a body.
                raise HTTPException(413, self._error)
            return message

        await self._app(scope, receiving, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        await JSONResponse({"detail": self._error, "error": self._error}, 413)(scope, receive, send)

    @property
    def _error(self) -> dict[str, str]:
        return {"code": "content_too_large", "message": f"A request has at most {self._max_bytes} bytes."}


class RateLimit:
    """Answers 429 with `Retry-After` to a caller that has used up its minute; 0 is no limit."""

    def __init__(self, app: ASGIApp, per_minute: int) -> None:
        self._app = app
        self._per_minute = per_minute
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._per_minute <= 0 or came_by_socket(scope):
            await self._app(scope, receive, send)
            return
        wait_seconds = self._take(_caller(scope), time.monotonic())
        if wait_seconds <= 0:
            await self._app(scope, receive, send)
            return
        error = {"code": "rate_limited", "message": f"At most {self._per_minute} requests a minute."}
        headers = {"Retry-After": str(math.ceil(wait_seconds))}
        await JSONResponse({"detail": error, "error": error}, 429, headers)(scope, receive, send)

    def _take(self, caller: str, now: float) -> float:
        """Take one request from the caller's bucket; the seconds to wait when it is empty."""
        left, at = self._buckets.pop(caller, (float(self._per_minute), now))
        left = min(float(self._per_minute), left + (now - at) * self._per_minute / 60)
        taken = left >= 1
        self._buckets[caller] = (left - 1 if taken else left, now)
        while len(self._buckets) > _MAX_CALLERS:
            self._buckets.popitem(last=False)
        return 0.0 if taken else (1 - left) * 60 / self._per_minute


def _caller(scope: Scope) -> str:
    credentials = sorted(credentials_of(Headers(scope=scope)))
    if credentials:
        return hashlib.sha256("\0".join(credentials).encode()).hexdigest()
    client = scope.get("client")
    return f"address {client[0]}" if client else "no address"
