"""Between a `Memory` and its row."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row

from engine.domain.memory import Kind, Memory, MemoryType, Status
from engine.store.columns import digest
from engine.text.folding import clean, path_key

_SAME_IN_BOTH = (
    "id",
    "space_id",
    "content",
    "path",
    "bucket",
    "scope",
    "team_id",
    "importance",
    "confidence",
    "semantic_key",
    "state_key",
    "source",
    "source_id",
    "agent_id",
    "agent_instance_hash",
    "item_status",
    "due_at",
    "event_time",
    "created_at",
    "updated_at",
    "expires_at",
    "version",
    "access_count",
    "last_accessed_at",
)


def slot(bucket: str, scope: str | None, key: str) -> str:
    """The stored digest under which a semantic key or a state key is found."""
    return digest(bucket, scope, key)


def content_digest(content: str) -> str:
    """The stored digest of a content, equal for contents that differ in their normal form only."""
    return digest(clean(content))


def values_of(memory: Memory) -> dict[str, Any]:
    """The row of a record, by column name."""
    values: dict[str, Any] = {name: getattr(memory, name) for name in _SAME_IN_BOTH}
    values.update(
        memory_type=memory.memory_type.value,
        kind=memory.kind.value,
        status=memory.status.value,
        path_key=path_key(memory.path),
        content_digest=content_digest(memory.content),
        semantic_slot=slot(memory.bucket, memory.scope, memory.semantic_key) if memory.semantic_key else None,
        state_slot=slot(memory.bucket, memory.scope, memory.state_key) if memory.state_key else None,
        metadata=dict(memory.metadata),
        provenance=dict(memory.provenance),
    )
    return values


def memory_of(row: Row[Any]) -> Memory:
    """The record in a row that holds all columns of `memories`."""
    return Memory(
        memory_type=MemoryType(row.memory_type),
        kind=Kind(row.kind),
        status=Status(row.status),
        metadata=row.metadata,
        provenance=row.provenance,
        **{name: getattr(row, name) for name in _SAME_IN_BOTH},
    )
