"""The texts that agents read, and the one mapping of our errors to them.

A list of hits is one block for each, numbered from 1, with one blank line between blocks and none
inside:

    [1] id=<id>
    space: <space>
    path: <path>
    type: <memory type>
    score: 0.812
    label: strong                (best effort only)
    updated: <RFC 3339>
    boundary: self | other_agent (if the caller is a known agent)
    why: <reasons>               (only when asked)
    content: <content>

No match is a block of its own that says so, tells not to guess, and what can be done next.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, assert_never

from engine.domain.memory import Memory
from engine.domain.outcome import Explanation, Hit, NoMatch, NoMatchReason
from engine.errors import (
    Conflict,
    Forbidden,
    InvalidRequest,
    MemvouchError,
    NotFound,
    SetupError,
    Unauthenticated,
    Unavailable,
)
from mcp_profiles.profile import Profile

NO_MATCH = "No strong match for this query within the authorized filters."
DO_NOT_GUESS = "Do not guess an answer or present other memories as one."
SEPARATOR = "\n\n"
_NAMED = 4


def moment(value: datetime | None) -> str | None:
    """A time as RFC 3339 in UTC."""
    return value.isoformat().replace("+00:00", "Z") if value else None


def one_line(text: str) -> str:
    """A text on one line."""
    return " ".join(text.split())


def block(number: int, memory: Memory, lines: Iterable[str], content: str) -> str:
    """One entry of a list. No line of it is blank."""
    text = "\n".join(line for line in content.splitlines() if line.strip()).strip()
    return "\n".join([f"[{number}] id={memory.id}", *lines, f"content: {text}"])


def hits(found: Sequence[Hit], space_names: Mapping[str, str], *, labelled: bool, explained: bool) -> str:
    """Hits in their order."""
    return SEPARATOR.join(
        block(
            number, hit.memory, _hit_lines(hit, space_names, labelled=labelled, explained=explained), hit.memory.content
        )
        for number, hit in enumerate(found, start=1)
    )


def _hit_lines(hit: Hit, space_names: Mapping[str, str], *, labelled: bool, explained: bool) -> list[str]:
    memory = hit.memory
    lines = [
        *place_lines(memory, space_names),
        f"type: {memory.memory_type.value}",
        f"score: {hit.confidence:.3f}",
    ]
    if labelled:
        lines.append(f"label: {hit.label.value}")
    lines.append(f"updated: {moment(memory.updated_at)}")
    if hit.boundary is not None:
        lines.append(f"boundary: {hit.boundary.value}")
    if explained and hit.reasons:
        lines.append(f"why: {one_line('; '.join(hit.reasons))}")
    return lines


def place_lines(memory: Memory, space_names: Mapping[str, str]) -> list[str]:
    """Where a record lies."""
    space = space_names.get(memory.space_id, memory.space_id)
    return [f"space: {one_line(space)}", f"path: {one_line(memory.path)}"]


def hit_values(hit: Hit, space_names: Mapping[str, str]) -> dict[str, Any]:
    """A hit in the structured answer: what a program needs to go on with it, without the text."""
    memory = hit.memory
    values = {
        "id": memory.id,
        "space": space_names.get(memory.space_id, memory.space_id),
        "path": memory.path,
        "memory_type": memory.memory_type.value,
        "confidence": hit.confidence,
        "label": hit.label.value,
        "updated_at": moment(memory.updated_at),
    }
    return values | {"boundary": hit.boundary.value} if hit.boundary else values


def no_match(outcome: NoMatch, profile: Profile) -> str:
    """The explicit no-match of a strict search."""
    parts = [NO_MATCH, _why_none(outcome), DO_NOT_GUESS, profile.no_match_advice or _advice(profile)]
    if outcome.degraded:
        parts.append(f"Part of the search did not answer ({', '.join(each.leg.value for each in outcome.degraded)}).")
    return one_line(" ".join(parts))


def no_match_values(outcome: NoMatch) -> dict[str, Any]:
    """A no-match in the structured answer. It never names what was rejected."""
    return {
        "reason": outcome.reason.value,
        "threshold": outcome.threshold,
        "considered": outcome.considered,
        "best_confidence": outcome.best_confidence,
    }


def _why_none(outcome: NoMatch) -> str:
    match outcome.reason:
        case NoMatchReason.EMPTY_SPACE:
            return "Nothing is stored yet."
        case NoMatchReason.FILTERED_OUT:
            return "The filters admit no memory."
        case NoMatchReason.BELOW_THRESHOLD:
            lacks = outcome.nearest.missing[:_NAMED] if outcome.nearest else ()
            about = f" The nearest lacks {', '.join(repr(each) for each in lacks)}." if lacks else ""
            return f"Of {outcome.considered} candidates none was sure enough.{about}"
        case NoMatchReason.IDENTIFIER_ABSENT:
            named = ", ".join(outcome.missing_identifiers)
            return f"No memory holds {named}." if named else "No memory holds the identifier asked for."
        case _:
            assert_never(outcome.reason)


def _advice(profile: Profile) -> str:
    search = profile.exposure("search_memory")
    ways = ["Ask again with the exact name, identifier or wording"]
    if search and search.parameter("path_filter"):
        ways.append("loosen path_filter or memory_type")
    if profile.exposure("recall"):
        ways.append("call recall for labelled best-effort hits")
    return f"{', or '.join(ways)}; else say that nothing is stored about it."


def explanation(found: Explanation, space_names: Mapping[str, str]) -> str:
    """One record in one block, with the verdict of strict search if a question was given."""
    memory = found.memory
    lines = [
        *place_lines(memory, space_names),
        f"type: {memory.memory_type.value}",
        f"kind: {memory.kind.value}",
        f"status: {memory.status.value}",
        f"bucket: {one_line(memory.bucket)}",
        f"version: {memory.version} of {found.versions}",
        f"created: {moment(memory.created_at)}",
        f"updated: {moment(memory.updated_at)}",
    ]
    optional = {
        "scope": memory.scope,
        "source": memory.source,
        "agent": memory.agent_id,
        "expires": moment(memory.expires_at),
        "semantic_key": memory.semantic_key,
    }
    lines += [f"{name}: {one_line(value)}" for name, value in optional.items() if value]
    if found.considered is not None:
        lines.append(f"verdict: {found.considered.verdict.value}")
        lines.append(f"score: {found.considered.confidence:.3f} (strict threshold {found.threshold or 0:.3f})")
        if found.considered.reasons:
            lines.append(f"why: {one_line('; '.join(found.considered.reasons))}")
    return block(1, memory, lines, memory.content)


def error(found: MemvouchError) -> str:
    """What the agent is told about an error: what is wrong, with the field, and what to do."""
    message = one_line(str(found)).rstrip(".")
    match found:
        case InvalidRequest():
            place = f"{found.field}: " if found.field and not message.startswith(found.field) else ""
            return f"Invalid argument {place}{message}."
        case Unauthenticated():
            return f"Not authenticated: {message}."
        case Forbidden():
            return f"Not allowed: {message}."
        case NotFound():
            return f"Not found: {message}."
        case Conflict():
            return f"Conflict: {message}."
        case Unavailable():
            wait = max(1, round(found.retry_after_seconds))
            return f"Not available now: {message}. This is an outage, not an answer; try again in {wait} s."
        case SetupError():
            return f"A person has to act: {message}."
        case _:
            return f"{message}."
