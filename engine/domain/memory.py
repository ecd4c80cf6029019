"""What is stored: memories, their drafts and their patches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

CONTENT_LIMIT_BYTES = 512 * 1024
"""Largest content of one memory, in UTF-8 bytes, inclusive."""

PATH_LIMIT_CHARACTERS = 1024
DEFAULT_PATH = "inbox"
DEFAULT_STATE_KEY = "active_task"
MAX_TTL_SECONDS = 2_592_000


class MemoryType(StrEnum):
    """The five types of the XMemo contract."""

    SEMANTIC = "semantic"
    EPISODIC = "episodic"
    PROCEDURAL = "procedural"
    WORKING = "working"
    IDENTITY = "identity"


class Status(StrEnum):
    """Life of a record. `DELETED` is a soft delete and can be restored."""

    ACTIVE = "active"
    ARCHIVED = "archived"
    DELETED = "deleted"


class Kind(StrEnum):
    """What a record is. All kinds but `SNAPSHOT` can be searched."""

    MEMORY = "memory"
    STATE = "state"
    EVENT = "event"
    REMINDER = "reminder"
    DECISION = "decision"
    SNAPSHOT = "snapshot"


class ForgetMode(StrEnum):
    """`SOFT` keeps the row for `restore`; `HARD` removes it; `REDACT` replaces the text for good."""

    SOFT = "soft_delete"
    HARD = "hard_delete"
    REDACT = "redact"


class WriteStatus(StrEnum):
    """What a write did."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One stored record. Times are aware and in UTC; `importance` and `confidence` lie in 0..1.

    `confidence` is the writer's own belief in the statement. It has nothing to do with the
    retrieval confidence of a `Hit`.
    """

    id: str
    space_id: str
    content: str
    path: str
    memory_type: MemoryType
    kind: Kind
    status: Status
    bucket: str
    scope: str | None
    team_id: str | None
    importance: float | None
    confidence: float | None
    semantic_key: str | None
    state_key: str | None
    source: str | None
    source_id: str | None
    agent_id: str | None
    agent_instance_hash: str | None
    item_status: str | None
    due_at: datetime | None
    event_time: datetime | None
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None
    version: int
    access_count: int
    last_accessed_at: datetime | None
    metadata: Mapping[str, Any]
    provenance: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMemory:
    """A record to be written. `None` means: let the engine decide.

    `space` is a space id or name; `None` is the caller's default space. `id` lets an import keep
    an id of its own; it must be a UUID.
    """

    content: str
    path: str = DEFAULT_PATH
    space: str | None = None
    id: str | None = None
    memory_type: MemoryType | None = None
    kind: Kind = Kind.MEMORY
    bucket: str = "work"
    scope: str | None = None
    team_id: str | None = None
    importance: float | None = None
    confidence: float | None = None
    semantic_key: str | None = None
    state_key: str | None = None
    source: str | None = None
    source_id: str | None = None
    item_status: str | None = None
    due_at: datetime | None = None
    event_time: datetime | None = None
    created_at: datetime | None = None
    expires_at: datetime | None = None
    dedupe: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPatch:
    """Changes to a record; `None` leaves a field as it is.

    `expires_at` needs a way to be cleared, so `clear_expiry` stands beside it. With
    `merge_metadata` / `merge_provenance` the given keys are added to the stored ones instead of
    replacing them all. `expected_version` makes the update conditional (`Conflict` if it moved).
    """

    content: str | None = None
    path: str | None = None
    bucket: str | None = None
    scope: str | None = None
    memory_type: MemoryType | None = None
    status: Status | None = None
    importance: float | None = None
    confidence: float | None = None
    semantic_key: str | None = None
    item_status: str | None = None
    due_at: datetime | None = None
    event_time: datetime | None = None
    expires_at: datetime | None = None
    clear_expiry: bool = False
    metadata: Mapping[str, Any] | None = None
    merge_metadata: bool = False
    provenance: Mapping[str, Any] | None = None
    merge_provenance: bool = False
    expected_version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryVersion:
    """A former state of a record, newest first in lists."""

    memory_id: str
    version: int
    content: str
    path: str
    memory_type: MemoryType
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class Written:
    """Answer of a write: the record as it now is, and what happened to it."""

    memory: Memory
    status: WriteStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class StateUpdate:
    """One write to a slot. `ttl_seconds` 0 or `None` means: no end."""

    state_key: str = DEFAULT_STATE_KEY
    content: str | None = None
    current_task: str | None = None
    next_action: str | None = None
    blocked_reason: str | None = None
    ttl_seconds: int | None = None
    space: str | None = None
    bucket: str = "work"
    scope: str | None = None
    team_id: str | None = None
    path: str | None = None
    source: str | None = None
    metadata: Mapping[str, Any] | None = None
