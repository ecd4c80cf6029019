"""What is ingested: sources and conversations, the jobs that turn them into memories, and what they name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

SOURCE_LIMIT_CHARACTERS = 100_000
"""Longest content of one source or message, inclusive."""

SOURCES_LIMIT = 100
MESSAGES_LIMIT = 500


class ContentType(StrEnum):
    """The forms of text that ingest reads."""

    TEXT = "text"
    MARKDOWN = "markdown"
    CONVERSATION = "conversation"
    HTML = "html"
    JSON = "json"


class SourceStatus(StrEnum):
    """Where a source stands on its way to memories."""

    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"


class JobStatus(StrEnum):
    """Where a job stands. `PARTIAL`: some of its sources failed. The last four are final."""

    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    PARTIAL = "partial"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Nature(StrEnum):
    """What kind of statement an ingested memory is."""

    SEMANTIC = "semantic"
    EPISODE = "episode"
    VIEWPOINT = "viewpoint"


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation. `position` counts from 0 in the request that brought it.

    A message that is not `fresh` was ingested before; it only gives context.
    """

    role: str
    content: str
    position: int
    fresh: bool = True

    @property
    def line(self) -> str:
        """The message as one line of a conversation's text."""
        return f"{self.role}: {self.content}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSource:
    """A text to be ingested."""

    content: str
    content_type: ContentType = ContentType.TEXT
    role: str | None = None
    visibility: str = "private"
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewConversation:
    """A conversation to be ingested; `session_date` is when it took place."""

    messages: tuple[Message, ...]
    session_id: str | None = None
    session_date: datetime | None = None
    visibility: str = "private"
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A stored source. `number` is its internal integer key; `messages` is set for conversations."""

    number: int
    id: str
    space_id: str
    tenant_id: str
    user_id: str
    job_id: str
    content: str
    content_type: ContentType
    role: str | None
    visibility: str
    session_id: str | None
    event_time: datetime | None
    messages: tuple[Message, ...]
    meta: Mapping[str, Any]
    fingerprint: str
    status: SourceStatus
    error: str | None
    token_count: int
    memory_count: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The work on the sources of one request; its counts only ever grow."""

    id: str
    space_id: str
    tenant_id: str
    user_id: str
    status: JobStatus
    stage: str | None
    attempts: int
    memory_count: int
    entity_count: int
    edge_count: int
    tokens_used: int
    error: str | None
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class JobReport:
    """A job with its sources, in the order in which they were sent."""

    job: Job
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Accepted:
    """The answer of an ingest: the job to ask for and the sources, in the order sent."""

    job_id: str
    source_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mention:
    """Something that a memory names. `key` is the folded name, equal for equal things of a space."""

    key: str
    name: str
    entity_type: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """Something that live memories of a space name; `edge_count` says how many."""

    id: str
    space_id: str
    name: str
    entity_type: str | None
    edge_count: int
    created_at: datetime
    updated_at: datetime
