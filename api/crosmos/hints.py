"""Addresses that a wrong base URL leads to: a 404 in JSON that names the right one."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from api.crosmos.wire import PREFIX
from api.errors import CrosmosRoute, crosmos_body

router = APIRouter(route_class=CrosmosRoute, include_in_schema=False)

_METHODS = ["GET", "POST", "PATCH", "PUT", "DELETE"]
_FIRST = ("spaces", "search", "sources", "conversations", "jobs", "memories", "entities", "usage", "orgs")


async def _hint(request: Request) -> JSONResponse:
    doubled = request.url.path.startswith(f"{PREFIX}{PREFIX}/")
    base = "the host root, without /api/v1" if doubled else "one that leads to /api/v1"
    text = f"Not found. Paths here begin with {PREFIX}: set the base address to {base}."
    return JSONResponse(crosmos_body(404, text), 404)


router.add_api_route(f"{PREFIX}{PREFIX}/{{rest:path}}", _hint, methods=_METHODS)
for _name in _FIRST:
    router.add_api_route(f"/{_name}", _hint, methods=_METHODS)
    router.add_api_route(f"/{_name}/{{rest:path}}", _hint, methods=_METHODS)
