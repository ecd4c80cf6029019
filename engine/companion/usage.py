"""Feedback that a memory was of use: it counts as an access and stands in the audit, without any text."""

from __future__ import annotations

from datetime import UTC, datetime

from engine.domain.access import Principal
from engine.domain.memory import Memory, WriteStatus, Written
from engine.engine import Engine
from engine.store import audit
from engine.writing.replay import Replay

ACTION = "usage"


def mark_used(
    engine: Engine,
    principal: Principal,
    memory_id: str,
    action: str = "used",
    *,
    tracking_id: str | None = None,
    idempotency_key: str | None = None,
) -> Memory:
    """The record. Raises `NotFound`. The same idempotency key counts once."""
    memory = engine.get(principal, memory_id)
    replay = Replay.of(ACTION, idempotency_key, memory.id, action)
    detail = {"action": action} | ({"tracking_id": tracking_id} if tracking_id else {})
    now = datetime.now(UTC)
    with engine.database.writing() as connection:
        if replay and replay.answer(connection, principal) is not None:
            return memory
        audit.append(connection, principal, ACTION, now, target=memory.id, space_id=memory.space_id, detail=detail)
        if replay:
            replay.keep(connection, principal, [Written(memory, WriteStatus.UNCHANGED)], now)
    return memory
