"""Decisions that are pending, and how they were resolved."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from engine.companion.records import newest, of_kind
from engine.domain.access import Principal
from engine.domain.memory import Kind, Memory, MemoryPatch, MemoryType, NewMemory
from engine.domain.query import Filters
from engine.engine import Engine
from engine.errors import InvalidRequest

OPEN = "open"
RESOLVED = "resolved"
MAX_OPTIONS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A question to be decided: its context and up to 20 options."""

    context: str
    options: tuple[str, ...] = ()
    due_at: datetime | None = None
    space: str | None = None
    bucket: str = "work"
    scope: str | None = None
    team_id: str | None = None
    path: str | None = None


def create(engine: Engine, principal: Principal, decision: Decision, *, idempotency_key: str | None = None) -> Memory:
    """A pending decision; its options are part of its text, so that a search finds them."""
    if len(decision.options) > MAX_OPTIONS:
        raise InvalidRequest(f"at most {MAX_OPTIONS} options", field="options")
    lines = [decision.context, *(f"- {option}" for option in decision.options)]
    new = NewMemory(
        content="\n".join(lines) if decision.context.strip() else decision.context,
        path=decision.path or "decisions",
        space=decision.space,
        memory_type=MemoryType.EPISODIC,
        kind=Kind.DECISION,
        bucket=decision.bucket,
        scope=decision.scope,
        team_id=decision.team_id,
        item_status=OPEN,
        due_at=decision.due_at,
        metadata={"context": decision.context, "options": list(decision.options)},
    )
    return engine.remember(principal, new, idempotency_key=idempotency_key).memory


def decisions(
    engine: Engine,
    principal: Principal,
    *,
    filters: Filters,
    spaces: tuple[str, ...] = (),
    due_before: datetime | None = None,
    limit: int = 20,
) -> list[Memory]:
    """Decisions, newest first; `filters.item_status` is `open`, `resolved` or `None` for all."""

    def wanted(memory: Memory) -> bool:
        return due_before is None or (memory.due_at is not None and memory.due_at < due_before)

    return newest(engine, principal, Kind.DECISION, filters=filters, spaces=spaces, limit=limit, keep=wanted)


def resolve(engine: Engine, principal: Principal, decision_id: str, resolution: str) -> Memory:
    """The decision with its resolution, in its text too; the same resolution again changes nothing."""
    if not resolution.strip():
        raise InvalidRequest("resolution is blank", field="resolution")
    decision = of_kind(engine, principal, Kind.DECISION, decision_id)
    if decision.metadata.get("resolution") == resolution:
        return decision
    lines = [str(decision.metadata.get("context", decision.content))]
    lines += [f"- {option}" for option in decision.metadata.get("options", ())]
    return engine.update(
        principal,
        decision.id,
        MemoryPatch(
            content="\n".join([*lines, f"Resolved: {resolution}"]),
            item_status=RESOLVED,
            metadata={"resolution": resolution},
            merge_metadata=True,
        ),
    )
