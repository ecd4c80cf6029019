"""The requests of the core endpoints: memories, search, recall, state. One class per body or query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, ClassVar, Literal, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from api.xmemo.wire import JsonObject, Moment, ReadModel, Temporal, WireModel, WriteModel
from engine.domain.memory import (
    DEFAULT_PATH,
    DEFAULT_STATE_KEY,
    MAX_TTL_SECONDS,
    ForgetMode,
    MemoryType,
    Status,
)
from engine.domain.query import MATCH_ALL, MAX_LIMIT, Filters, Mode, TimeAxis, TimeOrder, TimeWindow
from engine.errors import InvalidRequest

SEARCH_LIMIT = 10
LIST_LIMIT = 100
MAX_LIST_LIMIT = 500
MAX_ITEMS = 8
MAX_TOKENS = 2000
SPLIT_AXIS = "split_filter_created_order_updated"


def _name_type(value: object) -> object:
    return None if isinstance(value, str) and value.casefold() == "auto" else value


def _known_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise PydanticCustomError("timezone", "must be an IANA time zone such as Europe/Berlin") from error
    return name


Share = Annotated[float, Field(ge=0.0, le=1.0)]
Label = Annotated[str, StringConstraints(max_length=255)]
WrittenType = Annotated[MemoryType | None, BeforeValidator(_name_type)]
"""A memory type to store; `auto` leaves it to the engine."""

StatusName = Literal["active", "archived", "deleted", "%"]
ITEM_TIMES = "The moment `[since, until)` looks at, and the order of the answer."


class Narrowing(WireModel):
    """Filters that every read may carry. They only ever narrow what the token may see."""

    space: str | None = Field(None, description="A space by id or name; unset: all that the token may read.")
    spaces: list[str] = Field(default_factory=list, description="Several spaces, by id or name.")
    team_id: str | None = Field(None, description="A team, or one of its spaces; unset: all that the token may read.")
    path: str | None = Field(
        None,
        description="A path with everything below it, or a LIKE pattern with `%`. `path_filter` is the same field.",
        examples=["projects/atlas", "notes/%"],
    )
    bucket: str | None = Field(None, description="Exact; `%` is any.")
    scope: str | None = Field(None, description="Exact; `%` is any.")
    memory_type: str | None = Field(None, description="A type or a LIKE pattern; `%` and `auto` are any.")
    status: StatusName | None = Field(None, description="`active` by default; `%` adds archived records.")
    source: str | None = Field(None, description="Exact.")
    agent_id: str | None = Field(None, description="Exact: the agent that wrote it.")
    agent_instance_id: str | None = Field(None, description="Not available as a filter: 422.")

    ALIASES: ClassVar[Mapping[str, str]] = {"path_filter": "path", "agent": "agent_id"}

    def filters(self) -> Filters:
        """The engine's filters. Raises `InvalidRequest` for one that cannot be applied."""
        if self.agent_instance_id is not None:
            raise InvalidRequest(
                "agent_instance_id cannot be used as a filter; use agent_id", field="agent_instance_id"
            )
        return Filters(
            path_filter=self.path or MATCH_ALL,
            memory_type=self.memory_type or MATCH_ALL,
            bucket=self.bucket,
            scope=self.scope,
            statuses=_statuses(self.status),
            source=self.source,
            agent_id=self.agent_id,
        )


class Timed(Temporal, Narrowing):
    """What searches and context packs share."""

    query: str = Field(description="What to look for; `*` lists everything under the filters, newest first.")
    prefer_working: bool = Field(False, description="Put active working state ahead of other hits.")
    threshold: Share | None = Field(
        None, description="Least confidence, instead of the engine's own. `min_confidence` is the same field."
    )
    time_order: TimeOrder | None = None
    owner_timezone: Annotated[str, AfterValidator(_known_zone)] | None = None
    reference_time: Moment | None = None
    temporal_axis_mode: Literal["created_at", "updated_at", "split_filter_created_order_updated"] | None = None
    query_mode: Literal["topic", "activity_log"] | None = Field(
        None, description="`activity_log`: everything of the window in time order; needs both bounds."
    )

    ALIASES: ClassVar[Mapping[str, str]] = {**Narrowing.ALIASES, "q": "query", "min_confidence": "threshold"}

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        if self.query_mode == "activity_log" and (self.since is None or self.until is None):
            raise PydanticCustomError("activity_log", "query_mode activity_log needs both since and until")
        return self

    @property
    def orders_by_update(self) -> bool:
        """Whether records are filtered by one time and ordered by another."""
        return self.temporal_axis_mode == SPLIT_AXIS

    @property
    def is_feed(self) -> bool:
        """Whether all records of the window are asked for, not those that match."""
        return self.query_mode == "activity_log"

    def filters(self) -> Filters:
        axis = TimeAxis.UPDATED if self.temporal_axis_mode == "updated_at" else TimeAxis.CREATED
        return replace(super().filters(), window=TimeWindow(self.since, self.until, axis))


class SearchParams(Timed):
    """`GET /memories/search`."""

    limit: int = Field(SEARCH_LIMIT, ge=1, description=f"At most {MAX_LIMIT} are returned.")
    mode: Mode = Field(Mode.STRICT, description="`strict` answers only what it can vouch for.")
    explain: bool = Field(False, description="Add the reasons; the ranking stays as it is.")


class RecallParams(Timed):
    """`GET /recall`: forgiving unless told otherwise."""

    limit: int = Field(SEARCH_LIMIT, ge=1, description=f"At most {MAX_LIMIT} are returned.")
    mode: Mode = Mode.FORGIVING
    explain: bool = False


class ContextBody(Timed):
    """`POST /recall/context`."""

    limit: int | None = Field(None, ge=1, description="The same as `max_items`, which counts if both are sent.")
    max_items: int | None = Field(None, ge=1, le=1000, description=f"Default {MAX_ITEMS}.")
    max_tokens: int = Field(MAX_TOKENS, ge=0, le=100_000)
    prefer_working: bool = True
    include_knowledge: bool | None = Field(None, description="Accepted; there are no knowledge bases here.")
    hypothetical_answer: Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)] | None = None
    explain: bool = False


class ListParams(ReadModel, Narrowing):
    """`GET /memories`: a page without ranking, newest first."""

    path_prefix: str | None = Field(None, description="Literal start of the path.")
    limit: int = Field(LIST_LIMIT, ge=1, description=f"At most {MAX_LIST_LIMIT} are returned.")
    offset: int = Field(0, ge=0, le=2**31)

    ALIASES: ClassVar[Mapping[str, str]] = {**Narrowing.ALIASES, "cursor": "offset"}

    def filters(self) -> Filters:
        return replace(super().filters(), path_prefix=self.path_prefix)


class ExplainParams(ReadModel):
    """`GET /memories/{id}/explain`. The temporal fields are known here and without effect."""

    query: str | None = Field(None, description="A question: the answer says how strict search judges the record.")
    include_embedding: bool = False
    bucket: str | None = None
    scope: str | None = None
    team_id: str | None = None
    since: str | None = None
    until: str | None = None
    time_order: str | None = None
    owner_timezone: str | None = None
    reference_time: str | None = None
    temporal_axis_mode: str | None = None
    query_mode: str | None = None


class RememberBody(WriteModel):
    """`POST /remember`."""

    content: str
    path: str = DEFAULT_PATH
    space: str | None = Field(None, description="A space by id or name; unset: the token's default space.")
    bucket: Label = "work"
    scope: Label | None = None
    team_id: str | None = None
    memory_type: WrittenType = None
    semantic_key: Label | None = Field(None, description="Names a concept: new content becomes its next version.")
    importance: Share | None = None
    confidence: Share | None = Field(None, description="How sure the writer is; not a search confidence.")
    expires_at: Moment | None = None
    event_time: Moment | None = None
    source: Label | None = None
    metadata: JsonObject = Field(default_factory=dict)
    provenance: JsonObject = Field(default_factory=dict)
    dedupe: bool = False
    memory_id: str | None = Field(None, description="An id of the caller's own, a UUID.")
    agent_id: Label | None = Field(None, description="Attribution, like the agent header.")
    agent_instance_id: Label | None = None
    device_id: Label | None = None
    device_label: Label | None = None
    idempotency_key: Label | None = None


class PatchBody(WriteModel):
    """`PATCH /memories/{id}`: unset fields stay as they are."""

    content: str | None = None
    path: str | None = None
    bucket: Label | None = None
    scope: Label | None = None
    team_id: str | None = None
    memory_type: WrittenType = None
    status: Status | None = None
    semantic_key: Label | None = None
    importance: Share | None = None
    confidence: Share | None = None
    expires_at: Moment | None = None
    metadata: JsonObject | None = None
    merge_metadata: bool = False
    provenance: JsonObject | None = None
    merge_provenance: bool = False
    detect_conflicts: bool = Field(False, description="Report records that say much the same; never blocks.")
    expected_version: int | None = Field(None, ge=1, description="409 if the record has moved on.")
    idempotency_key: Label | None = None


class ForgetBody(WriteModel):
    """`POST /memories/{id}/forget`."""

    mode: ForgetMode = ForgetMode.SOFT
    reason: str | None = None
    replacement_content: str | None = None
    bucket: str | None = None
    scope: str | None = None
    metadata: JsonObject | None = None
    idempotency_key: Label | None = None


class RestoreBody(WriteModel):
    """`POST /memories/{id}/restore`."""

    reason: str | None = None
    metadata: JsonObject | None = None
    idempotency_key: Label | None = None


class StateBody(WriteModel):
    """`POST /update_state`."""

    state_key: Annotated[str, StringConstraints(max_length=128)] = DEFAULT_STATE_KEY
    content: str | None = None
    current_task: str | None = None
    next_action: str | None = None
    blocked_reason: str | None = None
    space: str | None = None
    bucket: Label = "work"
    scope: Label | None = None
    team_id: str | None = None
    source: Label | None = None
    path: str | None = None
    metadata: JsonObject | None = None
    ttl_seconds: int | None = Field(None, ge=0, le=MAX_TTL_SECONDS, description="0 and unset: no end.")
    session_id: Label | None = None
    idempotency_key: Label | None = None

    ALIASES: ClassVar[Mapping[str, str]] = {"key": "state_key"}


def _statuses(status: str | None) -> frozenset[Status]:
    if status is None:
        return frozenset({Status.ACTIVE})
    return frozenset({Status.ACTIVE, Status.ARCHIVED}) if status == MATCH_ALL else frozenset({Status(status)})
