"""Who asks and what it uses: organization, usage, and the caller's keys."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Annotated, Any

from fastapi import Query, Request, Response
from pydantic import Field

from api.crosmos.wire import Uuid, crosmos_router, refuse_space_key
from api.deps import Admin, Caller, Host, HostDep, credentials_of
from api.xmemo.items import moment
from api.xmemo.responses import Json
from api.xmemo.wire import Moment, WireModel
from engine.domain.access import ALL_SCOPES, Principal, Scope, Token
from engine.errors import InvalidRequest
from engine.upkeep.administration import TokenKind, TokenRequest
from engine.upkeep.organisation import Organisation

router = crosmos_router("account")

PLAN = "enterprise"
UNLIMITED = -1
_KEY_SCOPES = ALL_SCOPES - {Scope.ADMIN}


class UsageParams(WireModel):
    """Days, both included; by default the present month."""

    start_date: date | None = None
    end_date: date | None = None


class NewKey(WireModel):
    """A key to be made, for all spaces or for one."""

    name: Annotated[str, Field(min_length=1, max_length=255)] = "key"
    space_id: Uuid | None = None
    expires_at: Moment | None = None


@router.get("/usage", summary="What was used; nothing is limited")
async def usage(request: Request, host: HostDep, caller: Caller, params: Annotated[UsageParams, Query()]) -> Json:
    """Limits are -1: none."""
    refuse_space_key(request, caller)
    last = params.end_date or datetime.now(UTC).date()
    first = params.start_date or last.replace(day=1)
    if last < first:
        raise InvalidRequest("end_date must not lie before start_date", field="end_date")
    used = await host.call(host.organisations.usage, caller, first, last)
    rate = host.options.rate_limit_per_minute or UNLIMITED
    return Json(
        {
            "plan": PLAN,
            "period_start": first.isoformat(),
            "period_end": last.isoformat(),
            "queries": _unlimited(used.queries),
            "spaces": _unlimited(used.spaces),
            "tokens": _unlimited(used.tokens),
            "rate_limit_rpm": rate,
            "rate_limit_per_day": UNLIMITED,
        }
    )


@router.get("/orgs", summary="The caller's organization")
async def organizations(request: Request, host: HostDep, caller: Caller) -> Json:
    """Always one."""
    refuse_space_key(request, caller)
    found = await host.call(host.organisations.of, caller)
    return Json({"orgs": [_organization(found)], "next_cursor": None})


@router.get("/auth/me", summary="Who the caller is")
async def me(host: HostDep, caller: Caller) -> Json:
    """The user, the organization and the key."""
    found = await host.call(host.organisations.of, caller)
    return Json(
        {
            "id": caller.user_id,
            "user_id": caller.user_id,
            "name": found.user_name,
            "email": None,
            "is_active": True,
            "created_at": moment(found.user_created_at),
            "org_id": found.id,
            "org": _organization(found),
            "scopes": sorted(caller.scopes),
            "space_id": _bound_space(caller),
        }
    )


@router.get("/auth/keys/validate", summary="Whether the key is good")
async def validate(request: Request, host: HostDep, caller: Caller) -> Json:
    """401 if it is not."""
    keys = sorted(credentials_of(request.headers))
    prefix = re.match(r"[a-z]+_[a-z0-9]{8}", keys[0]) if keys else None
    return Json({"valid": True, "key_prefix": prefix[0] if prefix else None, "space_id": _bound_space(caller)})


@router.post("/auth/keys", status_code=201, summary="Make a key")
async def create_key(host: HostDep, caller: Admin, body: NewKey) -> Json:
    """`raw_key` is shown here and never again."""
    wanted = TokenRequest(
        name=body.name,
        scopes=_KEY_SCOPES,
        spaces=((body.space_id, True),) if body.space_id else None,
        expires_at=body.expires_at,
        kind=TokenKind.SPACE_KEY,
    )
    issued = await host.call(host.administration.issue_token, caller, wanted)
    return Json({**_key(issued.token), "raw_key": issued.secret}, 201)


@router.get("/auth/keys", summary="List keys")
async def list_keys(host: HostDep, caller: Admin) -> Json:
    """Never their secrets."""
    found = [_key(token) for token in await _own_keys(host, caller)]
    return Json({"keys": found, "count": len(found), "total": len(found)})


@router.delete("/auth/keys/{key_id}", status_code=204, summary="Revoke a key")
async def delete_key(host: HostDep, caller: Admin, key_id: str) -> Response:
    """For good, at once."""
    await host.call(host.administration.revoke_token, caller, key_id)
    return Response(status_code=204)


async def _own_keys(host: Host, caller: Principal) -> list[Token]:
    found = await host.call(host.administration.tokens, caller)
    prefix = f"{TokenKind.SPACE_KEY.value}_"
    return [token for token in found if token.prefix.startswith(prefix) and token.revoked_at is None]


def _unlimited(used: int) -> dict[str, int]:
    return {"limit": UNLIMITED, "used": used, "remaining": UNLIMITED}


def _organization(found: Organisation) -> dict[str, Any]:
    return {
        "id": found.id,
        "slug": re.sub(r"[^a-z0-9]+", "-", found.name.casefold()).strip("-") or "org",
        "name": found.name,
        "plan": PLAN,
        "billing_email": None,
        "created_at": moment(found.created_at),
        "updated_at": moment(found.created_at),
        "member_count": found.member_count,
        "your_role": found.role,
    }


def _key(token: Token) -> dict[str, Any]:
    bound = token.space_rights[0].space_id if token.space_rights else None
    return {
        "id": token.id,
        "name": token.name,
        "key_prefix": token.prefix,
        "space_id": bound,
        "created_at": moment(token.created_at),
        "expires_at": moment(token.expires_at),
        "last_used_at": moment(token.last_used_at),
    }


def _bound_space(caller: Principal) -> str | None:
    rights = caller.space_rights
    return rights[0].space_id if rights is not None and len(rights) == 1 else None
