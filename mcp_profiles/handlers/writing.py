"""Handlers of the tools that store, change and forget."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from engine.domain.access import Scope
from engine.domain.memory import (
    ForgetMode,
    Kind,
    Memory,
    MemoryPatch,
    MemoryType,
    NewMemory,
    StateUpdate,
    Status,
    WriteStatus,
)
from engine.domain.outcome import Matches
from engine.domain.query import Filters, ListQuery, Query, TimeAxis
from engine.errors import Forbidden, InvalidRequest, NotFound
from mcp_profiles.call import Answer, Call

_LATEST = ("current", "latest")
_DONE = {WriteStatus.CREATED: "Saved", WriteStatus.UPDATED: "Updated", WriteStatus.UNCHANGED: "Already stored:"}
_CONFLICT_QUERY_CHARACTERS = 1000


def remember(call: Call, given: Mapping[str, Any]) -> Answer:
    """Store one memory."""
    call = call.attributed(given["agent_id"], given["agent_instance_id"])
    device = {name: given[name] for name in ("device_id", "device_label") if given[name]}
    new = NewMemory(
        content=given["content"],
        path=given["path"],
        space=call.writable(given["team_id"]),
        id=given["memory_id"],
        memory_type=_type_of(given["memory_type"]),
        bucket=given["bucket"],
        scope=given["scope"],
        importance=given["importance"],
        confidence=given["confidence"],
        semantic_key=given["semantic_key"],
        expires_at=given["expires_at"],
        dedupe=given["dedupe"],
        metadata=given["metadata_json"] or {},
        provenance={**(given["provenance_json"] or {}), **device},
    )
    written = call.engine.remember(call.principal, new, idempotency_key=call.idempotency_key)
    memory = written.memory
    text = f"{_DONE[written.status]} memory {memory.id}{_at(memory)}."
    return Answer(text, {**_values(memory), "status": written.status.value})


def update_memory(call: Call, given: Mapping[str, Any]) -> Answer:
    """Change one memory."""
    memory_id = given["memory_id"]
    if given["team_id"] is not None:
        memory = call.engine.get(call.principal, memory_id)
        if memory.space_id not in call.readable(given["team_id"]):
            raise InvalidRequest("a memory cannot move to the space of another team", field="team_id")
    patch = MemoryPatch(
        content=given["content"],
        path=given["path"],
        bucket=given["bucket"],
        scope=given["scope"],
        memory_type=_type_of(given["memory_type"]),
        status=Status(given["status"]) if given["status"] else None,
        importance=given["importance"],
        confidence=given["confidence"],
        semantic_key=given["semantic_key"],
        expires_at=given["expires_at"],
        metadata=given["metadata_json"],
        merge_metadata=given["merge_metadata"],
        provenance=given["provenance_json"],
        merge_provenance=given["merge_provenance"],
    )
    if patch == MemoryPatch(merge_metadata=given["merge_metadata"], merge_provenance=given["merge_provenance"]):
        raise InvalidRequest("name at least one field to change, such as content", field="content")
    if given["detect_conflicts"] and not call.principal.has(Scope.READ):
        # Asked before the change: a refusal after it would be taken for no change.
        raise Forbidden("detect_conflicts needs the scope memory:read")
    memory = call.engine.update(call.principal, memory_id, patch, idempotency_key=call.idempotency_key)
    text = f"Updated memory {memory.id}{_at(memory)} (version {memory.version})."
    values = _values(memory)
    if given["detect_conflicts"] and (others := _conflicts(call, memory)):
        text += f" Says much the same: {', '.join(others)}."
        values["conflicts"] = others
    return Answer(text, values)


def forget(call: Call, given: Mapping[str, Any]) -> Answer:
    """Forget softly: an exact id, or what the caller stored or changed last."""
    target = given["target"].strip()
    if target.casefold() not in _LATEST:
        return _forgotten(call, target, ForgetMode.SOFT, given["reason"], None)
    if call.is_repeat:
        # The first run may have forgotten the latest; a second one would take the one before it.
        raise InvalidRequest("the answer was lost on the way; give the exact id", field="target")
    memory = _latest(call)
    return _forgotten(call, memory.id, ForgetMode.SOFT, given["reason"], None)


def forget_memory(call: Call, given: Mapping[str, Any]) -> Answer:
    """Forget by id, in one of three ways."""
    mode = ForgetMode(given["mode"])
    replacement = given["replacement_content"]
    if replacement is not None and mode is not ForgetMode.REDACT:
        raise InvalidRequest("replacement_content belongs to mode redact", field="replacement_content")
    return _forgotten(call, given["memory_id"], mode, given["reason"], replacement)


def redact_memory(call: Call, given: Mapping[str, Any]) -> Answer:
    """Take the text away for good, keep the record."""
    return _forgotten(call, given["memory_id"], ForgetMode.REDACT, None, None)


def restore_memory(call: Call, given: Mapping[str, Any]) -> Answer:
    """Bring a softly forgotten memory back."""
    memory = call.engine.restore(call.principal, given["memory_id"])
    return Answer(f"Restored memory {memory.id}{_at(memory)}.", _values(memory))


def update_state(call: Call, given: Mapping[str, Any]) -> Answer:
    """Write a slot of working state."""
    update = StateUpdate(
        state_key=given["state_key"],
        content=given["content"],
        current_task=given["current_task"],
        next_action=given["next_action"],
        blocked_reason=given["blocked_reason"],
        ttl_seconds=given["ttl_seconds"],
        bucket=given["bucket"],
        scope=given["scope"],
        metadata=given["metadata_json"],
    )
    memory = call.engine.update_state(call.principal, update, idempotency_key=call.idempotency_key).memory
    key = update.state_key.strip()
    text = f"Saved state {key} as {memory.id} (version {memory.version})."
    return Answer(text, {**_values(memory), "state_key": key})


def _forgotten(call: Call, memory_id: str, mode: ForgetMode, reason: str | None, replacement: str | None) -> Answer:
    known = re.sub(r"^.*/", "", memory_id.strip())
    try:
        call.engine.forget(call.principal, known, mode, reason=reason, replacement=replacement)
    except NotFound:
        if not call.is_repeat:
            raise
    known = known.lower()
    values = {"id": known, "mode": mode.value}
    match mode:
        case ForgetMode.SOFT:
            way_back = " restore_memory brings it back." if call.profile.exposure("restore_memory") else ""
            return Answer(f"Forgot memory {known}.{way_back}", values)
        case ForgetMode.HARD:
            return Answer(f"Deleted memory {known} for good.", values)
        case ForgetMode.REDACT:
            return Answer(f"Redacted memory {known}: its text is gone for good.", values)


def _latest(call: Call) -> Memory:
    """What this caller stored or changed last in the default space."""
    space = call.principal.default_space_id
    query = ListQuery(
        spaces=(space,) if space else (),
        filters=Filters(kinds=frozenset({Kind.MEMORY}), agent_id=call.principal.agent_id),
        limit=1,
        order_by=TimeAxis.UPDATED,
    )
    page = call.engine.list_memories(call.principal, query)
    if not page.memories:
        raise NotFound("there is no memory of yours to forget; give an exact id")
    return page.memories[0]


def _conflicts(call: Call, memory: Memory) -> list[str]:
    """Ids of other records of the same bucket and scope that say much the same."""
    query = Query(
        text=memory.content[:_CONFLICT_QUERY_CHARACTERS],
        spaces=(memory.space_id,),
        filters=Filters(bucket=memory.bucket, scope=memory.scope),
    )
    outcome = call.engine.search(call.principal, query)
    found = outcome.hits if isinstance(outcome, Matches) else ()
    return [hit.memory.id for hit in found if hit.memory.id != memory.id]


def _type_of(name: str | None) -> MemoryType | None:
    return None if name in (None, "auto") else MemoryType(name)


def _at(memory: Memory) -> str:
    """Where a record lies, unless the caller may not read that."""
    return f" at {memory.path}" if memory.path else ""


def _values(memory: Memory) -> dict[str, Any]:
    return {"id": memory.id, "path": memory.path, "version": memory.version}
