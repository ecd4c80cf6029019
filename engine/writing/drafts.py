"""From a draft to a record: checks, defaults and the automatic type.

Everything that the caller may get wrong is refused here, with the field's name, before anything
is embedded or written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from engine.domain.access import Principal, Space
from engine.domain.memory import (
    CONTENT_LIMIT_BYTES,
    DEFAULT_PATH,
    PATH_LIMIT_CHARACTERS,
    Kind,
    Memory,
    MemoryType,
    NewMemory,
    Status,
)
from engine.errors import ContentTooLarge, InvalidRequest
from engine.store.ids import new_id, parse_id
from engine.text.folding import clean

KEY_LIMIT_CHARACTERS = 512

_PROCEDURE = re.compile(r"\b(?:how to|steps?:|first,|then,|run `|always|never|must|should)\b", re.IGNORECASE)
_EPISODE = re.compile(
    r"\b(?:yesterday|today|tonight|last (?:week|night|month|year)|this (?:morning|week)|ago)\b|\b\d{4}-\d{2}-\d{2}\b",
    re.IGNORECASE,
)
_IDENTITY = re.compile(r"^(?:i am|i'm|my name is|the user(?:'s name)? is|call me)\b", re.IGNORECASE)


def check_content(content: str) -> str:
    """The content as it will be stored: as sent. Blank or oversized content is refused."""
    if not clean(content).strip():
        raise InvalidRequest("content is blank; a memory needs text", field="content")
    if "\x00" in content:
        raise InvalidRequest("content holds a NUL character", field="content")
    try:
        size = len(content.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise InvalidRequest("content is not valid Unicode (a lone surrogate)", field="content") from error
    if size > CONTENT_LIMIT_BYTES:
        raise ContentTooLarge(
            f"content has {size} bytes, the limit is {CONTENT_LIMIT_BYTES}; split it into several memories",
            field="content",
        )
    return content


def check_path(path: str) -> str:
    """The path as the user wrote it, outer spaces dropped; blank becomes `inbox`."""
    path = path.strip()
    if not path.strip("/ "):
        return DEFAULT_PATH
    if len(path) > PATH_LIMIT_CHARACTERS:
        raise InvalidRequest(f"path is longer than {PATH_LIMIT_CHARACTERS} characters", field="path")
    if any(ord(character) < 32 for character in path):
        raise InvalidRequest("path holds control characters", field="path")
    return path


def check_key(key: str | None, field: str) -> str | None:
    """A key without outer spaces; blank is none."""
    if key is None or not key.strip():
        return None
    if len(key) > KEY_LIMIT_CHARACTERS:
        raise InvalidRequest(f"{field} is longer than {KEY_LIMIT_CHARACTERS} characters", field=field)
    return key.strip()


def check_share(value: float | None, field: str) -> float | None:
    """A number in 0..1 or `None`."""
    if value is not None and not 0.0 <= value <= 1.0:
        raise InvalidRequest(f"{field} must lie between 0 and 1", field=field)
    return value


def check_time(value: datetime | None, field: str) -> datetime | None:
    """An aware time in UTC or `None`; a naive one is refused rather than guessed."""
    if value is None:
        return None
    if value.tzinfo is None:
        raise InvalidRequest(f"{field} needs a UTC offset, such as Z or +09:00", field=field)
    return value.astimezone(UTC)


def check_json(value: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    """A mapping with text keys; what cannot be written as JSON is refused by the store's encoder."""
    if not all(isinstance(key, str) for key in value):
        raise InvalidRequest(f"{field} must be an object with text keys", field=field)
    return value


def classify(content: str) -> MemoryType:
    """The automatic type by stated rules: identity, procedure, episode, else semantic."""
    if _IDENTITY.search(content):
        return MemoryType.IDENTITY
    if _PROCEDURE.search(content):
        return MemoryType.PROCEDURAL
    if _EPISODE.search(content):
        return MemoryType.EPISODIC
    return MemoryType.SEMANTIC


def build(new: NewMemory, space: Space, principal: Principal, now: datetime) -> Memory:
    """The record that a draft asks for.

    Raises:
        InvalidRequest: a field is blank, too long, out of range or naive.
        ContentTooLarge: content above 512 KiB.
    """
    content = check_content(new.content)
    expires_at = check_time(new.expires_at, "expires_at")
    created_at = check_time(new.created_at, "created_at") or now
    return Memory(
        id=parse_id(new.id) if new.id else new_id(),
        space_id=space.id,
        content=content,
        path=check_path(new.path),
        memory_type=new.memory_type or (MemoryType.WORKING if new.kind is Kind.STATE else classify(content)),
        kind=new.kind,
        status=Status.ACTIVE,
        bucket=new.bucket,
        scope=new.scope,
        team_id=new.team_id or space.team_id,
        importance=check_share(new.importance, "importance"),
        confidence=check_share(new.confidence, "confidence"),
        semantic_key=check_key(new.semantic_key, "semantic_key"),
        state_key=check_key(new.state_key, "state_key"),
        source=check_key(new.source, "source"),
        source_id=check_key(new.source_id, "source_id"),
        agent_id=principal.agent_id,
        agent_instance_hash=principal.agent_instance_hash,
        item_status=new.item_status,
        due_at=check_time(new.due_at, "due_at"),
        event_time=check_time(new.event_time, "event_time"),
        created_at=created_at,
        updated_at=max(now, created_at),
        expires_at=expires_at,
        version=1,
        access_count=0,
        last_accessed_at=None,
        metadata=check_json(new.metadata, "metadata"),
        provenance=check_json(new.provenance, "provenance"),
    )
