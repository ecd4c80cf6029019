"""Reminders, also called todos: open until they are completed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from engine.companion.records import newest, of_kind
from engine.domain.access import Principal
from engine.domain.memory import Kind, Memory, MemoryPatch, MemoryType, NewMemory
from engine.domain.query import Filters
from engine.engine import Engine

OPEN = "open"
COMPLETED = "completed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminder:
    """Something to be done, perhaps by a time."""

    content: str
    due_at: datetime | None = None
    session_id: str | None = None
    space: str | None = None
    bucket: str = "work"
    scope: str | None = None
    team_id: str | None = None
    path: str | None = None
    source: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


def create(engine: Engine, principal: Principal, reminder: Reminder, *, idempotency_key: str | None = None) -> Memory:
    """An open reminder."""
    session = {"session_id": reminder.session_id} if reminder.session_id else {}
    new = NewMemory(
        content=reminder.content,
        path=reminder.path or "reminders",
        space=reminder.space,
        memory_type=MemoryType.PROCEDURAL,
        kind=Kind.REMINDER,
        bucket=reminder.bucket,
        scope=reminder.scope,
        team_id=reminder.team_id,
        source=reminder.source,
        item_status=OPEN,
        due_at=reminder.due_at,
        metadata={**reminder.metadata, **session},
    )
    return engine.remember(principal, new, idempotency_key=idempotency_key).memory


def reminders(
    engine: Engine,
    principal: Principal,
    *,
    filters: Filters,
    spaces: tuple[str, ...] = (),
    due_before: datetime | None = None,
    limit: int = 20,
) -> list[Memory]:
    """Reminders, newest first; `filters.item_status` is `open`, `completed` or `None` for all."""

    def wanted(memory: Memory) -> bool:
        return due_before is None or (memory.due_at is not None and memory.due_at < due_before)

    return newest(engine, principal, Kind.REMINDER, filters=filters, spaces=spaces, limit=limit, keep=wanted)


def update(engine: Engine, principal: Principal, reminder_id: str, patch: MemoryPatch) -> Memory:
    """Change an open or completed reminder. Raises `NotFound` for anything else."""
    of_kind(engine, principal, Kind.REMINDER, reminder_id)
    return engine.update(principal, reminder_id, patch)


def complete(engine: Engine, principal: Principal, reminder_id: str, note: str | None = None) -> Memory:
    """The reminder, completed; completing it again changes nothing."""
    reminder = of_kind(engine, principal, Kind.REMINDER, reminder_id)
    if reminder.item_status == COMPLETED:
        return reminder
    metadata = {"completion_note": note} if note else {}
    return engine.update(
        principal, reminder.id, MemoryPatch(item_status=COMPLETED, metadata=metadata, merge_metadata=True)
    )
