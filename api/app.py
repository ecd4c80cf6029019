"""The HTTP application of one host: its layers, its routers, its error bodies.

A request passes, from outside in: the envelope (ids, log line, count), the Host and Origin guards,
the rate limit, the body limit, then its route. Every XMemo router is mounted twice, under `/v1` and
`/api/v1`, with no difference; the schema shows the first. A new router is a line in `XMEMO_ROUTERS`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import structlog
from fastapi import APIRouter, FastAPI
from starlette.middleware.cors import CORSMiddleware

from api import discovery, errors, health, mcp_route
from api.admin import routes as admin
from api.collision import Collision
from api.crosmos import surface as crosmos
from api.deps import Host
from api.envelope import AUDIT_HEADER, IGNORED_HEADER, REQUEST_ID_HEADER, Envelope
from api.guards import Guards
from api.host import routes as host_verbs
from api.limits import BodyLimit, RateLimit
from api.metrics import Metrics
from api.oauth import device
from api.oauth import routes as oauth
from api.options import ServerOptions
from api.probe import Probe
from api.threads import Workers
from api.xmemo import auth_tokens, memories, recall, search, state
from api.xmemo.companion import decisions, history, overview, projects, reminders, restart, skill, timeline, transfer
from engine.engine import Engine
from engine.errors import Unavailable
from engine.upkeep.administration import Administration
from engine.upkeep.answers import Answers
from engine.upkeep.organisation import Organisations

XMEMO_PREFIXES = ("/v1", "/api/v1")
ASKING_ROUTERS = (search.router, recall.router)
XMEMO_ROUTERS = (
    # Before `/memories/{memory_id}`, which would take their paths for ids.
    overview.router,
    transfer.router,
    memories.router,
    history.router,
    state.router,
    timeline.router,
    reminders.router,
    decisions.router,
    restart.router,
    projects.router,
    skill.router,
    auth_tokens.router,
    device.router,
    discovery.router,
    admin.router,
)
_NOTE_USED_SECONDS = 30.0
_TITLE = "Memvouch"
_SUMMARY = 'Memory retrieval for agents that says "no match" when nothing stored answers.'


log = structlog.get_logger("memvouch.http")


def create_app(engine: Engine, options: ServerOptions) -> FastAPI:
    """The application over an open engine. Raises `SetupError` for options that would expose it."""
    options.check()
    metrics = Metrics()
    workers = Workers(options.threads, options.request_timeout_seconds, options.queue_seconds)
    app = FastAPI(
        title=_TITLE,
        summary=_SUMMARY,
        version=health.VERSION,
        redirect_slashes=False,
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan,
    )
    owner = engine.local_owner()
    app.state.host = Host(
        engine=engine,
        options=options,
        workers=workers,
        metrics=metrics,
        owner=owner,
        administration=Administration(engine.database),
        probe=Probe(engine, owner, workers),
        answers=Answers(engine.database),
        organisations=Organisations(engine.database),
    )
    errors.install(app)
    _include(app)
    mcp_route.install(app)
    app.add_middleware(Collision)
    app.add_middleware(BodyLimit, max_bytes=options.max_body_bytes)
    app.add_middleware(RateLimit, per_minute=options.rate_limit_per_minute)
    if options.allowed_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(options.allowed_origins),
            # Which verbs there are is for the routes to say.
            allow_methods=["*"],
            allow_headers=["*"],
            expose_headers=[REQUEST_ID_HEADER, AUDIT_HEADER, IGNORED_HEADER, "Retry-After", "Mcp-Session-Id"],
        )
    app.add_middleware(Guards, options=options)
    app.add_middleware(Envelope, metrics=metrics)
    return app


def _include(app: FastAPI) -> None:
    # Routes are tried in order, and these are what is asked most.
    for router in ASKING_ROUTERS:
        include_xmemo(app, router)
    app.include_router(health.router)
    app.include_router(host_verbs.router)
    app.include_router(discovery.documents)
    oauth.install(app)
    device.install_page(app)
    crosmos.install(app)
    for router in XMEMO_ROUTERS:
        include_xmemo(app, router)


def include_xmemo(app: FastAPI, router: APIRouter) -> None:
    """Mount a router of the XMemo surface under both of its prefixes."""
    for prefix in XMEMO_PREFIXES:
        app.include_router(router, prefix=prefix, include_in_schema=prefix == XMEMO_PREFIXES[0])


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    host: Host = app.state.host
    noting = asyncio.create_task(_note_used_tokens(host))
    host.engine.ingest.start()
    async with mcp_route.running(app):
        yield
    noting.cancel()
    with suppress(asyncio.CancelledError):
        await noting
    await _note_used_now(host)
    await host.call(host.engine.ingest.close)
    host.workers.close()


async def _note_used_tokens(host: Host) -> None:
    """Write down now and then which tokens were used: a write for each request would be too much."""
    while True:
        await asyncio.sleep(_NOTE_USED_SECONDS)
        await _note_used_now(host)


async def _note_used_now(host: Host) -> None:
    used = sorted(host.used_tokens)
    host.used_tokens.clear()
    try:
        await host.call(host.organisations.note)
        if used:
            await host.call(host.administration.note_used, used)
    except Unavailable as error:
        log.warning("the use of tokens was not noted", error=str(error))
