"""What the memories of a space name: people, identifiers, links, other names."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from pydantic import Field

from api.crosmos.items import entity_item, memory_item
from api.crosmos.wire import Paged, ScopedQuery, check_space, crosmos_router, one_of, uuid_text
from api.deps import HostDep, Reader
from api.xmemo.responses import Json

router = crosmos_router("entities")

SORTS = ("name", "edge_count", "created_at")


class EntitiesParams(Paged):
    """A page of entities; `q` is a part of the name."""

    limit: Annotated[int, Field(ge=1, le=200)] = 50
    entity_type: str | None = None
    q: str | None = None
    sort_by: str = SORTS[0]
    order: str = "asc"


@router.get("/entities", summary="List entities")
async def list_entities(
    request: Request, host: HostDep, caller: Reader, params: Annotated[EntitiesParams, Query()]
) -> Json:
    """`edge_count` is the number of memories that name it."""
    check_space(request, caller, params.space)
    found, total = await host.call(
        host.engine.ingest.entities,
        caller,
        params.space,
        entity_type=params.entity_type,
        text=params.q,
        order_by=one_of(params.sort_by, SORTS, "sort_by") or SORTS[0],
        descending=one_of(params.order, ("asc", "desc"), "order") == "desc",
        limit=params.limit,
        offset=params.offset,
    )
    return Json({"entities": [entity_item(entity) for entity in found], "count": len(found), "total": total})


@router.get("/entities/{entity_uuid}", summary="One entity and the memories that name it")
async def get_entity(request: Request, host: HostDep, caller: Reader, entity_uuid: str, scoped: ScopedQuery) -> Json:
    """404 alike for a missing and a foreign one."""
    check_space(request, caller, scoped.space)
    entity, named_by = await host.call(host.engine.ingest.entity, caller, uuid_text(entity_uuid), scoped.space)
    return Json({**entity_item(entity), "memories": [memory_item(host.engine, memory) for memory in named_by]})
