"""Companion records as they go over the wire: the flat record of `api/xmemo/items.py` and the names of its kind."""

from __future__ import annotations

from typing import Any

from api.xmemo.items import memory_item, moment
from engine.companion.reminders import COMPLETED
from engine.companion.restart import Restored, Snapshot
from engine.domain.memory import Memory
from engine.domain.query import MATCH_ALL
from engine.errors import NotFound

_STATE_FIELDS = ("current_task", "next_action", "blocked_reason")


def must_lie_in(memory: Memory, bucket: str | None, scope: str | None) -> None:
    """A record outside of the named bucket or scope is not found."""
    if bucket not in (None, MATCH_ALL, memory.bucket) or scope not in (None, MATCH_ALL, memory.scope):
        raise NotFound("Memory not found")


def event_item(memory: Memory) -> dict[str, Any]:
    """An event."""
    return memory_item(memory) | {
        "event_id": memory.id,
        "event_type": memory.metadata.get("event_type", "event"),
        "session_id": memory.metadata.get("session_id"),
        "occurred_at": moment(memory.event_time or memory.created_at),
    }


def reminder_item(memory: Memory) -> dict[str, Any]:
    """A reminder."""
    return memory_item(memory) | {
        "todo_id": memory.id,
        "session_id": memory.metadata.get("session_id"),
        "note": memory.metadata.get("completion_note"),
    }


def todo_item(memory: Memory) -> dict[str, Any]:
    """A reminder in the words of the skill operations: `status` is `open` or `done`."""
    return reminder_item(memory) | {"status": "done" if memory.item_status == COMPLETED else "open"}


def decision_item(memory: Memory) -> dict[str, Any]:
    """A decision. What was redacted has no options any more."""
    return memory_item(memory) | {
        "decision_id": memory.id,
        "context": memory.metadata.get("context", memory.content),
        "options": list(memory.metadata.get("options", ())),
        "resolution": memory.metadata.get("resolution"),
    }


def state_item(memory: Memory) -> dict[str, Any]:
    """A working state as the restored slot."""
    return {
        "id": memory.id,
        "memory_id": memory.id,
        "state_key": memory.state_key,
        "content": memory.content,
        "version": memory.version,
        "status": memory.status.value,
        "expires_at": moment(memory.expires_at),
    }


def snapshot_item(snapshot: Snapshot) -> dict[str, Any]:
    """A snapshot, in counts."""
    return {
        "id": snapshot.memory.id,
        "memory_id": snapshot.memory.id,
        "snapshot_id": snapshot.memory.id,
        "label": snapshot.label,
        "bucket": snapshot.memory.bucket,
        "scope": snapshot.memory.scope,
        "created_at": moment(snapshot.memory.created_at),
        "expires_at": moment(snapshot.memory.expires_at),
        "timeline_count": len(snapshot.timeline),
        "reminders_count": len(snapshot.reminders),
        "decisions_count": len(snapshot.decisions),
        "states_count": 0 if snapshot.state is None else 1,
    }


def restored_body(restored: Restored) -> dict[str, Any]:
    """The answer of a restore."""
    found = restored.snapshot
    return {
        "id": found.memory.id,
        "memory_id": found.memory.id,
        "snapshot_id": found.memory.id,
        "restored": True,
        "status": "restored",
        "restored_at": moment(restored.restored_at),
        "label": found.label,
        "snapshot": {
            "active_state": _active_state(found),
            "timeline": [event_item(each) for each in found.timeline],
            "reminders": [reminder_item(each) for each in found.reminders],
            "decisions": [decision_item(each) for each in found.decisions],
        },
        "state_update": None if restored.state is None else state_item(restored.state),
    }


def nothing_restored() -> dict[str, Any]:
    """There is no such snapshot: an answer, not an error."""
    return {
        "id": None,
        "memory_id": None,
        "snapshot_id": None,
        "restored": False,
        "status": "not_found",
        "restored_at": None,
        "snapshot": None,
        "state_update": None,
    }


def _active_state(found: Snapshot) -> dict[str, Any] | None:
    state = found.state
    if state is None:
        return None
    fields = {name: state.fields.get(name) for name in _STATE_FIELDS}
    return state_item(state.memory) | {"content": state.content, "metadata": fields}
