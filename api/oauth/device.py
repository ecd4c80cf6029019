"""The device flow (RFC 8628): a terminal shows a code, its owner approves it on a page."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from pydantic import Field
from starlette.responses import JSONResponse, Response

from api.deps import HostDep, host_of
from api.oauth import pages, schema
from api.oauth.routes import SCOPES, asks_for_token, base_of, grants_of, person_of
from api.xmemo.models import Label
from api.xmemo.responses import DETAIL, Json, example, xmemo_router
from api.xmemo.wire import WriteModel
from engine.domain.access import DEFAULT_SCOPES
from engine.errors import AccessError, InvalidRequest, NotFound
from engine.upkeep.grants import DEVICE_TOKEN_SECONDS, POLL_SECONDS, REQUEST_SECONDS, GrantRefused

GRANT_TYPE = "urn:ietf:params:oauth:grant-type:device_code"
PAGE_PATH = "/device"

router = xmemo_router("auth")

_STARTED = {
    "device_code": "...",
    "user_code": "BCDF-GHJK",
    "verification_uri": "http://127.0.0.1:8787/device",
    "verification_uri_complete": "http://127.0.0.1:8787/device?user_code=BCDF-GHJK",
    "interval": POLL_SECONDS,
    "expires_in": REQUEST_SECONDS,
    "scopes": ["memory:read", "memory:write"],
}
_ISSUED = {
    "access_token": "mv_...",
    "token": "mv_...",
    "token_type": "Bearer",
    "expires_in": DEVICE_TOKEN_SECONDS,
    "scope": "memory:read memory:write",
    "scopes": ["memory:read", "memory:write"],
    "user": {"user_id": "0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4b", "display_name": "owner"},
}
_WAITING: schema.Responses = {
    400: schema.json_answer(
        "`authorization_pending`: ask again after `interval`; `slow_down`: five seconds more. Any other `error` "
        "ends the flow: `access_denied`, `expired_token`, `invalid_grant`, `unsupported_grant_type`. A body that "
        "is not JSON has `detail` instead.",
        {"error": "authorization_pending"},
        {"anyOf": [schema.ERROR, DETAIL]},
    )
}


class StartBody(WriteModel):
    """`POST /auth/device/start`."""

    client_id: Label = "unnamed"
    client_version: Label | None = None
    cli_version: Label | None = None
    token_type: Label | None = None
    surface: Label | None = None
    scopes: list[str] = Field(default_factory=lambda: [scope.value for scope in sorted(DEFAULT_SCOPES)], max_length=20)


class TokenBody(WriteModel):
    """`POST /auth/device/token`."""

    device_code: str
    grant_type: str = GRANT_TYPE
    client_id: Label | None = None


@router.post("/auth/device/start", summary="Begin the device flow", responses=example(_STARTED))
async def start(request: Request, host: HostDep, body: StartBody) -> Json:
    """Needs no credential. Show the person `user_code` and `verification_uri`, and ask for the token meanwhile.

    Scopes that a device cannot have are left out; `memory:admin` is one of them.
    """
    scopes = [scope for scope in dict.fromkeys(body.scopes) if scope in SCOPES]
    if not scopes:
        raise InvalidRequest(f"scopes that a device can have are {', '.join(SCOPES)}", field="scopes")
    device_code, user_code = await host.call(grants_of(request).start_device, body.client_id, scopes)
    address = f"{base_of(request)}{PAGE_PATH}"
    return Json(
        {
            "device_code": device_code,
            "user_code": user_code,
            "verification_uri": address,
            "verification_uri_complete": f"{address}?user_code={user_code}",
            "interval": POLL_SECONDS,
            "expires_in": REQUEST_SECONDS,
            "scopes": scopes,
        }
    )


@router.post("/auth/device/token", summary="Ask for the device's token", responses={**example(_ISSUED), **_WAITING})
async def token(request: Request, host: HostDep, body: TokenBody) -> Response:
    """400 with `authorization_pending` until somebody has decided. The token is given once and lasts a year."""
    if body.grant_type != GRANT_TYPE:
        return _refused("unsupported_grant_type")
    try:
        issued = await host.call(grants_of(request).poll_device, body.device_code)
    except GrantRefused as error:
        return _refused(error.error)
    answer: dict[str, Any] = {
        "access_token": issued.access_token,
        "token": issued.access_token,
        "token_type": "Bearer",
        "expires_in": issued.expires_in_seconds,
        "scope": " ".join(issued.scopes),
        "scopes": list(issued.scopes),
        "user": {
            "id": issued.user_id,
            "user_id": issued.user_id,
            "email": None,
            "name": issued.user_name,
            "display_name": issued.user_name,
        },
    }
    return JSONResponse(answer, headers={"Cache-Control": "no-store"})


def install_page(app: FastAPI) -> None:
    """Add the page on which a device is approved."""
    app.add_route(PAGE_PATH, _show, methods=["GET"], include_in_schema=False)
    app.add_route(PAGE_PATH, _take, methods=["POST"], include_in_schema=False)


async def _show(request: Request) -> Response:
    user_code = request.query_params.get("user_code", "")
    if not user_code:
        body = (
            "<form method=get><label>The code that your device shows<input name=user_code></label>"
            "<button>Go on</button></form>"
        )
        return pages.page("Connect a device", body)
    return await _ask(request, user_code)


async def _take(request: Request) -> Response:
    host, grants, form = host_of(request), grants_of(request), await request.form()
    user_code = str(form.get("user_code", ""))
    if not pages.is_guarded(request, form.get("guard")):
        return await _ask(request, user_code, "This form was not sent from this page. Try again.")
    try:
        device = await host.call(grants.device, user_code)
        if form.get("decision") != "allow":
            await host.call(grants.deny, device)
            return pages.page("Denied", "<p>The device gets no access.</p>")
        await host.call(grants.approve_device, await person_of(request, form), device)
    except AccessError as error:
        return await _ask(request, user_code, str(error))
    except NotFound as error:
        return pages.page("Nothing to allow", f"<p>{error}</p>", 404)
    return pages.page("Connected", "<p>The device has its token now. You can close this page.</p>")


async def _ask(request: Request, user_code: str, problem: str | None = None) -> Response:
    try:
        device = await host_of(request).call(grants_of(request).device, user_code)
    except NotFound as error:
        return pages.page("Nothing to allow", f"<p>{error}</p>", 404)
    return pages.form(
        request,
        title="Connect this device?",
        client_name=device.client_id,
        scopes=device.detail["scopes"],
        hidden={"user_code": user_code},
        problem=problem,
        asks_for_token=asks_for_token(request),
    )


def _refused(error: str) -> JSONResponse:
    return JSONResponse({"error": error}, 400, {"Cache-Control": "no-store"})
