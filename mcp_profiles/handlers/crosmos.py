"""Handlers of the four tools of the Crosmos contract, in its texts.

Errors carry that contract's prefixes and are always tool results.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from engine.companion import time_words
from engine.domain.access import Space
from engine.domain.memory import Kind
from engine.domain.outcome import Hit, Label, Matches
from engine.domain.query import MAX_LIMIT, SEARCHABLE_KINDS, Filters, Mode, Query
from engine.domain.source import ContentType, JobStatus, Message, NewConversation, NewSource
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
_UNFINISHED = (JobStatus.PENDING, JobStatus.PROCESSING)
_PATIENCE_SECONDS = 10.0
_PAUSE_SECONDS = 0.02
_SPARE = 10
"""Hits asked for beyond the limit, so that time words can bring one forward."""


def search_memories(call: Call, given: Mapping[str, Any]) -> Answer:
    """Best effort without its weak hits: what is left may be shown as grounded context."""
    space = _space(call, given["space_id"])
    query = Query(
        text=given["query"],
        mode=Mode.FORGIVING,
        limit=given["limit"] + _SPARE,
        spaces=(space.id,),
        filters=Filters(kinds=SEARCHABLE_KINDS - {Kind.STATE}),
    )
    outcome = call.engine.search(call.principal, replace(query, limit=min(query.limit, MAX_LIMIT)))
    found = outcome.hits if isinstance(outcome, Matches) else ()
    sure = [hit for hit in found if hit.label is not Label.WEAK and call.engine.ingest.shows(hit.memory)]
    ranked = time_words.preferred(sure, query.text, datetime.now(UTC))[: given["limit"]]
    names = {space.id: space.name}
    values = {"hits": [render.hit_values(hit, names) for hit, _ in ranked]}
    if not ranked:
        return Answer(NO_MEMORY, values)
    entries = [_entry(call, number, hit, score) for number, (hit, score) in enumerate(ranked, start=1)]
    head = f'Found {len(ranked)} memories for "{render.one_line(query.text)}":'
    return Answer(render.SEPARATOR.join([head, *entries]), values)


def add_memory(call: Call, given: Mapping[str, Any]) -> Answer:
    """Take sources or a conversation in; what is sent twice is stored once."""
    space = _space(call, given["space_id"])
    sources, conversation = given["sources"], given["messages"]
    if (sources is None) == (conversation is None):
        raise InvalidRequest("Provide exactly one of 'sources' or 'messages'", field="sources")
    ingest = call.engine.ingest
    if sources is not None:
        accepted = ingest.take_sources(call.principal, space.id, _sources(sources))
    else:
        accepted = ingest.take_conversation(call.principal, space.id, _conversation(conversation))
    _await_job(call, accepted.job_id)
    return Answer("Memory saved successfully.", {"job_id": accepted.job_id, "source_ids": list(accepted.source_ids)})


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


def _entry(call: Call, number: int, hit: Hit, score: float) -> str:
    memory = hit.memory
    nature = call.engine.ingest.nature(memory).value
    event = f" (event: {render.moment(memory.event_time)})" if memory.event_time else ""
    content = "\n".join(line for line in memory.content.splitlines() if line.strip()).strip()
    return f"{number}. (score: {score:.3f}, type: {nature}){event}\n   {content}"


def _sources(sent: Sequence[Mapping[str, Any]]) -> list[NewSource]:
    return [
        NewSource(
            content=source["content"],
            content_type=_content_type(source["content_type"]),
            role=source["role"],
            meta=source["meta"] or {},
        )
        for source in sorted(sent, key=lambda each: int(each["sequence"]))
    ]


def _content_type(name: str) -> ContentType:
    try:
        return ContentType(name.strip().casefold())
    except ValueError:
        known = ", ".join(each.value for each in ContentType)
        raise InvalidRequest(f"content_type must be one of {known}", field="sources") from None


def _conversation(sent: Mapping[str, Any]) -> NewConversation:
    messages = enumerate(sent["messages"])
    return NewConversation(
        messages=tuple(Message(each["role"], each["content"], position) for position, each in messages),
        session_id=sent["session_id"],
        session_date=sent["session_date"],
        meta=sent["meta"] or {},
    )


def _await_job(call: Call, job_id: str) -> None:
    """Wait until what was saved can be found, for a while: the sources are stored in any case."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < deadline:
        if call.engine.ingest.job(call.principal, job_id).job.status not in _UNFINISHED:
            return
        time.sleep(_PAUSE_SECONDS)
