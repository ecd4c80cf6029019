"""Restart snapshots: where an agent stood, so that its next session can go on.

A snapshot keeps ids and versions, never texts: whatever was forgotten or redacted since cannot come
back out of it. Restoring reads the records anew, leaves out what is gone, and can write the state
into its slot again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from engine.companion import decisions, reminders, timeline
from engine.companion.records import newest, of_kind
from engine.domain.access import Principal
from engine.domain.memory import DEFAULT_STATE_KEY, Kind, Memory, MemoryType, NewMemory, StateUpdate
from engine.domain.query import Filters
from engine.engine import Engine
from engine.errors import InvalidRequest, NotFound

MAX_PARTS = 100
DEFAULT_PARTS = 20
RESTORE_EVENT = "restart_restore"
_LABELS = {"Current task: ": "current_task", "Next action: ": "next_action", "Blocked by: ": "blocked_reason"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where states and snapshots are looked for and kept."""

    space: str | None = None
    bucket: str = "work"
    scope: str | None = None
    team_id: str | None = None

    def filters(self, **fields: Any) -> Filters:
        return Filters(bucket=self.bucket, scope=self.scope, team_id=self.team_id, **fields)

    @property
    def spaces(self) -> tuple[str, ...]:
        return (self.space,) if self.space else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotRequest:
    """What to put into a snapshot; limits are 0..100."""

    place: Place = field(default_factory=Place)
    state_key: str = DEFAULT_STATE_KEY
    label: str | None = None
    session_id: str | None = None
    timeline_limit: int = DEFAULT_PARTS
    reminder_limit: int = DEFAULT_PARTS
    decision_limit: int = DEFAULT_PARTS
    ttl_seconds: int | None = None
    source: str | None = None
    path: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StateThen:
    """A working state as it was: its text and its structured fields."""

    memory: Memory
    content: str
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A snapshot, with its records as they are readable now."""

    memory: Memory
    label: str | None
    state: StateThen | None
    timeline: tuple[Memory, ...]
    reminders: tuple[Memory, ...]
    decisions: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class Restored:
    """A snapshot that was restored at a time; `state` is the slot as written, if it was."""

    snapshot: Snapshot
    restored_at: datetime
    state: Memory | None


def snapshot(
    engine: Engine, principal: Principal, wanted: SnapshotRequest, *, idempotency_key: str | None = None
) -> Snapshot:
    """Note where things stand."""
    for name in ("timeline_limit", "reminder_limit", "decision_limit"):
        if not 0 <= getattr(wanted, name) <= MAX_PARTS:
            raise InvalidRequest(f"{name} must lie between 0 and {MAX_PARTS}", field=name)
    place = wanted.place
    spaces, everything, open_only = place.spaces, place.filters(), place.filters(item_status="open")
    state = active_state(engine, principal, place, wanted.state_key)
    events = timeline.events(engine, principal, filters=everything, spaces=spaces, limit=wanted.timeline_limit)
    todos = reminders.reminders(engine, principal, filters=open_only, spaces=spaces, limit=wanted.reminder_limit)
    pending = decisions.decisions(engine, principal, filters=open_only, spaces=spaces, limit=wanted.decision_limit)
    parts = {
        "label": wanted.label,
        "session_id": wanted.session_id,
        "state_key": wanted.state_key,
        "state": [state.id, state.version] if state else None,
        "timeline": [each.id for each in events],
        "reminders": [each.id for each in todos],
        "decisions": [each.id for each in pending],
    }
    new = NewMemory(
        content=f"Restart snapshot of {wanted.state_key}",
        path=wanted.path or "restart",
        space=place.space,
        memory_type=MemoryType.WORKING,
        kind=Kind.SNAPSHOT,
        bucket=place.bucket,
        scope=place.scope,
        team_id=place.team_id,
        source=wanted.source,
        expires_at=datetime.now(UTC) + timedelta(seconds=wanted.ttl_seconds) if wanted.ttl_seconds else None,
        metadata={**wanted.metadata, "snapshot": parts},
    )
    return _read(engine, principal, engine.remember(principal, new, idempotency_key=idempotency_key).memory)


def active_state(engine: Engine, principal: Principal, place: Place, state_key: str) -> Memory | None:
    """The latest live state of a slot; `None` if there is none."""
    found = newest(
        engine,
        principal,
        Kind.STATE,
        filters=place.filters(),
        spaces=place.spaces,
        limit=1,
        keep=lambda memory: memory.state_key == state_key,
    )
    return found[0] if found else None


def find(
    engine: Engine,
    principal: Principal,
    place: Place,
    *,
    snapshot_id: str | None = None,
    state_key: str | None = None,
    session_id: str | None = None,
) -> Snapshot | None:
    """The named snapshot, or the latest that matches; `None` if there is none."""
    if snapshot_id is not None:
        try:
            return _read(engine, principal, of_kind(engine, principal, Kind.SNAPSHOT, snapshot_id))
        except NotFound:
            return None

    def wanted(memory: Memory) -> bool:
        parts = memory.metadata.get("snapshot", {})
        return (state_key is None or parts.get("state_key") == state_key) and (
            session_id is None or parts.get("session_id") == session_id
        )

    found = newest(engine, principal, Kind.SNAPSHOT, filters=place.filters(), spaces=place.spaces, limit=1, keep=wanted)
    return _read(engine, principal, found[0]) if found else None


def restore(
    engine: Engine,
    principal: Principal,
    found: Snapshot,
    place: Place,
    *,
    restore_state: bool = True,
    record_event: bool = True,
    ttl_seconds: int | None = None,
    target_session_id: str | None = None,
    source: str | None = None,
) -> Restored:
    """Write the state into its slot and note the restore, each if wanted; else it is a pure read."""
    now = datetime.now(UTC)
    written = None
    if restore_state and found.state is not None:
        update = StateUpdate(
            state_key=found.memory.metadata["snapshot"]["state_key"],
            content=None if found.state.fields else found.state.content,
            ttl_seconds=ttl_seconds,
            space=found.memory.space_id,
            bucket=found.memory.bucket,
            scope=found.memory.scope,
            source=source,
            current_task=found.state.fields.get("current_task"),
            next_action=found.state.fields.get("next_action"),
            blocked_reason=found.state.fields.get("blocked_reason"),
        )
        written = engine.update_state(principal, update).memory
    if record_event:
        event = timeline.Event(
            content=f"Restored the restart snapshot {found.memory.id}.",
            event_type=RESTORE_EVENT,
            session_id=target_session_id,
            occurred_at=now,
            space=found.memory.space_id,
            bucket=place.bucket,
            scope=place.scope,
            source=source,
        )
        timeline.record(engine, principal, event)
    return Restored(found, now, written)


def _read(engine: Engine, principal: Principal, memory: Memory) -> Snapshot:
    parts = memory.metadata.get("snapshot", {})
    return Snapshot(
        memory=memory,
        label=parts.get("label"),
        state=_state_then(engine, principal, parts.get("state")),
        timeline=_living(engine, principal, parts.get("timeline", ())),
        reminders=_living(engine, principal, parts.get("reminders", ())),
        decisions=_living(engine, principal, parts.get("decisions", ())),
    )


def _state_then(engine: Engine, principal: Principal, named: Sequence[Any] | None) -> StateThen | None:
    """The state at the snapshot's version, if that version may still be read."""
    if named is None:
        return None
    memory_id, version = named
    try:
        memory = engine.get(principal, memory_id)
        if memory.version == version:
            fields = {name: memory.metadata[name] for name in _LABELS.values() if name in memory.metadata}
            return StateThen(memory, memory.content, fields)
        former = next(each for each in engine.versions(principal, memory_id) if each.version == version)
    except (NotFound, StopIteration):
        return None
    return StateThen(memory, former.content, _fields(former.content))


def _fields(content: str) -> dict[str, str]:
    """The structured fields of a composed state text; none if it has lines of another kind."""
    fields: dict[str, str] = {}
    for line in content.splitlines():
        label = next((each for each in _LABELS if line.startswith(each)), None)
        if label is None:
            return {}
        fields[_LABELS[label]] = line[len(label) :]
    return fields


def _living(engine: Engine, principal: Principal, ids: Sequence[str]) -> tuple[Memory, ...]:
    living = []
    for memory_id in ids:
        try:
            living.append(engine.get(principal, memory_id))
        except NotFound:
            continue
    return tuple(living)
