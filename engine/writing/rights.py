"""What a write needs: a scope of the token, and a space that the caller may write to.

And what it answers: the record that was written, but to a caller without the scope to read nothing
of what it says, neither what the caller sent nor, above all, what was there before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection

from engine.domain.access import Principal, Scope, Space
from engine.domain.memory import Memory, Written
from engine.errors import Forbidden, NotFound
from engine.store import access, memories

NOT_FOUND = "Memory not found"
_SAYINGS = (
    *("scope", "importance", "confidence", "semantic_key", "state_key", "source", "source_id"),
    *("agent_id", "agent_instance_hash", "item_status", "due_at", "event_time", "last_accessed_at"),
)
"""Fields of a record that may be unset and that say something of it."""


def require_scope(principal: Principal, *allowed: Scope) -> None:
    """Refuse a token that has none of these scopes (`memory:admin` stands for all)."""
    if not principal.has(*allowed):
        raise Forbidden(f"this token lacks the scope {allowed[0].value}")


def answer_to(principal: Principal, memory: Memory) -> Memory:
    """A written record as its writer gets it: without the scope to read only id, place in the store and times."""
    if principal.has(Scope.READ):
        return memory
    nothing: dict[str, Any] = dict.fromkeys(_SAYINGS)
    return replace(memory, content="", path="", metadata={}, provenance={}, **nothing)


def answers_to(principal: Principal, written: Sequence[Written]) -> list[Written]:
    """`answer_to` for each record."""
    return [replace(each, memory=answer_to(principal, each.memory)) for each in written]


def writable_spaces(connection: Connection, principal: Principal, refs: Sequence[str | None]) -> list[Space]:
    """The spaces of the given ids or names, in order; `None` is the caller's default space.

    Raises:
        NotFound: no such space for this caller.
        Forbidden: readable, but not writable.
    """
    known: dict[str | None, Space] = {}
    for ref in dict.fromkeys(refs):
        if ref is None:
            known[ref] = access.default_space(connection, principal, write=True).space
        else:
            known[ref] = access.resolve(connection, principal, [ref], write=True)[0].space
    return [known[ref] for ref in refs]


def writable_memory(connection: Connection, principal: Principal, memory_id: str) -> Memory:
    """A record of any status that the caller may change.

    A record of a space that the caller cannot read is `NotFound`, exactly like a missing one.
    """
    memory = memories.get(connection, memory_id)
    spaces = {each.space.id: each for each in access.readable(connection, principal)}
    if memory is None or memory.space_id not in spaces:
        raise NotFound(NOT_FOUND)
    if not spaces[memory.space_id].can_write:
        raise Forbidden("this token may not write to that space")
    return memory
