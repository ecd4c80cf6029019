"""Working state: what an agent is doing now, one slot per key, gone when its time is over.

A slot is named by space, bucket, scope and `state_key`; each write is the next version of the
same record and starts its time to live anew. The structured fields (`current_task`, ...) stand in
the record's metadata and, composed, in its content, so that a search can find them.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from engine.domain.memory import MAX_TTL_SECONDS, Kind, MemoryType, NewMemory, StateUpdate
from engine.errors import InvalidRequest

_LABELS = {"current_task": "Current task", "next_action": "Next action", "blocked_reason": "Blocked by"}


def draft(update: StateUpdate, now: datetime) -> NewMemory:
    """The record that holds the state.

    Raises `InvalidRequest` for an empty state, an empty key or a time to live out of range.
    """
    key = update.state_key.strip()
    if not key or len(key) > 128:
        raise InvalidRequest("state_key must have 1 to 128 characters", field="state_key")
    ttl = update.ttl_seconds or 0
    if not 0 <= ttl <= MAX_TTL_SECONDS:
        raise InvalidRequest(f"ttl_seconds must lie between 0 and {MAX_TTL_SECONDS}", field="ttl_seconds")
    fields = {name: value for name in _LABELS if (value := getattr(update, name))}
    lines = [update.content] if update.content else []
    lines += [f"{_LABELS[name]}: {value}" for name, value in fields.items()]
    if not lines:
        raise InvalidRequest("a state needs content, current_task, next_action or blocked_reason", field="content")
    return NewMemory(
        content="\n".join(lines),
        path=update.path or f"state/{key}",
        space=update.space,
        memory_type=MemoryType.WORKING,
        kind=Kind.STATE,
        bucket=update.bucket,
        scope=update.scope,
        team_id=update.team_id,
        state_key=key,
        source=update.source,
        expires_at=now + timedelta(seconds=ttl) if ttl else None,
        metadata={**(update.metadata or {}), **fields},
    )
