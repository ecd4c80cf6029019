"""Records by themselves: remember, list, get, explain, change, forget, restore."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import Query as QueryParams

from api.deps import Deleter, HeaderKey, Host, HostDep, Reader, Restorer, Writer, one_key
from api.xmemo import places
from api.xmemo.items import considered, memory_item, written_body
from api.xmemo.models import (
    MAX_LIST_LIMIT,
    ExplainParams,
    ForgetBody,
    ListParams,
    PatchBody,
    RememberBody,
    RestoreBody,
)
from api.xmemo.responses import Json, MemoryId, example, xmemo_router
from engine.domain.access import Principal, Scope
from engine.domain.memory import ForgetMode, Memory, MemoryPatch, NewMemory, Status
from engine.domain.outcome import Explanation, Matches
from engine.domain.query import MATCH_ALL, Filters, ListQuery, Query
from engine.errors import Conflict, Forbidden, InvalidRequest, NotFound

router = xmemo_router("memories")

NOT_FOUND = "Memory not found"
_CONFLICT_QUERY_CHARACTERS = 1000
_ID = "0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4b"
_MEMORY = {"id": _ID, "memory_id": _ID, "content": "The release train leaves on Tuesdays.", "path": "team/release"}


@router.post(
    "/remember",
    summary="Store a memory",
    responses=example({**_MEMORY, "status": "created", "version": 1}, "Stored; it can be found from now on."),
)
async def remember(host: HostDep, caller: Writer, body: RememberBody, key: HeaderKey) -> Json:
    """`status` is `created`, `updated` (a new version of that id) or `unchanged`."""
    device = {name: value for name in ("device_id", "device_label") if (value := getattr(body, name)) is not None}
    new = NewMemory(
        content=body.content,
        path=body.path,
        space=await places.writable(host, caller, body.space, body.team_id),
        id=body.memory_id,
        memory_type=body.memory_type,
        bucket=body.bucket,
        scope=body.scope,
        importance=body.importance,
        confidence=body.confidence,
        semantic_key=body.semantic_key,
        source=body.source,
        event_time=body.event_time,
        expires_at=body.expires_at,
        dedupe=body.dedupe,
        metadata=body.metadata,
        provenance={**body.provenance, **device},
    )
    writer = replace(caller, agent_id=body.agent_id) if body.agent_id else caller
    written = await host.call(host.engine.remember, writer, new, idempotency_key=one_key(key, body.idempotency_key))
    return Json(written_body(written))


@router.get(
    "/memories",
    summary="List memories, newest first",
    responses=example({"memories": [_MEMORY], "count": 1, "total": 1, "next_cursor": None}),
)
async def list_memories(host: HostDep, caller: Reader, params: Annotated[ListParams, QueryParams()]) -> Json:
    """A page; `next_cursor` is the next `offset`, or null on the last page."""
    page = await host.call(
        host.engine.list_memories,
        caller,
        ListQuery(
            spaces=await places.readable(host, caller, params.space, params.team_id, params.spaces),
            filters=params.filters(),
            limit=min(params.limit, MAX_LIST_LIMIT),
            offset=params.offset,
        ),
    )
    items = [memory_item(memory) for memory in page.memories]
    return Json({"memories": items, "count": len(items), "total": page.total, "next_cursor": page.next_offset})


@router.get("/memories/{memory_id}", summary="One memory", responses=example(_MEMORY))
async def get_memory(host: HostDep, caller: Reader, memory_id: MemoryId) -> Json:
    """404 alike for a missing, a forgotten and a foreign one."""
    return Json(memory_item(await host.call(host.engine.get, caller, memory_id)))


@router.get(
    "/memories/{memory_id}/explain",
    summary="One memory, and how strict search judges it for a question",
    responses=example({"memory": _MEMORY, "explanation": {"verdict": "returned", "confidence": 0.93}}),
)
async def explain_memory(
    host: HostDep, caller: Reader, memory_id: MemoryId, params: Annotated[ExplainParams, QueryParams()]
) -> Json:
    """Without `query` just the record and its history in numbers."""
    explained = await host.call(host.engine.explain, caller, memory_id, params.query)
    await _must_lie_in(host, caller, explained.memory, params.bucket, params.scope, params.team_id)
    body: dict[str, Any] = {"memory": memory_item(explained.memory), "explanation": explanation_body(explained)}
    if params.include_embedding:
        vectors = await host.call(host.engine.embedder.embed_documents, [explained.memory.content])
        body["embedding"] = [float(number) for number in vectors[0]]
    return Json(body)


@router.patch("/memories/{memory_id}", summary="Change a memory", responses=example({**_MEMORY, "version": 2}))
async def patch_memory(host: HostDep, caller: Writer, memory_id: MemoryId, body: PatchBody, key: HeaderKey) -> Json:
    """Unset fields stay. `status: deleted` forgets softly, `status: active` brings back.

    A token without the scope to read gets the record without what it says.
    """
    if body.team_id is not None:
        await _must_stay(host, caller, memory_id, body.team_id)
    if body.detect_conflicts and not caller.has(Scope.READ):
        # Asked before the change: a refusal after it would be taken for no change.
        raise Forbidden("detect_conflicts needs the scope memory:read")
    memory = await _patched(host, caller, memory_id, body, one_key(key, body.idempotency_key))
    answer = memory_item(memory)
    if body.detect_conflicts:
        answer["conflicts"] = await _conflicts(host, caller, memory)
    return Json(answer)


@router.post(
    "/memories/{memory_id}/forget",
    summary="Forget a memory",
    responses=example({"id": _ID, "memory_id": _ID, "mode": "soft_delete", "status": "deleted"}),
)
async def forget_memory(
    host: HostDep, caller: Deleter, memory_id: MemoryId, key: HeaderKey, body: ForgetBody | None = None
) -> Json:
    """`soft_delete` can be restored, `hard_delete` cannot, `redact` keeps the record without its text."""
    body = body or ForgetBody()
    if body.replacement_content is not None and body.mode is not ForgetMode.REDACT:
        raise InvalidRequest("replacement_content belongs to mode redact", field="replacement_content")
    once = one_key(key, body.idempotency_key)
    same = ("forget", once or "", memory_id, body.mode.value)
    if once and (first := await host.call(host.answers.first, caller, *same)) is not None:
        return Json(first)
    if body.bucket not in (None, MATCH_ALL) or body.scope not in (None, MATCH_ALL):
        memory = await host.call(host.engine.get, caller, memory_id)
        await _must_lie_in(host, caller, memory, body.bucket, body.scope, None)
    left = await host.call(
        host.engine.forget,
        caller,
        memory_id,
        body.mode,
        reason=body.reason,
        replacement=body.replacement_content,
    )
    status = {ForgetMode.SOFT: "deleted", ForgetMode.HARD: "removed", ForgetMode.REDACT: "redacted"}[body.mode]
    forgotten_id = left.id if left is not None else memory_id.strip().lower()
    answer = {"id": forgotten_id, "memory_id": forgotten_id, "mode": body.mode.value, "status": status}
    if once:
        await host.call(host.answers.keep, caller, "forget", once, answer, memory_id, body.mode.value)
    return Json(answer)


@router.post("/memories/{memory_id}/restore", summary="Bring a forgotten memory back", responses=example(_MEMORY))
async def restore_memory(host: HostDep, caller: Restorer, memory_id: MemoryId, body: RestoreBody | None = None) -> Json:
    """Only what was forgotten softly; anything else is 404."""
    return Json(memory_item(await host.call(host.engine.restore, caller, memory_id)))


async def _patched(host: Host, caller: Principal, memory_id: str, body: PatchBody, key: str | None) -> Memory:
    if body.status is Status.ACTIVE:
        await _bring_back(host, caller, memory_id)
    patch = MemoryPatch(
        content=body.content,
        path=body.path,
        bucket=body.bucket,
        scope=body.scope,
        memory_type=body.memory_type,
        status=None if body.status is Status.DELETED else body.status,
        importance=body.importance,
        confidence=body.confidence,
        semantic_key=body.semantic_key,
        expires_at=body.expires_at,
        metadata=body.metadata,
        merge_metadata=body.merge_metadata,
        provenance=body.provenance,
        merge_provenance=body.merge_provenance,
        expected_version=body.expected_version,
    )
    memory = await host.call(host.engine.update, caller, memory_id, patch, idempotency_key=key)
    if body.status is Status.DELETED:
        return await host.call(host.engine.forget, caller, memory_id) or memory
    return memory


async def _bring_back(host: Host, caller: Principal, memory_id: str) -> None:
    """Restore a record that a read does not find; one that a read finds needs nothing."""
    try:
        await host.call(host.engine.get, caller, memory_id)
    except NotFound:
        await host.call(host.engine.restore, caller, memory_id)


async def _must_lie_in(
    host: Host, caller: Principal, memory: Memory, bucket: str | None, scope: str | None, team_id: str | None
) -> None:
    """A record outside of the named bucket, scope or team is not found."""
    if bucket not in (None, MATCH_ALL, memory.bucket) or scope not in (None, MATCH_ALL, memory.scope):
        raise NotFound(NOT_FOUND)
    if team_id is not None:
        spaces = await host.call(host.administration.team_spaces, caller, team_id)
        if memory.space_id not in {each.space.id for each in spaces}:
            raise NotFound(NOT_FOUND)


async def _must_stay(host: Host, caller: Principal, memory_id: str, team_id: str) -> None:
    """A record cannot move to another space: its statistics and rights belong to the one it is in."""
    memory = await host.call(host.engine.get, caller, memory_id)
    spaces = await host.call(host.administration.team_spaces, caller, team_id)
    if memory.space_id not in {each.space.id for each in spaces}:
        raise Conflict("a memory cannot move to another space; store it there and forget this one")


async def _conflicts(host: Host, caller: Principal, memory: Memory) -> list[dict[str, Any]]:
    """Other records of the same bucket and scope that say much the same, surest first."""
    query = Query(
        text=memory.content[:_CONFLICT_QUERY_CHARACTERS],
        spaces=(memory.space_id,),
        filters=Filters(bucket=memory.bucket, scope=memory.scope),
    )
    outcome = await host.call(host.engine.search, caller, query)
    hits = outcome.hits if isinstance(outcome, Matches) else ()
    return [
        {"memory_id": hit.memory.id, "path": hit.memory.path, "confidence": hit.confidence}
        for hit in hits
        if hit.memory.id != memory.id
    ]


def explanation_body(explained: Explanation) -> dict[str, Any]:
    """How often a record changed and, for a question, the verdict on it."""
    body: dict[str, Any] = {"versions": explained.versions, "threshold": explained.threshold}
    if explained.considered is not None:
        body |= considered(explained.considered)
    return body
