"""The way to a Qdrant server: its URL, its client, and what becomes of its errors.

Every call of the index may be repeated without harm (upserts, deletions by filter, reads), therefore
a call that found no connection is tried again a few times. One that ran out of time is not: the
caller has waited long enough.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import ParamSpec, TypeVar
from urllib.parse import parse_qsl, urlsplit

import grpc
from qdrant_client import QdrantClient
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse

from engine.errors import IndexUnavailable, MemvouchError, SetupError

_TIMEOUT_SECONDS = 30
_PAUSES_SECONDS = (0.1, 0.3, 0.9)
_GRPC_OPTIONS = {
    # A server that restarts is found again within a second or two, a dead connection is noticed.
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.min_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 1_000,
    "grpc.keepalive_time_ms": 20_000,
    "grpc.keepalive_timeout_ms": 5_000,
}

_Arguments = ParamSpec("_Arguments")
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server listens: `qdrant://host:6334`, with `?tls=1` and `&rest=6333` if need be."""

    host: str
    grpc_port: int = 6334
    rest_port: int = 6333
    tls: bool = False

    @classmethod
    def parse(cls, url: str) -> Address:
        """Raises `SetupError` for anything but the forms above. The URL is not repeated: it may hold a secret."""
        try:
            parts = urlsplit(url)
            options = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
            tls, rest_port = options.pop("tls", "0"), int(options.pop("rest", "6333"))
            surplus = options or parts.username or parts.password or parts.path.strip("/") or parts.fragment
            if parts.scheme != "qdrant" or not parts.hostname or surplus or tls not in ("0", "1"):
                raise ValueError("only a host, a port, tls and rest may be given")
            return cls(parts.hostname, parts.port or 6334, rest_port, tls == "1")
        except ValueError as error:
            raise SetupError(
                f"MEMVOUCH_INDEX_URL should read qdrant://host:6334, perhaps with ?tls=1&rest=6333: {error}"
            ) from error

    def __str__(self) -> str:
        return f"qdrant://{self.host}:{self.grpc_port}"


class ServerConnection:
    """A client and the rules for calling it. Safe for threads. `client` is for `call` only."""

    def __init__(self, url: str, api_key: str | None) -> None:
        """Nothing is sent yet. Raises `SetupError` for a URL of another form."""
        self.address = Address.parse(url)
        self.client = QdrantClient(
            host=self.address.host,
            port=self.address.rest_port,
            grpc_port=self.address.grpc_port,
            prefer_grpc=True,
            https=self.address.tls,
            # As a header: the client warns of `api_key` without TLS, which is usual inside one machine.
            headers={"api-key": api_key} if api_key else None,
            timeout=_TIMEOUT_SECONDS,
            grpc_options=dict(_GRPC_OPTIONS),
            check_compatibility=False,
        )
        self._is_closed = False

    def call(
        self, method: Callable[_Arguments, _Answer], *args: _Arguments.args, **kwargs: _Arguments.kwargs
    ) -> _Answer:
        """What `method` of the client answers.

        Raises `IndexUnavailable` if it does not, `SetupError` if the server refuses the key.
        """
        pauses = iter(_PAUSES_SECONDS)
        while True:
            if self._is_closed:
                raise IndexUnavailable("the index is closed")
            try:
                return method(*args, **kwargs)
            except ResourceExhaustedResponse as error:
                message = f"the Qdrant server is busy: {error}"
                raise IndexUnavailable(message, retry_after_seconds=error.retry_after_s) from error
            except grpc.RpcError as error:
                pause = next(pauses, None) if error.code() is grpc.StatusCode.UNAVAILABLE else None
                if pause is None:
                    raise _translated(error) from error
            time.sleep(pause)

    def close(self) -> None:
        self._is_closed = True
        self.client.close()


def remove_collection(url: str, api_key: str | None, collection: str) -> None:
    """Delete a collection; one that is not there is fine. Raises as `ServerConnection` does."""
    connection = ServerConnection(url, api_key)
    try:
        connection.call(connection.client.delete_collection, collection)
    finally:
        connection.close()


def _translated(error: grpc.RpcError) -> MemvouchError:
    if error.code() in (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED):
        return SetupError("the Qdrant server refuses the key in MEMVOUCH_INDEX_API_KEY")
    return IndexUnavailable(f"the Qdrant server failed: {error.code().name}: {error.details()}")
