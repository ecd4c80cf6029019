"""The OAuth endpoints: metadata, registration, authorization with consent, tokens, revocation.

Grants are handled by the MCP SDK; here are the consent in between and the revocation, for which the
SDK insists on a client secret that public clients do not have.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI
from mcp.server.auth.handlers.authorize import AuthorizationHandler
from mcp.server.auth.handlers.register import RegistrationHandler
from mcp.server.auth.handlers.token import TokenHandler
from mcp.server.auth.middleware.client_auth import AuthenticationError, ClientAuthenticator
from mcp.server.auth.provider import construct_redirect_uri
from mcp.server.auth.settings import ClientRegistrationOptions
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from api.deps import Host, host_of
from api.guards import came_by_socket
from api.oauth import pages, schema
from api.oauth.provider import Provider
from engine.domain.access import DEFAULT_SCOPES, Principal
from engine.errors import AccessError, NotFound
from engine.upkeep.grants import GRANTABLE, Grants

CONSENT_PATH = "/oauth/consent"
MCP_PATH = "/mcp"
SCOPES = [scope.value for scope in GRANTABLE]
_NO_STORE = {"Cache-Control": "no-store"}

Endpoint = Callable[[Request], Awaitable[Response]]


def install(app: FastAPI) -> None:
    """Add the endpoints to an app whose `state.host` is set."""
    host: Host = app.state.host
    grants = Grants(host.engine.database)
    app.state.grants = grants
    provider = Provider(host, grants, CONSENT_PATH)
    clients = ClientAuthenticator(provider)
    options = ClientRegistrationOptions(enabled=True, valid_scopes=SCOPES, default_scopes=sorted(DEFAULT_SCOPES))

    async def revoke(request: Request) -> Response:
        return await _revoke(request, provider, clients)

    authorize = AuthorizationHandler(provider).handle
    for method, path, endpoint, operation in (
        ("POST", "/oauth/register", RegistrationHandler(provider, options).handle, schema.REGISTER),
        ("GET", "/oauth/authorize", authorize, schema.AUTHORIZE),
        ("POST", "/oauth/token", TokenHandler(provider, clients).handle, schema.TOKEN),
        ("POST", "/oauth/revoke", revoke, schema.REVOKE),
        ("GET", "/.well-known/oauth-authorization-server", _server_metadata, schema.SERVER_METADATA),
        ("GET", "/.well-known/oauth-protected-resource", _resource_metadata, schema.RESOURCE_METADATA),
        ("GET", f"/.well-known/oauth-protected-resource{MCP_PATH}", _resource_metadata, schema.RESOURCE_METADATA),
    ):
        _add(app, method, path, endpoint, operation)
    app.add_route("/oauth/authorize", authorize, methods=["POST"], include_in_schema=False)
    # Pages for a person's browser, no part of what programs call.
    app.add_route(CONSENT_PATH, _show_consent, methods=["GET"], include_in_schema=False)
    app.add_route(CONSENT_PATH, _take_consent, methods=["POST"], include_in_schema=False)


def _add(app: FastAPI, method: str, path: str, endpoint: Endpoint, operation: schema.Operation) -> None:
    app.add_api_route(
        path,
        endpoint,
        methods=[method],
        tags=["oauth"],
        summary=operation.summary,
        description=operation.description,
        status_code=operation.status,
        response_class=Response,
        response_model=None,
        responses=operation.responses,
        openapi_extra=dict(operation.extra) if operation.extra else None,
    )


def base_of(request: Request) -> str:
    """The origin that clients see."""
    public = host_of(request).options.public_url
    return public.rstrip("/") if public else f"{request.url.scheme}://{request.url.netloc}"


def grants_of(request: Request) -> Grants:
    """The grants of the host that serves this request."""
    found: Grants = request.app.state.grants
    return found


async def person_of(request: Request, form: FormData) -> Principal:
    """Who fills in a form: its token's holder, or the owner where no token is needed. Raises `AccessError`."""
    host = host_of(request)
    if not asks_for_token(request):
        return host.owner
    token = form.get("token")
    return await host.call(host.engine.authenticate, token.strip() if isinstance(token, str) else "")


def asks_for_token(request: Request) -> bool:
    """Whether a person has to prove to be the owner."""
    return host_of(request).options.require_auth and not came_by_socket(request.scope)


async def _show_consent(request: Request) -> Response:
    handle = request.query_params.get("request", "")
    try:
        asked = await host_of(request).call(grants_of(request).request, handle)
    except NotFound as error:
        return pages.page("Nothing to allow", f"<p>{error}</p>", 404)
    return _consent_form(request, handle, asked.detail)


async def _take_consent(request: Request) -> Response:
    host, grants, form = host_of(request), grants_of(request), await request.form()
    handle = str(form.get("request", ""))
    try:
        asked = await host.call(grants.request, handle)
        if not pages.is_guarded(request, form.get("guard")):
            return _consent_form(request, handle, asked.detail, "This form was not sent from this page. Try again.")
        redirect, state = asked.detail["redirect_uri"], asked.detail["state"]
        if form.get("decision") != "allow":
            await host.call(grants.deny, asked)
            return _back(redirect, error="access_denied", state=state, iss=base_of(request))
        try:
            person = await person_of(request, form)
            code = await host.call(grants.approve, person, asked)
        except AccessError as error:
            return _consent_form(request, handle, asked.detail, str(error))
    except NotFound as error:
        return pages.page("Nothing to allow", f"<p>{error}</p>", 404)
    return _back(redirect, code=code, state=state, iss=base_of(request))


def _consent_form(request: Request, handle: str, detail: Any, problem: str | None = None) -> Response:
    return pages.form(
        request,
        title="Allow access?",
        client_name=detail["client_name"],
        scopes=detail["scopes"],
        hidden={"request": handle},
        redirect_uri=detail["redirect_uri"],
        problem=problem,
        asks_for_token=asks_for_token(request),
    )


def _back(redirect_uri: str, **parameters: str | None) -> Response:
    return RedirectResponse(construct_redirect_uri(redirect_uri, **parameters), 302, _NO_STORE)


async def _revoke(request: Request, provider: Provider, clients: ClientAuthenticator) -> Response:
    """RFC 7009: an unknown token is as good as a revoked one; the whole consent ends."""
    try:
        client = await clients.authenticate_request(request)
    except AuthenticationError as error:
        return JSONResponse({"error": "invalid_client", "error_description": error.message}, 401, _NO_STORE)
    token = (await request.form()).get("token")
    if not isinstance(token, str) or not token:
        return JSONResponse({"error": "invalid_request", "error_description": "token is missing"}, 400, _NO_STORE)
    found = await provider.load_refresh_token(client, token) or await provider.load_access_token(token)
    if found is not None and found.client_id == client.client_id:
        await provider.revoke_token(found)
    return JSONResponse({}, 200, _NO_STORE)


async def _server_metadata(request: Request) -> Response:
    """RFC 8414, with the members that the contract's clients read besides."""
    base = base_of(request)
    return JSONResponse(
        {
            "issuer": base,
            "authorization_endpoint": f"{base}/oauth/authorize",
            "token_endpoint": f"{base}/oauth/token",
            "registration_endpoint": f"{base}/oauth/register",
            "revocation_endpoint": f"{base}/oauth/revoke",
            "scopes_supported": SCOPES,
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_methods_supported": ["none"],
            "revocation_endpoint_auth_methods_supported": ["none"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
            "resource": f"{base}{MCP_PATH}",
            "mcp_endpoint": f"{base}{MCP_PATH}",
            "protected_resource_metadata_endpoint": f"{base}/.well-known/oauth-protected-resource{MCP_PATH}",
        }
    )


async def _resource_metadata(request: Request) -> Response:
    """RFC 9728."""
    base = base_of(request)
    return JSONResponse(
        {
            "resource": f"{base}{MCP_PATH}",
            "authorization_servers": [base],
            "scopes_supported": SCOPES,
            "bearer_methods_supported": ["header"],
            "resource_name": "Memvouch",
        }
    )
