"""`/admin/...`: users, tokens, teams, spaces and the audit of the caller's tenant.

`memory:admin` administers the tenant; an owner of a team may manage its members without it. What
belongs to another tenant is not found.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Path, Query

from api.admin.models import AuditParams, MemberBody, SpaceBody, TeamBody, TokenBody, UserBody
from api.deps import Admin, Caller, Deleter, HostDep, Reader, Writer
from api.xmemo.items import moment
from api.xmemo.responses import Json, example, xmemo_router
from engine.domain.access import ReadableSpace, Space, Team
from engine.upkeep.administration import TokenRequest, User, public_view

router = xmemo_router("admin")

Ref = Annotated[str, Path(min_length=1, max_length=255)]
_ID = "0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4b"


@router.post("/admin/tokens", summary="Issue a token", responses=example({"id": _ID, "token": "shown once"}))
async def create_token(host: HostDep, caller: Admin, body: TokenBody) -> Json:
    """The answer holds the secret; it is stored as a hash only and cannot be shown again."""
    issued = await host.call(
        host.administration.issue_token,
        caller,
        TokenRequest(
            name=body.name,
            user_id=body.user_id,
            scopes=body.scopes,
            spaces=None if body.spaces is None else tuple((each.space, each.can_write) for each in body.spaces),
            expires_at=body.expires_at,
            kind=body.kind,
        ),
    )
    return Json({**public_view(issued.token), "token": issued.secret})


@router.get("/admin/tokens", summary="List the tokens of the tenant", responses=example({"tokens": []}))
async def list_tokens(host: HostDep, caller: Admin) -> Json:
    """By prefix, never with secrets."""
    found = await host.call(host.administration.tokens, caller)
    return Json({"tokens": [dict(public_view(token)) for token in found]})


@router.delete("/admin/tokens/{ref}", summary="Revoke a token", responses=example({"id": _ID}))
async def revoke_token(host: HostDep, caller: Admin, ref: Ref) -> Json:
    """By id or prefix; it is refused from the next request on."""
    return Json(dict(public_view(await host.call(host.administration.revoke_token, caller, ref))))


@router.get("/admin/users", summary="List the users of the tenant", responses=example({"users": []}))
async def list_users(host: HostDep, caller: Admin) -> Json:
    """Oldest first."""
    return Json({"users": [_user(user) for user in await host.call(host.administration.users, caller)]})


@router.post("/admin/users", summary="Make a user", responses=example({"id": _ID, "name": "ada"}))
async def create_user(host: HostDep, caller: Admin, body: UserBody) -> Json:
    """A user of that name that exists already is the answer too. A new one gets a space of its name."""
    return Json(_user(await host.call(host.administration.user_named, caller, body.name, create=True)))


@router.get("/admin/teams", summary="List teams", responses=example({"teams": []}))
async def list_teams(host: HostDep, caller: Caller) -> Json:
    """All of the tenant for an administrator, else those that the caller is in."""
    return Json({"teams": [_team(team) for team in await host.call(host.administration.teams, caller)]})


@router.post("/admin/teams", summary="Make a team", responses=example({"id": _ID, "name": "platform"}))
async def create_team(host: HostDep, caller: Admin, body: TeamBody) -> Json:
    """With the caller as its owner, and a space of the same name."""
    return Json(_team(await host.call(host.administration.create_team, caller, body.name)))


@router.delete("/admin/teams/{team}", summary="Delete a team without spaces", responses=example({"id": _ID}))
async def delete_team(host: HostDep, caller: Deleter, team: Ref) -> Json:
    """409 while it has spaces."""
    return Json(_team(await host.call(host.administration.delete_team, caller, team)))


@router.get("/admin/teams/{team}/members", summary="List the members", responses=example({"members": []}))
async def list_members(host: HostDep, caller: Caller, team: Ref) -> Json:
    """Users and their roles."""
    found = await host.call(host.administration.members, caller, team)
    return Json({"members": [{"user_id": each.user_id, "role": each.role.value} for each in found]})


@router.put(
    "/admin/teams/{team}/members/{user_id}",
    summary="Make a user a member, or change a role",
    responses=example({"user_id": _ID, "role": "writer"}),
)
async def set_member(host: HostDep, caller: Writer, team: Ref, user_id: Ref, body: MemberBody) -> Json:
    """For owners of the team and administrators."""
    member = await host.call(host.administration.set_role, caller, team, user_id, body.role)
    return Json({"user_id": member.user_id, "role": member.role.value})


@router.delete("/admin/teams/{team}/members/{user_id}", summary="Take a user out", responses=example({"user_id": _ID}))
async def remove_member(host: HostDep, caller: Writer, team: Ref, user_id: Ref) -> Json:
    """For owners of the team and administrators; a team keeps at least one owner."""
    await host.call(host.administration.remove_member, caller, team, user_id)
    return Json({"user_id": user_id})


@router.get("/admin/spaces", summary="List the spaces that the token may read", responses=example({"spaces": []}))
async def list_spaces(host: HostDep, caller: Reader) -> Json:
    """Oldest first, each with the reason."""
    return Json({"spaces": [_readable(each) for each in await host.call(host.engine.spaces, caller)]})


@router.post("/admin/spaces", summary="Make a space", responses=example({"id": _ID, "name": "builds"}))
async def create_space(host: HostDep, caller: Admin, body: SpaceBody) -> Json:
    """Of the caller, or of a team that the caller owns."""
    space = await host.call(
        host.engine.create_space,
        caller,
        body.name,
        description=body.description,
        metadata=body.metadata,
        team_id=body.team_id,
    )
    return Json(_space(space))


@router.delete("/admin/spaces/{ref}", summary="Delete a space with all that is in it", responses=example({"id": _ID}))
async def delete_space(host: HostDep, caller: Admin, ref: Ref) -> Json:
    """For good. Only for whoever may manage it."""
    return Json(_space(await host.call(host.engine.delete_space, caller, ref)))


@router.get("/admin/audit", summary="Who wrote, deleted and permitted what", responses=example({"entries": []}))
async def audit(host: HostDep, caller: Admin, params: Annotated[AuditParams, Query()]) -> Json:
    """Newest first; entries are only ever added. `next_before` turns the page."""
    found = await host.call(
        host.administration.audit_trail,
        caller,
        target=params.target,
        limit=params.limit,
        before_sequence=params.before,
    )
    entries: list[dict[str, Any]] = [{**asdict(entry), "at": moment(entry.at)} for entry in found]
    return Json({"entries": entries, "next_before": found[-1].sequence if len(found) == params.limit else None})


def _user(user: User) -> dict[str, Any]:
    return {"id": user.id, "name": user.name, "created_at": moment(user.created_at)}


def _team(team: Team) -> dict[str, Any]:
    return {"id": team.id, "name": team.name, "created_at": moment(team.created_at)}


def _space(space: Space) -> dict[str, Any]:
    return {
        "id": space.id,
        "name": space.name,
        "description": space.description,
        "metadata": dict(space.metadata),
        "team_id": space.team_id,
        "created_at": moment(space.created_at),
        "updated_at": moment(space.updated_at),
    }


def _readable(each: ReadableSpace) -> dict[str, Any]:
    return {**_space(each.space), "reason": each.reason, "can_write": each.can_write}
