"""A JSON object that is one turn of a conversation.

    role                          who speaks: user, assistant, ...
    content | text                a text, or a list of parts whose texts are joined
    name | speaker                the speaker's name; put before the text ("Mira: ...")
    time | timestamp | event_time | created_at | date
    session | session_id | sessionId | conversation_id | conversation
    id | uuid                     a UUID is kept as the id; another id becomes the source id
    path                          instead of `conversations/<name>`
    space | space_id

Members with any other name are kept in the metadata.

Transcripts that wrap the turn (`{"message": {"role": ..., "content": ...}, "timestamp": ...}`) are
unwrapped. A turn becomes an episodic memory at `conversations/<name>/<session>`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from engine.domain.memory import MemoryType, NewMemory
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
from engine.upkeep.portable.records import split_id


def is_turn(members: Mapping[str, Any]) -> bool:
    """Whether an object is a turn rather than a memory: only turns have a role."""
    inner = members.get("message")
    return isinstance(members.get("role"), str) or (isinstance(inner, dict) and isinstance(inner.get("role"), str))


def read_turn(members: Mapping[str, Any], defaults: ImportDefaults, name: str, position: str, offset: int) -> Draft:
    """One turn of the conversation called `name`. Raises `Refusal` when it cannot become a memory."""
    fields = Fields(_unwrapped(members))
    role = fields.text("role")
    speaker = fields.text("name", "speaker")
    text = _text_of(fields.content("content", "text"), fields)
    session = fields.required_text("session", "session_id", "sessionId", "conversation_id", "conversation")
    own_id, foreign_id = split_id(fields.identifier("id", "uuid"))
    space = fields.required_text("space", "space_id")
    content = checked_content(text)
    base = fields.required_text("path") or defaults.path or f"conversations/{name}"
    new = NewMemory(
        content=checked_content(f"{speaker}: {content}") if speaker else content,
        path=checked_path(f"{base}/{session.replace('/', '-')}" if session else base),
        space=space,
        id=own_id,
        memory_type=defaults.memory_type or MemoryType.EPISODIC,
        bucket=defaults.bucket or "work",
        scope=defaults.scope,
        source=defaults.source or "conversation",
        source_id=foreign_id or session,
        event_time=fields.time("time", "timestamp", "event_time", "created_at", "date"),
        dedupe=defaults.dedupe,
    )
    spoken = {key: value for key, value in (("role", role), ("speaker", speaker)) if value}
    new = replace(new, metadata={**fields.leftovers(), **spoken})
    fingerprint = digest((asdict(new),))
    return Draft(
        position=position,
        memory=new,
        identity=f"turn:{new.path}:{foreign_id}" if foreign_id else fingerprint,
        fingerprint=fingerprint,
        offset=offset,
        notes=tuple(fields.notes),
    )


def _unwrapped(members: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = members.get("message")
    if "role" in members or not isinstance(inner, dict):
        return members
    return {**{key: value for key, value in members.items() if key != "message"}, **inner}


def _text_of(content: object, fields: Fields) -> str:
    """The text of a turn; parts without text (images, tool calls) are left out with a note."""
    match content:
        case None:
            raise Refusal(SkipReason.BAD_FIELD, 'there is no "content" (or "text")')
        case str():
            return content
        case list():
            texts = [text for part in content if (text := _part_text(part)) is not None]
            if len(texts) < len(content):
                fields.notes.append(f"{len(content) - len(texts)} part(s) without text were left out")
            return "\n".join(texts)
        case _:
            raise Refusal(SkipReason.BAD_FIELD, '"content" has to be a text or a list of parts')


def _part_text(part: object) -> str | None:
    if isinstance(part, str):
        return part
    if isinstance(part, dict) and isinstance(part.get("text"), str):
        return str(part["text"])
    return None
