"""The timeline: what happened and when. Events are appended and never merged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from engine.companion.records import newest
from engine.domain.access import Principal
from engine.domain.memory import Kind, Memory, MemoryType, NewMemory
from engine.domain.query import Filters, TimeAxis
from engine.engine import Engine

DEFAULT_TYPE = "event"
DEFAULT_IMPORTANCE = 0.5
DEFAULT_CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened. `occurred_at` is now if it is not given."""

    content: str
    event_type: str = DEFAULT_TYPE
    session_id: str | None = None
    occurred_at: datetime | None = None
    importance: float = DEFAULT_IMPORTANCE
    confidence: float = DEFAULT_CONFIDENCE
    space: str | None = None
    bucket: str = "work"
    scope: str | None = None
    team_id: str | None = None
    source: str | None = None
    path: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


def record(engine: Engine, principal: Principal, event: Event, *, idempotency_key: str | None = None) -> Memory:
    """Append an event."""
    metadata = {**event.metadata, "event_type": event.event_type}
    if event.session_id:
        metadata["session_id"] = event.session_id
    new = NewMemory(
        content=event.content,
        path=event.path or f"timeline/{event.event_type}",
        space=event.space,
        memory_type=MemoryType.EPISODIC,
        kind=Kind.EVENT,
        bucket=event.bucket,
        scope=event.scope,
        team_id=event.team_id,
        importance=event.importance,
        confidence=event.confidence,
        source=event.source,
        event_time=event.occurred_at or datetime.now(UTC),
        metadata=metadata,
    )
    return engine.remember(principal, new, idempotency_key=idempotency_key).memory


def events(
    engine: Engine,
    principal: Principal,
    *,
    filters: Filters,
    spaces: tuple[str, ...] = (),
    session_id: str | None = None,
    event_type: str | None = None,
    limit: int = 20,
) -> list[Memory]:
    """Events, the latest first. A time window in `filters` should be over `TimeAxis.EVENT`."""

    def wanted(memory: Memory) -> bool:
        metadata = memory.metadata
        return (session_id is None or metadata.get("session_id") == session_id) and (
            event_type is None or metadata.get("event_type") == event_type
        )

    return newest(
        engine,
        principal,
        Kind.EVENT,
        filters=filters,
        spaces=spaces,
        limit=limit,
        order_by=TimeAxis.EVENT,
        keep=wanted,
    )
