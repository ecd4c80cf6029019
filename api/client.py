"""A thin typed client of a Memvouch host, for programs that do not want to write HTTP.

    with Client("http://127.0.0.1:8787", token) as memory:
        memory.remember("The release train leaves on Tuesdays.", path="team/release")
        answer = memory.search("When does the release train leave?")
        if answer.no_match:
            print(answer.no_match.reason)

`Client.of_folder(data_dir)` finds the host that serves a folder on this machine and comes in through
its socket as the folder's owner. Errors of the host are raised as the errors of `engine.errors`, so
code reads the same with a client as with an engine in its own process. Nothing is retried here: a
write that may have arrived is repeated with the same `idempotency_key`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from api.host.start import living_socket
from engine.errors import (
    Conflict,
    ContentTooLarge,
    Forbidden,
    InvalidIdentifier,
    InvalidRequest,
    MemvouchError,
    NotFound,
    Unauthenticated,
    Unavailable,
)

TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Found:
    """One hit. `confidence` is 0..1; `label` is `strong`, `likely` or `weak`."""

    id: str
    content: str
    path: str
    confidence: float
    label: str
    raw: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a strict question has no answer."""

    reason: str
    threshold: float
    considered: int
    best_confidence: float


@dataclass(frozen=True, slots=True)
class Answer:
    """What a question gets: hits, best first, or why there are none."""

    results: tuple[Found, ...]
    no_match: Refusal | None


@dataclass(frozen=True, slots=True)
class Pack:
    """Memories packed into a budget; `text` holds one block for each of `items`."""

    items: tuple[Found, ...]
    text: str
    used_tokens: int
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Stored:
    """A record after a write; `status` is `created`, `updated` or `unchanged`."""

    id: str
    status: str
    version: int
    raw: Mapping[str, Any]


class Client:
    """One connection to a host. Not shared between threads while a call runs."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        transport: httpx.BaseTransport | None = None,
        agent: str | None = None,
    ) -> None:
        """`agent` is the name that records are attributed to."""
        headers = {}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        if agent is not None:
            headers["X-Memory-OS-Agent-ID"] = agent
        self._http = httpx.Client(base_url=url, headers=headers, timeout=TIMEOUT_SECONDS, transport=transport)

    @classmethod
    def of_folder(cls, data_dir: Path, *, agent: str | None = None) -> Self:
        """A client of the host that serves a folder, as its owner. Raises `Unavailable` if there is none."""
        socket = living_socket(data_dir)
        if socket is None:
            raise Unavailable(f"No host serves {data_dir}. Start one with `memvouch serve`.")
        return cls("http://memvouch", transport=httpx.HTTPTransport(uds=str(socket)), agent=agent)

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def search(self, query: str, *, limit: int = 10, **fields: Any) -> Answer:
        """Strict unless `mode="forgiving"`. Fields are those of `/v1/memories/search`; an unknown one is refused."""
        return _answer(self._send("POST", "/v1/memories/search", {"query": query, "limit": limit, **fields}))

    def recall(self, query: str, *, limit: int = 10, **fields: Any) -> Answer:
        """The best effort, every hit labelled."""
        return _answer(self._send("POST", "/v1/recall", {"query": query, "limit": limit, **fields}))

    def recall_context(self, query: str, *, max_items: int = 8, max_tokens: int = 2000, **fields: Any) -> Pack:
        """Several memories in a token budget."""
        body = self._send(
            "POST",
            "/v1/recall/context",
            {"query": query, "max_items": max_items, "max_tokens": max_tokens, **fields},
        )
        budget = body["budget"]
        return Pack(_found(body["items"]), body["context_text"], budget["used_tokens"], budget["max_tokens"])

    def remember(self, content: str, *, path: str = "inbox", **fields: Any) -> Stored:
        """Store a memory; it can be found when this returns."""
        return _stored(self._send("POST", "/v1/remember", {"content": content, "path": path, **fields}))

    def update_state(self, **fields: Any) -> Stored:
        """Write working state."""
        return _stored(self._send("POST", "/v1/update_state", fields))

    def get(self, memory_id: str) -> Mapping[str, Any]:
        """One record. Raises `NotFound`."""
        return self._send("GET", f"/v1/memories/{memory_id}")

    def list_memories(self, *, limit: int = 100, offset: int = 0, **filters: Any) -> Sequence[Mapping[str, Any]]:
        """A page of records, newest first."""
        body = self._send("GET", "/v1/memories", params={"limit": limit, "offset": offset, **filters})
        return list(body["memories"])

    def update(self, memory_id: str, **changes: Any) -> Stored:
        """Change a record; unset fields stay."""
        return _stored(self._send("PATCH", f"/v1/memories/{memory_id}", changes))

    def forget(self, memory_id: str, *, mode: str = "soft_delete", **fields: Any) -> None:
        """Forget a record: `soft_delete` can be restored, `hard_delete` and `redact` cannot."""
        self._send("POST", f"/v1/memories/{memory_id}/forget", {"mode": mode, **fields})

    def restore(self, memory_id: str) -> Stored:
        """Bring a softly forgotten record back."""
        return _stored(self._send("POST", f"/v1/memories/{memory_id}/restore", {}))

    def _send(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, params: Mapping[str, Any] | None = None
    ) -> Mapping[str, Any]:
        try:
            answer = self._http.request(method, path, json=body, params=params)
        except httpx.TransportError as error:
            raise Unavailable(f"The host does not answer: {error}") from error
        if not answer.is_success:
            raise error_of(answer)
        found: Mapping[str, Any] = answer.json()
        return found


def error_of(answer: httpx.Response) -> MemvouchError:
    """The error that an answer stands for."""
    message, field = _told(answer)
    match answer.status_code:
        case 400:
            return InvalidIdentifier(message, field=field)
        case 401:
            return Unauthenticated(message, missing=True)
        case 403:
            refused_token = message == "Invalid or inactive API Key"
            return Unauthenticated(message) if refused_token else Forbidden(message)
        case 404:
            return NotFound(message)
        case 409:
            return Conflict(message)
        case 413:
            return ContentTooLarge(message, field=field)
        case 422:
            return InvalidRequest(message, field=field)
        case _:
            wait = answer.headers.get("Retry-After", "")
            return Unavailable(message, retry_after_seconds=float(wait) if wait.isdecimal() else 1.0)


def _told(answer: httpx.Response) -> tuple[str, str | None]:
    """Message and field of an error body."""
    try:
        detail = answer.json()["detail"]
    except (ValueError, KeyError, TypeError):
        return f"HTTP {answer.status_code}", None
    if isinstance(detail, list) and detail:
        return str(detail[0]["msg"]), str(detail[0]["loc"][-1])
    if isinstance(detail, dict):
        return str(detail.get("message", detail)), None
    return str(detail), None


def _answer(body: Mapping[str, Any]) -> Answer:
    refused = body.get("no_match")
    names = ("reason", "threshold", "considered", "best_confidence")
    return Answer(_found(body["results"]), Refusal(**{name: refused[name] for name in names}) if refused else None)


def _found(items: Sequence[Mapping[str, Any]]) -> tuple[Found, ...]:
    return tuple(Found(item["id"], item["content"], item["path"], item["score"], item["label"], item) for item in items)


def _stored(body: Mapping[str, Any]) -> Stored:
    return Stored(body["id"], str(body["status"]), int(body["version"]), body)
