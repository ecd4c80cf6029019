"""One address, two contracts: who is meant by `/api/v1/memories`.

    GET    /api/v1/memories        Crosmos with `space_id`, `space_uuid` or a `csk_` token; else XMemo
    GET    /api/v1/memories/{id}   one answer for both: the union of the two objects
    DELETE /api/v1/memories/{id}   exists in the Crosmos contract only

Requests for the Crosmos routes are led to an internal path before routing. Nobody reaches that
path from outside except by asking for what it stands for.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from api.deps import credentials_of

INTERNAL = "/crosmos-memories"
_PREFIX = "/api/v1"
_SHARED = f"{_PREFIX}/memories"
_ONE = re.compile(rf"{_SHARED}/([^/]+)")
_UUID = re.compile(r"[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}")
_SPACES = frozenset({"space_id", "space_uuid"})
_KEY_PREFIX = "csk_"


def is_crosmos(scope: Scope) -> bool:
    """Whether a request to a shared address speaks the Crosmos contract."""
    named = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    if _SPACES & named.keys() or scope["method"] == "DELETE":
        return True
    return any(key.startswith(_KEY_PREFIX) for key in credentials_of(Headers(scope=scope)))


class Collision:
    """An ASGI layer before the router."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _leads_elsewhere(scope):
            scope["path"] = scope["path"].replace(_SHARED, _PREFIX + INTERNAL, 1)
        await self._app(scope, receive, send)


def _leads_elsewhere(scope: Scope) -> bool:
    path, method = scope["path"], scope["method"]
    if path == _SHARED:
        return method == "GET" and is_crosmos(scope)
    found = _ONE.fullmatch(path)
    return found is not None and (method == "DELETE" or (method == "GET" and bool(_UUID.fullmatch(found[1]))))
