"""Sources, conversations and their jobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from fastapi import Query, Request, Response
from pydantic import Field

from api.crosmos.items import job_item, source_item
from api.crosmos.wire import Paged, ScopedQuery, Uuid, check_space, crosmos_router, one_of, uuid_text
from api.deps import Deleter, HostDep, Reader, Writer
from api.xmemo.responses import Json
from api.xmemo.wire import JsonObject, Moment, WireModel
from engine.domain.source import (
    MESSAGES_LIMIT,
    SOURCE_LIMIT_CHARACTERS,
    SOURCES_LIMIT,
    Accepted,
    ContentType,
    Message,
    NewConversation,
    NewSource,
    SourceStatus,
)
from engine.errors import InvalidRequest

router = crosmos_router("sources")

VISIBILITIES = ("private", "org")
_NEVER_READ = ("pdf", "image", "audio", "video")
_Content = Annotated[str, Field(min_length=1, max_length=SOURCE_LIMIT_CHARACTERS)]
_Role = Annotated[str, Field(min_length=1, max_length=50)]


class SourceBody(WireModel):
    """A text; `sequence` orders the texts of one request."""

    content: _Content
    content_type: str = ContentType.TEXT.value
    role: _Role | None = None
    visibility: str = VISIBILITIES[0]
    meta: JsonObject | None = None
    sequence: int = 0

    def new(self) -> NewSource:
        check_content(self.content)
        return NewSource(
            content=self.content,
            content_type=_content_type(self.content_type),
            role=self.role,
            visibility=one_of(self.visibility, VISIBILITIES, "visibility") or VISIBILITIES[0],
            meta=self.meta or {},
        )


class SourcesBody(WireModel):
    """Texts for one space."""

    space_id: Uuid
    sources: Annotated[list[SourceBody], Field(min_length=1, max_length=SOURCES_LIMIT)]
    ALIASES: ClassVar[Mapping[str, str]] = {"space_uuid": "space_id"}


class MessageBody(WireModel):
    """One turn."""

    role: _Role
    content: _Content


class ConversationBody(WireModel):
    """A conversation for one space; `segment_size` and `lookback` are accepted and not used."""

    space_id: Uuid
    messages: Annotated[list[MessageBody], Field(min_length=1, max_length=MESSAGES_LIMIT)]
    session_id: Annotated[str, Field(min_length=1, max_length=255)] | None = None
    session_date: Moment | None = None
    visibility: str = VISIBILITIES[0]
    meta: JsonObject | None = None
    segment_size: int | None = None
    lookback: int | None = None
    ALIASES: ClassVar[Mapping[str, str]] = {"space_uuid": "space_id"}


class SourcesParams(Paged):
    """A page of sources."""

    limit: Annotated[int, Field(ge=1, le=500)] = 100
    content_type: str | None = None
    extraction_status: str | None = None


class VisibilityBody(WireModel):
    """Whom a source is for."""

    visibility: str


@router.post("/sources", status_code=202, summary="Take texts in")
async def ingest_sources(request: Request, host: HostDep, caller: Writer, body: SourcesBody) -> Json:
    """Answers at once; the job makes memories of them. A text that was just sent is not stored twice."""
    check_space(request, caller, body.space_id)
    new = [source.new() for source in sorted(body.sources, key=lambda source: source.sequence)]
    accepted = await host.call(host.engine.ingest.take_sources, caller, body.space_id, new)
    return Json(_accepted(accepted), 202)


@router.post("/conversations", status_code=202, summary="Take a conversation in")
async def ingest_conversation(request: Request, host: HostDep, caller: Writer, body: ConversationBody) -> Json:
    """Of a session that is sent again only the new messages are stored."""
    check_space(request, caller, body.space_id)
    messages = tuple(
        Message(message.role, check_content(message.content), position)
        for position, message in enumerate(body.messages)
    )
    new = NewConversation(
        messages=messages,
        session_id=body.session_id,
        session_date=body.session_date,
        visibility=one_of(body.visibility, VISIBILITIES, "visibility") or VISIBILITIES[0],
        meta=body.meta or {},
    )
    accepted = await host.call(host.engine.ingest.take_conversation, caller, body.space_id, new)
    return Json({**_accepted(accepted), "source_id": accepted.source_ids[0]}, 202)


@router.get("/sources", summary="List sources, newest first")
async def list_sources(
    request: Request, host: HostDep, caller: Reader, params: Annotated[SourcesParams, Query()]
) -> Json:
    """Without a space those of all spaces of the caller."""
    check_space(request, caller, params.space)
    found, total = await host.call(
        host.engine.ingest.sources,
        caller,
        params.space,
        content_type=params.content_type,
        status=one_of(params.extraction_status, tuple(SourceStatus), "extraction_status"),
        limit=params.limit,
        offset=params.offset,
    )
    items = [source_item(source, whole=False) for source in found]
    return Json({"sources": items, "count": len(items), "total": total})


@router.get("/sources/{source_uuid}", summary="One source with its text")
async def get_source(request: Request, host: HostDep, caller: Reader, source_uuid: str, scoped: ScopedQuery) -> Json:
    """404 alike for a missing and a foreign one."""
    check_space(request, caller, scoped.space)
    found = await host.call(host.engine.ingest.source, caller, uuid_text(source_uuid), scoped.space)
    return Json(source_item(found, whole=True))


@router.delete("/sources/{source_uuid}", status_code=204, summary="Delete a source and its memories")
async def delete_source(
    request: Request, host: HostDep, caller: Deleter, source_uuid: str, scoped: ScopedQuery
) -> Response:
    """For good, everywhere."""
    check_space(request, caller, scoped.space)
    await host.call(host.engine.ingest.delete_source, caller, uuid_text(source_uuid), scoped.space)
    return Response(status_code=204)


@router.patch("/sources/{source_uuid}/visibility", summary="Say whom a source is for")
async def set_visibility(
    request: Request, host: HostDep, caller: Writer, source_uuid: str, scoped: ScopedQuery, body: VisibilityBody
) -> Json:
    """A note only: who may read is decided by the space."""
    check_space(request, caller, scoped.space)
    wanted = one_of(body.visibility, VISIBILITIES, "visibility") or VISIBILITIES[0]
    found = await host.call(host.engine.ingest.set_visibility, caller, uuid_text(source_uuid), wanted, scoped.space)
    counts = {"memories_updated": found.memory_count, "edges_updated": 0}
    return Json({"id": found.id, "visibility": found.visibility, **counts})


@router.get("/jobs/{job_id}", summary="Where a job stands")
async def get_job(host: HostDep, caller: Reader, job_id: str) -> Json:
    """Only for the user who asked for it."""
    return Json(job_item(await host.call(host.engine.ingest.job, caller, uuid_text(job_id))))


def check_content(content: str) -> str:
    """Text that the store can keep."""
    if "\x00" in content or any("\ud800" <= character <= "\udfff" for character in content):
        raise InvalidRequest("content holds a NUL or half of a surrogate pair", field="content")
    return content


def _content_type(value: str) -> ContentType:
    if value in _NEVER_READ:
        raise InvalidRequest(f"content of type {value} is not read here", field="content_type")
    one_of(value, tuple(ContentType), "content_type")
    return ContentType(value)


def _accepted(accepted: Accepted) -> dict[str, Any]:
    ids = list(accepted.source_ids)
    return {
        "job_id": accepted.job_id,
        "status": "pending",
        "source_ids": ids,
        "jobs": [{"job_id": accepted.job_id, "source_ids": ids}],
    }
