"""Who may talk to the host at all: the `Host` and `Origin` checks against DNS rebinding.

A web page that resolves its own name to 127.0.0.1 still sends its own name in `Host`, and every
page sends its own `Origin`. So a loopback host answers only to loopback names and the configured
ones, and any host answers an `Origin` only if it is its own or a configured one. The owner's socket
file is guarded by its mode; what comes through it is not checked here.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from api.options import ServerOptions, is_loopback


def came_by_socket(scope: Scope) -> bool:
    """Whether the request came through the owner's Unix socket: its server address has no port."""
    server = scope.get("server")
    return server is not None and server[1] is None and scope.get("client") is None


class Guards:
    """Refuses foreign `Host` and `Origin` headers with 403."""

    def __init__(self, app: ASGIApp, options: ServerOptions) -> None:
        self._app = app
        self._options = options
        self._hosts = {name.casefold() for name in options.allowed_hosts}
        self._origins = {origin.rstrip("/").casefold() for origin in options.allowed_origins}
        if options.public_url:
            public = urlsplit(options.public_url)
            self._hosts.add((public.hostname or "").casefold())
            self._origins.add(f"{public.scheme}://{public.netloc}".casefold())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or came_by_socket(scope):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._knows_host(host):
            await _refuse("This host does not answer to that Host header.", scope, receive, send)
        elif any(not self._knows_origin(origin, host) for origin in headers.getlist("origin")):
            await _refuse("This host does not answer to that Origin.", scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _knows_host(self, host: str) -> bool:
        name = _name_of(host)
        if name in self._hosts or is_loopback(name) or name == self._options.host.casefold():
            return True
        # A public host with a token on every request may be reached by any name, unless names are configured.
        return not self._options.is_loopback and not self._hosts

    def _knows_origin(self, origin: str, host: str) -> bool:
        sent = origin.rstrip("/").casefold()
        return sent in self._origins or sent in (f"http://{host.casefold()}", f"https://{host.casefold()}")


def _name_of(host: str) -> str:
    """The name in a `Host` header, without its port."""
    try:
        return (urlsplit(f"//{host}").hostname or "").casefold()
    except ValueError:
        return ""


async def _refuse(message: str, scope: Scope, receive: Receive, send: Send) -> None:
    await JSONResponse({"detail": message}, 403)(scope, receive, send)
