"""Spaces: create, list, get, delete. The first of the list is the default of several clients."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request, Response
from pydantic import Field

from api.crosmos.items import space_item
from api.crosmos.wire import check_space, crosmos_router, refuse_space_key, uuid_text
from api.deps import Deleter, HostDep, Reader, Writer
from api.xmemo.responses import Json
from api.xmemo.wire import JsonObject, WireModel

router = crosmos_router("spaces")


class NewSpace(WireModel):
    """A space to be made; the tenant is the token's, whatever `org_id` says."""

    name: Annotated[str, Field(min_length=1, max_length=255)]
    description: str | None = None
    meta: JsonObject | None = None
    org_id: str | None = None


class SpacesParams(WireModel):
    """A page of spaces, all without `limit`; `name` is exact."""

    name: str | None = None
    limit: Annotated[int, Field(ge=1)] | None = None
    offset: Annotated[int, Field(ge=0)] = 0


@router.post("/spaces", status_code=201, summary="Make a space")
async def create_space(request: Request, host: HostDep, caller: Writer, body: NewSpace) -> Json:
    """409 when the organization has one of that name."""
    refuse_space_key(request, caller)
    space = await host.call(
        host.engine.create_space, caller, body.name, description=body.description, metadata=body.meta
    )
    return Json(space_item(space), 201)


@router.get("/spaces", summary="List spaces, oldest first")
async def list_spaces(
    request: Request, host: HostDep, caller: Reader, params: Annotated[SpacesParams, Query()]
) -> Json:
    """`total` counts all that fit, whatever the page."""
    refuse_space_key(request, caller)
    found = [each.space for each in await host.call(host.engine.spaces, caller)]
    if params.name is not None:
        found = [space for space in found if space.name == params.name]
    end = None if params.limit is None else params.offset + params.limit
    page = [space_item(space) for space in found[params.offset : end]]
    return Json({"spaces": page, "count": len(page), "total": len(found)})


@router.get("/spaces/{space_uuid}", summary="One space")
async def get_space(request: Request, host: HostDep, caller: Reader, space_uuid: str) -> Json:
    """404 alike for a missing and a foreign one."""
    space_id = uuid_text(space_uuid)
    check_space(request, caller, space_id)
    return Json(space_item((await host.call(host.engine.space, caller, space_id)).space))


@router.delete("/spaces/{space_uuid}", status_code=204, summary="Delete a space and all that is in it")
async def delete_space(request: Request, host: HostDep, caller: Deleter, space_uuid: str) -> Response:
    """Only its owner may."""
    refuse_space_key(request, caller)
    await host.call(host.engine.delete_space, caller, uuid_text(space_uuid))
    return Response(status_code=204)
