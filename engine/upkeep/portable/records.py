"""A JSON object that is a memory.

    content | text          the text; the only member that has to be there
    path                    where it belongs
    memory_type | type      one of the five types; another word is kept in the metadata
    event_time | time | timestamp | date, created_at, due_at, expires_at
    id | memory_id          a UUID is kept as the id; another id becomes the source id
    space | space_id        the space, by name or id
    kind, status, bucket, scope, team_id, importance, confidence, semantic_key, state_key,
    source, source_id, item_status, metadata, provenance

Members with any other name are kept in the metadata.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any
from uuid import UUID

from engine.domain.memory import DEFAULT_PATH, Kind, MemoryType, NewMemory, Status
from engine.upkeep.portable.drafts import (
    Draft,
    ImportDefaults,
    Refusal,
    SkipReason,
    checked_content,
    checked_path,
    digest,
)
from engine.upkeep.portable.fields import Fields

_SET_BY_THE_ENGINE = ("updated_at", "version", "access_count", "last_accessed_at", "agent_instance_hash")


def read_record(members: Mapping[str, Any], defaults: ImportDefaults, position: str, offset: int) -> Draft:
    """One memory from one decoded object. Raises `Refusal` when it cannot become one."""
    fields = Fields(members)
    content = fields.content("content", "text")
    if content is None:
        raise Refusal(SkipReason.BAD_FIELD, 'there is no "content" (or "text")')
    if not isinstance(content, str):
        raise Refusal(SkipReason.BAD_FIELD, '"content" has to be a text')
    status = fields.choice(Status, "status") or Status.ACTIVE
    if status is Status.DELETED:
        raise Refusal(SkipReason.DELETED, "it was deleted where it comes from")
    own_id, foreign_id = split_id(fields.identifier("id", "memory_id"))
    space = fields.required_text("space", "space_id")
    fields.drop("space_id", *_SET_BY_THE_ENGINE)
    memory = _memory(fields, checked_content(content), space, own_id, foreign_id, defaults)
    fingerprint = digest((asdict(memory), status))
    return Draft(
        position=position,
        memory=memory,
        identity=f"id:{foreign_id}" if foreign_id else fingerprint,
        fingerprint=fingerprint,
        offset=offset,
        archived=status is Status.ARCHIVED,
        notes=tuple(fields.notes),
    )


def _memory(
    fields: Fields,
    content: str,
    space: str | None,
    own_id: str | None,
    foreign_id: str | None,
    defaults: ImportDefaults,
) -> NewMemory:
    kind = fields.choice(Kind, "kind") or Kind.MEMORY
    provenance = fields.mapping("provenance")
    agent_id = fields.text("agent_id")
    if agent_id is not None:
        provenance.setdefault("agent_id", agent_id)
    metadata = fields.mapping("metadata")
    new = NewMemory(
        content=content,
        path=checked_path(fields.required_text("path") or defaults.path or DEFAULT_PATH),
        space=space,
        id=own_id,
        memory_type=fields.choice(MemoryType, "memory_type", "type") or defaults.memory_type,
        kind=kind,
        bucket=fields.text("bucket") or defaults.bucket or "work",
        scope=fields.text("scope") or defaults.scope,
        team_id=fields.text("team_id"),
        importance=fields.fraction("importance"),
        confidence=fields.fraction("confidence"),
        semantic_key=fields.text("semantic_key"),
        state_key=fields.text("state_key"),
        source=fields.text("source") or defaults.source,
        source_id=fields.text("source_id") or foreign_id,
        item_status=fields.text("item_status"),
        due_at=fields.time("due_at"),
        event_time=fields.time("event_time", "time", "timestamp", "date"),
        created_at=fields.time("created_at"),
        expires_at=fields.required_time("expires_at"),
        dedupe=defaults.dedupe,
        provenance=provenance,
    )
    return replace(new, metadata={**fields.leftovers(), **metadata})


def split_id(text: str | None) -> tuple[str | None, str | None]:
    """An id as (UUID of ours in canonical form, id of another system); at most one is set."""
    if text is None:
        return None, None
    try:
        return str(UUID(text)), None
    except ValueError:
        return None, text
