"""What routes ask for: the host, the caller with a right, the idempotency key.

    async def route(host: HostDep, caller: Reader, ...) -> ...:
        return await host.call(host.engine.get, caller, memory_id)

The aliases state a route's authorization: `Caller` any valid token, `Reader`, `Writer`, `Deleter`,
`Restorer` and `Admin` a token with that scope. No credential is 401, a bad one or a missing scope
403 (401 and 403 on Crosmos routes). The engine asks again, and asks for the space.

A credential comes as `X-API-Key` or `Authorization: Bearer`; both at once must be equal. Through
the owner's socket, and on a host without authentication, no credential means the folder's owner.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Annotated, ParamSpec, TypeVar

from fastapi import Depends, Header, Request, Security
from fastapi.security import APIKeyHeader, HTTPBearer
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection

from api.envelope import current
from api.guards import came_by_socket
from api.metrics import Metrics
from api.options import ServerOptions
from api.probe import Probe
from api.threads import Workers
from engine.domain.access import Principal, Scope
from engine.engine import Engine
from engine.errors import Forbidden, InvalidRequest, Unauthenticated
from engine.upkeep.administration import Administration
from engine.upkeep.answers import Answers
from engine.upkeep.organisation import Organisations

AGENT_HEADER = "X-Memory-OS-Agent-ID"
INSTANCE_HEADER = "X-Memory-OS-Agent-Instance-ID"
AGENT_LIMIT_CHARACTERS = 128

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Host:
    """The one engine of this process and what belongs to serving it."""

    engine: Engine
    options: ServerOptions
    workers: Workers
    metrics: Metrics
    owner: Principal
    administration: Administration
    probe: Probe
    answers: Answers
    organisations: Organisations
    used_tokens: set[str] = field(default_factory=set)

    async def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run an engine call in a thread, under the request's deadline."""
        return await self.workers.call(function, *args, **kwargs)


def host_of(connection: HTTPConnection) -> Host:
    """The host that serves this request."""
    host: Host = connection.app.state.host
    return host


async def _host_of_request(request: Request) -> Host:
    """`host_of` as a dependency: async, because the framework sends plain functions to a thread."""
    return host_of(request)


HostDep = Annotated[Host, Depends(_host_of_request)]

_bearer = HTTPBearer(auto_error=False, scheme_name="bearer", description="A Memvouch token.")
_api_key = APIKeyHeader(
    name="X-API-Key", auto_error=False, scheme_name="api_key", description="The same token, for clients that prefer it."
)


def credentials_of(headers: Headers) -> set[str]:
    """The distinct credentials of a request: none, one, or two that contradict each other."""
    found = {value.strip() for value in headers.getlist("x-api-key")}
    for value in headers.getlist("authorization"):
        scheme, _, rest = value.strip().partition(" ")
        if scheme.casefold() == "bearer":
            found.add(rest.strip())
    return found - {""}


async def authenticate(connection: HTTPConnection) -> Principal:
    """The caller of a request. Raises `Unauthenticated`, or `Forbidden` for two different tokens."""
    host = host_of(connection)
    credentials = credentials_of(connection.headers)
    if len(credentials) > 1:
        raise Forbidden("X-API-Key and Authorization carry two different tokens.")
    if credentials:
        principal = await host.call(host.engine.authenticate, credentials.pop())
    elif came_by_socket(connection.scope) or not host.options.require_auth:
        principal = host.owner
    else:
        raise Unauthenticated("Authentication required", missing=True)
    if principal.token_id:
        host.used_tokens.add(principal.token_id)
        if record := current():
            record.token_id = principal.token_id
    return attributed(principal, connection.headers)


def attributed(principal: Principal, headers: Headers) -> Principal:
    """The principal with the agent that the headers name. Attribution only, never authorization."""
    agent = headers.get(AGENT_HEADER, "").strip()[:AGENT_LIMIT_CHARACTERS] or None
    instance = headers.get(INSTANCE_HEADER, "").strip()
    digest = hashlib.sha256(instance.encode()).hexdigest() if instance else None
    return replace(principal, agent_id=agent, agent_instance_hash=digest) if agent or digest else principal


class Needs:
    """A dependency: the caller, if its token has one of these scopes (`memory:admin` has all)."""

    def __init__(self, *scopes: Scope, refusal: str | None = None) -> None:
        self._scopes = frozenset(scopes)
        self._refusal = refusal or f"this token lacks the scope {' or '.join(scopes)}"

    async def __call__(
        self,
        request: Request,
        bearer: Annotated[object, Security(_bearer)],
        api_key: Annotated[object, Security(_api_key)],
    ) -> Principal:
        # The two schemes are asked for so that OpenAPI shows them; the header is read once, in `authenticate`.
        principal = await authenticate(request)
        if self._scopes and not principal.has(*self._scopes):
            raise Forbidden(self._refusal)
        return principal


Caller = Annotated[Principal, Depends(Needs())]
Reader = Annotated[Principal, Depends(Needs(Scope.READ))]
Writer = Annotated[Principal, Depends(Needs(Scope.WRITE))]
Deleter = Annotated[Principal, Depends(Needs(Scope.DELETE, Scope.WRITE, refusal="delete scope required"))]
Restorer = Annotated[Principal, Depends(Needs(Scope.RESTORE, Scope.WRITE))]
Admin = Annotated[Principal, Depends(Needs(Scope.ADMIN))]


async def idempotency_key(
    idempotency_key: Annotated[str | None, Header(description="Repeat a write with the same key: same answer.")] = None,
    x_idempotency_key: Annotated[str | None, Header(include_in_schema=False)] = None,
) -> str | None:
    """The key of a write from its headers; both at once must be equal."""
    keys = {key.strip() for key in (idempotency_key, x_idempotency_key) if key and key.strip()}
    if len(keys) > 1:
        raise InvalidRequest("two different idempotency keys in one request", field="idempotency_key")
    return keys.pop() if keys else None


HeaderKey = Annotated[str | None, Depends(idempotency_key)]


def one_key(header: str | None, body: str | None) -> str | None:
    """The idempotency key of a write, from its headers or its body. Two different ones are refused."""
    if header and body and header != body.strip():
        raise InvalidRequest("two different idempotency keys in one request", field="idempotency_key")
    return header or (body.strip() if body else None)
