"""`/auth/token/...`: what a token is, and giving it up."""

from __future__ import annotations

from typing import Any

from fastapi import Body

from api.deps import Caller, HostDep
from api.xmemo.responses import Json, example, xmemo_router
from engine.errors import InvalidRequest
from engine.upkeep.administration import public_view

router = xmemo_router("auth")

_EXAMPLE = {"status": "valid", "scopes": ["memory:read", "memory:write"], "setup_state": "setup_completed"}


@router.get("/auth/token/validate", summary="What this token may do", responses=example(_EXAMPLE))
async def validate(host: HostDep, caller: Caller) -> Json:
    """200 for a valid token; 401 without one, 403 for one that is not valid."""
    answer: dict[str, Any] = {
        "status": "valid",
        "valid": True,
        "scopes": sorted(caller.scopes),
        "setup_state": "setup_completed",
        "user_id": caller.user_id,
        "organization_id": caller.tenant_id,
        "default_space_id": caller.default_space_id,
        "agent_id": caller.agent_id,
    }
    if caller.token_id is not None:
        answer["token"] = dict(public_view(await host.call(host.administration.token, caller, caller.token_id)))
    return Json(answer)


@router.post("/auth/token/revoke-self", summary="Give this token up for good", responses=example({"revoked": True}))
async def revoke_self(host: HostDep, caller: Caller, body: dict[str, Any] | None = Body(None)) -> Json:
    """The token is refused from the next request on."""
    if caller.token_id is None:
        raise InvalidRequest("this connection has no token to give up")
    revoked = await host.call(host.administration.revoke_token, caller, caller.token_id)
    return Json({"revoked": True, "status": "revoked", "id": revoked.id, "prefix": revoked.prefix})
