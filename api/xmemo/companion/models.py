"""The requests of the companion endpoints. One class per body or query."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from api.xmemo.models import Label, Narrowing, Share, StatusName
from api.xmemo.wire import JsonObject, ReadModel, WriteModel, parse_moment
from engine.companion.decisions import MAX_OPTIONS
from engine.companion.restart import DEFAULT_PARTS, MAX_PARTS
from engine.companion.timeline import DEFAULT_CONFIDENCE, DEFAULT_IMPORTANCE, DEFAULT_TYPE
from engine.domain.memory import DEFAULT_STATE_KEY, MAX_TTL_SECONDS, Status
from engine.domain.query import MATCH_ALL, Filters, TimeAxis, TimeWindow

LIST_LIMIT = 20
MAX_LIST_LIMIT = 500
EXPORT_LIMIT = 500
MAX_EXPORT_LIMIT = 5000
MAX_TOP = 200
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_HAS_OFFSET = re.compile(r"(Z|[+-]\d\d:\d\d)$", re.IGNORECASE)


def parse_loose_moment(value: object) -> datetime:
    """A time in UTC: RFC 3339, or without an offset or as a bare date, which are read as UTC."""
    if isinstance(value, str):
        value = value.strip().replace(" ", "T", 1)
        if _DATE.fullmatch(value):
            value = f"{value}T00:00:00"
        if not _HAS_OFFSET.search(value):
            value = f"{value}Z"
    elif isinstance(value, datetime) and value.tzinfo is None:
        value = value.replace(tzinfo=UTC)
    return parse_moment(value)


LooseMoment = Annotated[datetime, BeforeValidator(parse_loose_moment)]
StateKey = Annotated[str, StringConstraints(max_length=128)]
Seconds = Annotated[int, Field(ge=0, le=MAX_TTL_SECONDS)]
PartLimit = Annotated[int, Field(ge=0, le=MAX_PARTS)]


class Placed(WriteModel):
    """Where a companion record is written."""

    space: str | None = Field(None, description="A space by id or name; unset: the token's default space.")
    team_id: str | None = None
    bucket: Label = "work"
    scope: Label | None = None
    path: str | None = None
    idempotency_key: Label | None = None


class EventBody(Placed):
    """`POST /timeline/events`."""

    content: str
    event_type: Label = DEFAULT_TYPE
    session_id: Label | None = None
    occurred_at: LooseMoment | None = Field(None, description="When it happened; unset: now.")
    importance: Share = DEFAULT_IMPORTANCE
    confidence: Share = DEFAULT_CONFIDENCE
    source: Label | None = None
    metadata: JsonObject = Field(default_factory=dict)


class ReminderBody(Placed):
    """`POST /reminders`."""

    content: str
    due_at: LooseMoment | None = None
    session_id: Label | None = None
    source: Label | None = None
    metadata: JsonObject = Field(default_factory=dict)


class DecisionBody(Placed):
    """`POST /decisions`."""

    context: str
    options: list[str] = Field(default_factory=list, max_length=MAX_OPTIONS)
    due_at: LooseMoment | None = None

    ALIASES: ClassVar[Mapping[str, str]] = {"content": "context"}


class CompleteBody(WriteModel):
    """`POST /reminders/{id}/complete`."""

    note: str | None = None
    bucket: str | None = None
    scope: str | None = None
    idempotency_key: Label | None = None


class ResolveBody(WriteModel):
    """`POST /decisions/{id}/resolve`."""

    resolution: str
    bucket: str | None = None
    scope: str | None = None
    idempotency_key: Label | None = None


class Items(ReadModel):
    """What the lists of companion records share."""

    space: str | None = None
    team_id: str | None = None
    bucket: str | None = None
    scope: str | None = None
    limit: int = Field(LIST_LIMIT, ge=1, description=f"At most {MAX_LIST_LIMIT} are returned.")

    def filters(self) -> Filters:
        return Filters(bucket=self.bucket, scope=self.scope)


class TimelineParams(Items):
    """`GET /timeline`."""

    session_id: str | None = None
    event_type: str | None = None
    since: LooseMoment | None = None
    until: LooseMoment | None = None
    status: StatusName = "active"

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        _check_window(self.since, self.until)
        return self

    def filters(self) -> Filters:
        statuses = {Status.ACTIVE, Status.ARCHIVED} if self.status == MATCH_ALL else {Status(self.status)}
        window = TimeWindow(self.since, self.until, TimeAxis.EVENT)
        return replace(super().filters(), statuses=frozenset(statuses), window=window)


class RemindersParams(Items):
    """`GET /reminders`."""

    item_status: Literal["open", "completed", "%"] = "open"
    due_before: LooseMoment | None = None

    def filters(self) -> Filters:
        return replace(super().filters(), item_status=self.item_status)


class DecisionsParams(Items):
    """`GET /decisions`."""

    item_status: Literal["open", "resolved", "%"] = "open"
    due_before: LooseMoment | None = None

    def filters(self) -> Filters:
        return replace(super().filters(), item_status=self.item_status)


class SnapshotBody(Placed):
    """`POST /restart/snapshot`."""

    label: Label | None = None
    session_id: Label | None = None
    state_key: StateKey = DEFAULT_STATE_KEY
    timeline_limit: PartLimit = DEFAULT_PARTS
    reminder_limit: PartLimit = DEFAULT_PARTS
    decision_limit: PartLimit = DEFAULT_PARTS
    ttl_seconds: Seconds | None = Field(None, description="0 and unset: no end.")
    source: Label | None = None
    metadata: JsonObject = Field(default_factory=dict)

    ALIASES: ClassVar[Mapping[str, str]] = {"key": "state_key"}


class RestoreBody(WriteModel):
    """`POST /restart/restore`."""

    snapshot_id: str | None = None
    source_session_id: str | None = None
    target_session_id: Label | None = None
    state_key: StateKey = DEFAULT_STATE_KEY
    space: str | None = None
    team_id: str | None = None
    bucket: Label = "work"
    scope: Label | None = None
    restore_state: bool = Field(True, description="Write the state into its slot again.")
    record_restore_event: bool = Field(True, description="Note the restore on the timeline.")
    ttl_seconds: Seconds | None = None
    source: Label | None = None
    idempotency_key: Label | None = None

    ALIASES: ClassVar[Mapping[str, str]] = {"key": "state_key"}


class ProjectBody(ReadModel):
    """`POST /projects/{project_id}/context`."""

    team_id: str | None = None
    space: str | None = None
    max_items: int = Field(8, ge=1, le=1000)
    max_tokens: int = Field(2000, ge=1, le=100_000)
    durable_query: str | None = Field(None, description="A lasting question; what answers it fills `durable_context`.")


class UsageBody(WriteModel):
    """`POST /memories/{id}/usage`. Texts in `context` and `metadata` are not kept."""

    action: Annotated[str, StringConstraints(max_length=64)] = "used"
    context: str | JsonObject | None = None
    usage_tracking_id: Label | None = None
    metadata: JsonObject | None = None
    idempotency_key: Label | None = None


class ExportBody(ReadModel):
    """`POST /memories/export`."""

    limit: int = Field(EXPORT_LIMIT, ge=1, description=f"At most {MAX_EXPORT_LIMIT}; a page may hold fewer.")
    cursor: int = Field(0, ge=0, le=2**31)
    bucket: str | None = None
    scope: str | None = None
    space: str | None = None
    team_id: str | None = None


class ImportBody(WriteModel):
    """`POST /memories/import`."""

    jsonl: str = Field(description="One JSON object a line, each with at least `content`.")
    limit: int = Field(EXPORT_LIMIT, ge=1, description=f"Lines to take now; at most {MAX_EXPORT_LIMIT}.")
    cursor: int = Field(0, ge=0, le=2**31, description="Lines to pass over.")
    bucket: Label | None = Field(None, description="For all lines; unset: each line's own, else `private`.")
    scope: Label | None = Field(None, description="For all lines; unset: each line's own.")
    space: str | None = None
    team_id: str | None = None
    dry_run: bool = False
    idempotency_key: Label | None = None


class StatsParams(ReadModel, Narrowing):
    """`GET /memories/stats` and `GET /memories/overview`."""

    since: LooseMoment | None = None
    until: LooseMoment | None = None
    group_by: str | None = Field(
        None, description="A comma list of path, type, status, source, bucket, day, metadata:<key>."
    )
    top_n: int = Field(10, ge=1, le=MAX_TOP)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        _check_window(self.since, self.until)
        return self

    def filters(self) -> Filters:
        return replace(super().filters(), window=TimeWindow(self.since, self.until))

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that were asked for, in order."""
        return tuple(dict.fromkeys(name.strip() for name in (self.group_by or "").split(",") if name.strip()))


class ActivityParams(ReadModel):
    """`GET /memories/activity`."""

    activity_type: Literal["all", "writes", "deletions", "reads", "reminders", "timeline"] = "all"
    since: LooseMoment | None = None
    until: LooseMoment | None = None
    limit: int = Field(LIST_LIMIT, ge=1, le=MAX_LIST_LIMIT)
    include_timeline: bool = True
    team_id: str | None = None
    space: str | None = None

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        _check_window(self.since, self.until)
        return self


def _check_window(since: datetime | None, until: datetime | None) -> None:
    if since is not None and until is not None and until <= since:
        raise PydanticCustomError("window", "until must be later than since")
