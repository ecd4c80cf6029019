"""Memories of the Crosmos surface. Its paths are also XMemo's: `api/collision.py` sends the right ones here."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query, Request, Response
from pydantic import Field

from api.collision import INTERNAL, is_crosmos
from api.crosmos.items import memory_item
from api.crosmos.wire import Paged, Scoped, ScopedQuery, check_space, crosmos_router, one_of, uuid_text
from api.deps import Deleter, Host, HostDep, Reader
from api.errors import ErrorStyle
from api.xmemo.items import memory_item as xmemo_item
from api.xmemo.memories import NOT_FOUND
from api.xmemo.responses import Json
from engine.domain.access import Principal
from engine.domain.memory import Memory
from engine.errors import NotFound

router = crosmos_router("memories")

SORTS = ("created_at", "importance_score", "event_time", "last_accessed_at", "access_frequency")
TYPES = ("viewpoint", "semantic", "episode", "inference")
ORDERS = ("asc", "desc")


class MemoriesParams(Paged):
    """A page of memories."""

    limit: Annotated[int, Field(ge=1, le=500)] = 100
    memory_type: str | None = None
    sort_by: str = SORTS[0]
    order: str = "desc"


async def _style(request: Request) -> None:
    """One address, two contracts: errors speak the language of the request."""
    request.state.error_style = ErrorStyle.CROSMOS if is_crosmos(request.scope) else ErrorStyle.XMEMO


@router.get(INTERNAL, summary="List memories")
async def list_memories(
    request: Request, host: HostDep, caller: Reader, params: Annotated[MemoriesParams, Query()]
) -> Json:
    """Without a space those of all spaces of the caller; forgotten ones and working state never."""
    check_space(request, caller, params.space)
    found, total = await host.call(
        host.engine.ingest.memories,
        caller,
        params.space,
        nature=one_of(params.memory_type, TYPES, "memory_type"),
        order_by=one_of(params.sort_by, SORTS, "sort_by") or SORTS[0],
        descending=one_of(params.order, ORDERS, "order") != "asc",
        limit=params.limit,
        offset=params.offset,
    )
    items = [memory_item(host.engine, memory) for memory in found]
    following = params.offset + len(items)
    cursor = following if items and following < total else None
    return Json({"memories": items, "count": len(items), "total": total, "next_cursor": cursor})


@router.get(f"{INTERNAL}/{{memory_uuid}}", summary="One memory", dependencies=[Depends(_style)])
async def get_memory(request: Request, host: HostDep, caller: Reader, memory_uuid: str, scoped: ScopedQuery) -> Json:
    """What either contract reads of a memory."""
    check_space(request, caller, scoped.space)
    is_xmemo = request.state.error_style is ErrorStyle.XMEMO
    memory = await _memory(host, caller, memory_uuid, scoped, NOT_FOUND if is_xmemo else None)
    union = xmemo_item(memory) | memory_item(host.engine, memory)
    if is_xmemo:
        union["memory_type"] = memory.memory_type.value
    return Json(union)


@router.delete(f"{INTERNAL}/{{memory_uuid}}", status_code=204, summary="Forget a memory")
async def delete_memory(
    request: Request, host: HostDep, caller: Deleter, memory_uuid: str, scoped: ScopedQuery
) -> Response:
    """Softly: it is hidden everywhere and can be restored."""
    check_space(request, caller, scoped.space)
    await _memory(host, caller, memory_uuid, scoped)
    await host.call(host.engine.forget, caller, uuid_text(memory_uuid))
    return Response(status_code=204)


async def _memory(
    host: Host, caller: Principal, memory_uuid: str, scoped: Scoped, refusal: str | None = None
) -> Memory:
    memory_id = uuid_text(memory_uuid)
    missing = NotFound(refusal or f"Memory {memory_id} not found")
    try:
        memory = await host.call(host.engine.get, caller, memory_id)
    except NotFound as error:
        raise missing from error
    if scoped.space is not None and memory.space_id != scoped.space:
        raise missing
    return memory
