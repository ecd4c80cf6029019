"""All routes of the surface, and their schema at `/api/v1/openapi.json`.

They stay out of the main schema: it describes the XMemo contract, with other errors for like paths.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from api.collision import INTERNAL
from api.crosmos import account, entities, hints, ingest, memories, search, spaces
from api.crosmos.wire import PREFIX, crosmos_router
from api.health import VERSION
from api.xmemo.responses import Json

ROUTERS = (
    spaces.router,
    search.router,
    ingest.router,
    memories.router,
    entities.router,
    account.router,
)

_schema = crosmos_router("schema")


@_schema.get("/openapi.json", summary="This schema")
async def schema() -> Json:
    """OpenAPI of the Crosmos-compatible surface."""
    return Json(_document())


def install(app: FastAPI) -> None:
    """Mount the surface; before XMemo's routers, whose `{memory_id}` would take some of its paths."""
    for router in (*ROUTERS, _schema):
        app.include_router(router, prefix=PREFIX, include_in_schema=False)
    app.include_router(hints.router)


@cache
def _document() -> dict[str, Any]:
    described = FastAPI()
    for router in ROUTERS:
        described.include_router(router, prefix=PREFIX)
    found = get_openapi(title="Memvouch, Crosmos-compatible surface", version=VERSION, routes=described.routes)
    for verbs in found["paths"].values():
        for route in verbs.values():
            # The framework's own form of a faulty field; ours is 400.
            route["responses"].pop("422", None)
    for path in (each for each in found["paths"] if INTERNAL in each):
        for route in found["paths"][path].values():
            route["responses"]["422"] = {"description": "Without a space or a `csk_` token the path is XMemo's."}
    found["paths"] = {path.replace(INTERNAL, "/memories"): verbs for path, verbs in found["paths"].items()}
    return found
