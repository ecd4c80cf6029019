"""Handlers of the four tools of the Crosmos contract, in its texts.

Errors carry that contract's prefixes and are always tool results.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine.domain.access import Space
from engine.domain.memory import MemoryType, NewMemory
from engine.domain.outcome import Hit, Label, Matches
from engine.domain.query import Mode, Query
from engine.errors import Forbidden, InvalidRequest, MemvouchError, NotFound, Unauthenticated, Unavailable
from mcp_profiles import render
from mcp_profiles.call import Answer, Call

NO_SPACE = "No memory spaces found. Create a space first before searching or adding memories."
NO_MEMORY = "No memories found matching your query."
_PREFIXES = {
    "search_memories": "Error searching memories",
    "add_memory": "Error adding memory",
    "list_spaces": "Error listing spaces",
    "health_check": "Health check failed",
}
_STATUSES: tuple[tuple[type[MemvouchError], int, str], ...] = (
    (InvalidRequest, 400, "validation_error"),
    (Unauthenticated, 401, "unauthorized"),
    (Forbidden, 403, "forbidden"),
    (NotFound, 404, "not_found"),
    (Unavailable, 503, "service_unavailable"),
)
_CONTENT_TYPES = ("text", "markdown", "conversation")
_SHOWN_TYPES = {MemoryType.EPISODIC: "episode"}
_PATH = "crosmos"


def search_memories(call: Call, given: Mapping[str, Any]) -> Answer:
    """Best effort without its weak hits: what is left may be shown as grounded context."""
    space = _space(call, given["space_id"])
    query = Query(text=given["query"], mode=Mode.FORGIVING, limit=given["limit"], spaces=(space.id,))
    outcome = call.engine.search(call.principal, query)
    found = outcome.hits if isinstance(outcome, Matches) else ()
    sure = [hit for hit in found if hit.label is not Label.WEAK]
    names = {space.id: space.name}
    values = {"hits": [render.hit_values(hit, names) for hit in sure]}
    if not sure:
        return Answer(NO_MEMORY, values)
    entries = [_entry(number, hit) for number, hit in enumerate(sure, start=1)]
    head = f'Found {len(sure)} memories for "{render.one_line(query.text)}":'
    return Answer(render.SEPARATOR.join([head, *entries]), values)


def add_memory(call: Call, given: Mapping[str, Any]) -> Answer:
    """Store sources or a conversation; sent twice, they are stored once."""
    space = _space(call, given["space_id"])
    sources, conversation = given["sources"], given["messages"]
    if (sources is None) == (conversation is None):
        raise InvalidRequest("Provide exactly one of 'sources' or 'messages'", field="sources")
    drafts = _of_sources(sources) if sources is not None else _of_conversation(conversation)
    news = [_placed(draft, space, call.idempotency_key, number) for number, draft in enumerate(drafts)]
    written = call.engine.remember_many(call.principal, news)
    return Answer("Memory saved successfully.", {"ids": [each.memory.id for each in written]})


def list_spaces(call: Call, given: Mapping[str, Any]) -> Answer:
    """All spaces, oldest first."""
    found = [each.space for each in call.engine.spaces(call.principal)]
    if not found:
        return Answer("No memory spaces found. Create a space first using the API.", {"spaces": []})
    lines = [
        f"{number}. [ID: {space.id}] {render.one_line(space.name)}"
        + (f" - {render.one_line(space.description)}" if space.description else "")
        for number, space in enumerate(found, start=1)
    ]
    text = "\n".join([f"Found {len(found)} memory spaces:", "", *lines])
    return Answer(text, {"spaces": [{"id": space.id, "name": space.name} for space in found]})


def health_check(call: Call, given: Mapping[str, Any]) -> Answer:
    """Whether store and index answer."""
    call.engine.spaces(call.principal)
    return Answer("Memvouch status: ok", {"status": "ok"})


def error_text(tool: str, error: MemvouchError) -> str:
    """An error of a handler in the contract's words."""
    prefix = _PREFIXES[tool]
    message = render.one_line(str(error))
    if message == NO_SPACE:
        return f"{prefix}: {message}"
    if isinstance(error, InvalidRequest):
        return f"{prefix}: Invalid input: {message}"
    status, code = next(
        ((number, name) for family, number, name in _STATUSES if isinstance(error, family)), (500, "error")
    )
    body = json.dumps({"detail": message, "code": code}, ensure_ascii=False)
    return f"{prefix}: API Error {status}: {body}"


def argument_error_text(tool: str, error: InvalidRequest) -> str:
    """Arguments that do not fit the tool's schema."""
    message = render.one_line(str(error))
    return f"MCP error -32602: Input validation error: Invalid arguments for tool {tool}: {message}"


def _space(call: Call, space_id: str | None) -> Space:
    """The named space, else the caller's default one, else the oldest."""
    if space_id is not None:
        try:
            return call.engine.space(call.principal, str(uuid.UUID(space_id.strip()))).space
        except ValueError:
            raise InvalidRequest("space_id must be a UUID", field="space_id") from None
        except NotFound:
            raise NotFound(f"Space {space_id.strip()} not found") from None
    found = [each.space for each in call.engine.spaces(call.principal)]
    if not found:
        raise NotFound(NO_SPACE)
    return next((space for space in found if space.id == call.principal.default_space_id), found[0])


def _entry(number: int, hit: Hit) -> str:
    memory = hit.memory
    shown_type = _SHOWN_TYPES.get(memory.memory_type, "semantic")
    event = f" (event: {render.moment(memory.event_time)})" if memory.event_time else ""
    content = "\n".join(line for line in memory.content.splitlines() if line.strip()).strip()
    return f"{number}. (score: {hit.confidence:.3f}, type: {shown_type}){event}\n   {content}"


def _of_sources(sources: Sequence[Mapping[str, Any]]) -> Iterator[NewMemory]:
    for source in sorted(sources, key=lambda each: each["sequence"]):
        if source["content_type"] not in _CONTENT_TYPES:
            raise InvalidRequest(f"content_type must be one of {', '.join(_CONTENT_TYPES)}", field="sources")
        about = {"content_type": source["content_type"], "role": source["role"]}
        metadata = {**(source["meta"] or {}), **{name: value for name, value in about.items() if value}}
        yield NewMemory(content=source["content"], path=f"{_PATH}/sources", metadata=metadata, dedupe=True)


def _of_conversation(conversation: Mapping[str, Any]) -> Iterator[NewMemory]:
    messages, size = conversation["messages"], conversation["segment_size"]
    session = conversation["session_id"]
    about = {"session_id": session} if session else {}
    for start in range(0, len(messages), size):
        lines = [f"{message['role']}: {message['content']}" for message in messages[start : start + size]]
        yield NewMemory(
            content="\n".join(lines),
            path=f"{_PATH}/conversations",
            memory_type=MemoryType.EPISODIC,
            event_time=conversation["session_date"],
            metadata={**(conversation["meta"] or {}), **about},
            dedupe=True,
        )


def _placed(draft: NewMemory, space: Space, key: str | None, number: int) -> NewMemory:
    """The draft in its space; with the id of a repeatable write, if the call has one."""
    known = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{key} {number}")) if key else None
    return replace(draft, space=space.id, id=known)
