"""Whether the host lives (`/health`), whether it can serve (`/ready`), and its counters (`/metrics`).

None of the three needs a credential, and none tells more than states and counts.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from api.deps import HostDep
from api.metrics import CONTENT_TYPE
from engine.errors import MemvouchError

SERVICE = "memory-os"
"""The service name that clients of the XMemo contract look for."""

VERSION = version("memvouch")

router = APIRouter(tags=["health"])


@router.get("/health", summary="The process answers")
async def health() -> dict[str, Any]:
    """Always 200 while the process serves."""
    return {"status": "ok", "service": SERVICE, "name": "Memvouch", "version": VERSION}


@router.get(
    "/ready",
    summary="The store answers",
    responses={503: {"description": "The store, the index or the embedder does not answer."}},
)
async def ready(host: HostDep) -> JSONResponse:
    """200 when the store answers, else 503 with the reason."""
    try:
        await host.call(host.engine.spaces, host.owner)
    except MemvouchError as error:
        return JSONResponse({"status": "unavailable", "detail": str(error)}, 503, {"Retry-After": "1"})
    return JSONResponse({"status": "ready", "service": SERVICE, "version": VERSION})


@router.get("/metrics", summary="Counters for Prometheus", response_class=Response)
async def metrics(host: HostDep) -> Response:
    """The text format of Prometheus."""
    return Response(host.metrics.render(), media_type=CONTENT_TYPE)
