"""Whether the host lives (`/health`), whether it can serve (`/ready`), and its counters (`/metrics`).

None tells more than states and counts. The first two need no credential; the counters of a public host
(see `ServerOptions.is_public`) need a token with `memory:admin`.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from api.deps import HostDep, authenticate
from api.metrics import CONTENT_TYPE
from engine.domain.access import Scope
from engine.errors import Forbidden

SERVICE = "memory-os"
"""The service name that clients of the XMemo contract look for."""

VERSION = version("memvouch")

router = APIRouter(tags=["health"])


@router.get("/health", summary="The process answers")
async def health(host: HostDep) -> dict[str, Any]:
    """Always 200 while the process serves; `status` is `ok`, or `degraded` while a part does not answer."""
    fault = await host.probe.fault()
    answer: dict[str, Any] = {"status": "ok", "service": SERVICE, "name": "Memvouch", "version": VERSION}
    return answer if fault is None else answer | {"status": "degraded", "detail": fault}


@router.get(
    "/ready",
    summary="Every part answers",
    responses={503: {"description": "The store, the index or the embedder does not answer."}},
)
async def ready(host: HostDep) -> JSONResponse:
    """200 when store, index and embedder answer, else 503 with the reason."""
    fault = await host.probe.fault()
    if fault is not None:
        return JSONResponse({"status": "degraded", "detail": fault}, 503, {"Retry-After": "1"})
    return JSONResponse({"status": "ready", "service": SERVICE, "version": VERSION})


@router.get("/metrics", summary="Counters for Prometheus", response_class=Response)
async def metrics(request: Request, host: HostDep) -> Response:
    """The text format of Prometheus. On a public host for tokens with `memory:admin` only."""
    if host.options.is_public and not (await authenticate(request)).has(Scope.ADMIN):
        raise Forbidden("this token lacks the scope memory:admin")
    return Response(host.metrics.render(), media_type=CONTENT_TYPE)
