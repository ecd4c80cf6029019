"""How one host listens, and what it allows. Built by the command line, read by the app."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from engine.errors import SetupError

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8787
MAX_BODY_BYTES = 4 * 1024 * 1024
"""Room for the largest content (512 KiB) in its longest JSON spelling (six bytes per byte)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """Everything about one listening host.

    `allowed_hosts` and `allowed_origins` come on top of the loopback names and the same origin.
    `rate_limit_per_minute` is per token; 0 is no limit. `threads` bounds the engine calls that run at a
    time; one that finds no thread within `queue_seconds` is refused. `public_url` is the origin that
    clients see, for links in discovery documents. After
    `idle_exit_seconds` without a request the host ends by itself; 0 is never.
    """

    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    require_auth: bool = True
    public_url: str | None = None
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    max_body_bytes: int = MAX_BODY_BYTES
    rate_limit_per_minute: int = 0
    request_timeout_seconds: float = 60.0
    shutdown_timeout_seconds: float = 20.0
    threads: int = 8
    queue_seconds: float = 10.0
    socket: bool = True
    idle_exit_seconds: float = 0.0

    @property
    def is_public(self) -> bool:
        """Whether others than the users of this machine may connect, directly or through a proxy."""
        return not self.is_loopback or self.public_url is not None

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can connect."""
        return is_loopback(self.host)

    def check(self) -> None:
        """Raise `SetupError` for a host that everybody could use without a token."""
        if not self.require_auth and not self.is_loopback:
            raise SetupError(
                f"Refusing to listen on {self.host} without authentication: anyone who can reach it could read "
                "every memory. Leave out --no-auth, or listen on 127.0.0.1."
            )


def is_loopback(host: str) -> bool:
    """Whether a host name or address means this machine only."""
    name = host.strip("[]").rstrip(".").casefold()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
