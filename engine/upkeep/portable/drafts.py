"""What reading a portable file yields: drafts of memories, and what was skipped and why."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from typing import TypeAlias

from engine.domain.memory import CONTENT_LIMIT_BYTES, PATH_LIMIT_CHARACTERS, MemoryType, NewMemory


class SkipReason(StrEnum):
    """Why a part of the source did not become a memory."""

    BAD_JSON = "bad_json"
    NOT_TEXT = "not_text"
    BAD_FIELD = "bad_field"
    EMPTY = "empty"
    TOO_LONG = "too_long"
    DUPLICATE = "duplicate"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportDefaults:
    """What an import gives to memories that do not say it themselves.

    `path` `None` lets the form decide: `inbox` for records, `conversations/<name>` for turns, the
    folder's own name for Markdown.
    """

    path: str | None = None
    bucket: str | None = None
    scope: str | None = None
    source: str | None = None
    memory_type: MemoryType | None = None
    dedupe: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """One memory as read. `memory.space` is the space that the source names, else `None`.

    `identity` seeds a deterministic id for a memory that brings none, and `fingerprint` covers
    everything that was read, so the same thing read twice has the same of both whatever its file
    is called. `archived` asks for the status that a new memory cannot have. `notes` tell what was
    kept in another form than given. `offset` counts the source's bytes up to and with this item.
    """

    position: str
    memory: NewMemory
    identity: str
    fingerprint: str
    offset: int
    archived: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A part of the source that did not become a memory; `detail` is one sentence for a person."""

    position: str
    reason: SkipReason
    detail: str
    offset: int


Item: TypeAlias = Draft | Skipped


class Refusal(Exception):
    """Ends the reading of one item; the reader turns it into `Skipped`."""

    def __init__(self, reason: SkipReason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


def digest(parts: Iterable[object]) -> str:
    """32 hex digits over JSON-encodable parts; equal for equal parts, whatever the process."""
    text = json.dumps(list(parts), sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=str)
    return blake2b(text.encode("ascii"), digest_size=16).hexdigest()


def checked_content(content: str) -> str:
    """The content if it can be stored. Raises `Refusal` for empty, oversized or undecodable text."""
    if not content.strip():
        raise Refusal(SkipReason.EMPTY, "there is no text in it")
    if "\x00" in content:
        raise Refusal(SkipReason.NOT_TEXT, "the text holds a NUL character")
    try:
        size = len(content.encode("utf-8"))
    except UnicodeEncodeError:
        raise Refusal(SkipReason.NOT_TEXT, "the text holds half of a surrogate pair") from None
    if size > CONTENT_LIMIT_BYTES:
        raise Refusal(
            SkipReason.TOO_LONG, f"the text has {size:,} bytes, more than the {CONTENT_LIMIT_BYTES:,} a memory may have"
        )
    return content


def checked_path(path: str) -> str:
    """The path if it can be stored. Raises `Refusal` when it is too long."""
    if len(path) > PATH_LIMIT_CHARACTERS:
        raise Refusal(
            SkipReason.BAD_FIELD, f"the path has {len(path):,} characters, more than {PATH_LIMIT_CHARACTERS:,}"
        )
    return path
