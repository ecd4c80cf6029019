"""`POST /projects/{project_id}/context`: what a project's scope holds, in a budget."""

from __future__ import annotations

from typing import Any

from fastapi import Request

from api.deps import HostDep, Reader
from api.xmemo import places
from api.xmemo.companion.models import ProjectBody
from api.xmemo.items import hit_item
from api.xmemo.recall import pack_body, refuse_query_string
from api.xmemo.responses import Json, example, xmemo_router
from engine.companion import projects
from engine.domain.access import Principal
from engine.domain.outcome import PackedItem

router = xmemo_router("projects")

_EXAMPLE = {
    "project_scope": {
        "owner_id": "0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4b",
        "project_id": "atlas",
        "organization_id": "0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4c",
        "workspace_id": None,
        "team_id": None,
        "scope_key": "tenant:project:atlas",
    },
    "recent_memories": [{"id": "0190a6e2-7c1e-7b2a-9a55-3f2f6c1d8e4d", "content": "The parser is written in Rust."}],
    "durable_context": {},
    "budget": {"used_items": 1, "max_items": 8, "used_tokens": 31, "max_tokens": 2000},
}


@router.post(
    "/projects/{project_id}/context", summary="What a project's scope holds, in a budget", responses=example(_EXAMPLE)
)
async def project_context(
    request: Request, host: HostDep, caller: Reader, project_id: str, body: ProjectBody | None = None
) -> Json:
    """Its newest records and, for a `durable_query`, what answers that; each record at most once in the budget."""
    refuse_query_string(request)
    body = body or ProjectBody()
    found = await host.call(
        projects.context,
        host.engine,
        caller,
        project_id,
        max_items=body.max_items,
        max_tokens=body.max_tokens,
        durable_query=body.durable_query,
        spaces=await places.readable(host, caller, body.space, body.team_id),
    )
    durable = {} if found.durable is None else pack_body(found.durable, explain=False, scope=found.scope)
    return Json(
        {
            "project_scope": _scope(caller, found),
            "scope": found.scope,
            "recent_memories": [_item(item) for item in found.lately],
            "durable_context": durable,
            "budget": {
                "used_items": found.used_items,
                "max_items": body.max_items,
                "used_tokens": found.used_tokens,
                "max_tokens": body.max_tokens,
            },
        }
    )


def _scope(caller: Principal, found: projects.ProjectContext) -> dict[str, Any]:
    return {
        "owner_id": caller.user_id,
        "project_id": found.project_id,
        "organization_id": caller.tenant_id,
        "workspace_id": None,
        "team_id": None,
        "scope_key": found.scope,
    }


def _item(item: PackedItem) -> dict[str, Any]:
    """A record with its text as it fits into the budget."""
    return hit_item(item.hit) | {"content": item.text, "tokens": item.tokens, "truncated": item.truncated}
