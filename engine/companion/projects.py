"""A project's view: what was written in its scope lately, and what answers a lasting question."""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.domain.access import Principal
from engine.domain.memory import Memory
from engine.domain.outcome import ContextPack
from engine.domain.query import ContextQuery, Filters, ListQuery, Mode, Query
from engine.engine import Engine
from engine.errors import InvalidRequest

SCOPE_PREFIX = "tenant:project:"
_PROJECT_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")


@dataclass(frozen=True, slots=True)
class ProjectContext:
    """`durable` is filled when a lasting question was asked."""

    project_id: str
    scope: str
    recent: tuple[Memory, ...]
    durable: ContextPack | None


def scope_of(project_id: str) -> str:
    """The scope in which a project's records lie. Raises `InvalidRequest` for a malformed id."""
    if not _PROJECT_ID.fullmatch(project_id):
        raise InvalidRequest("project_id has 1 to 128 letters, digits, _ or -", field="project_id")
    return SCOPE_PREFIX + project_id


def context(
    engine: Engine,
    principal: Principal,
    project_id: str,
    *,
    max_items: int = 8,
    max_tokens: int = 2000,
    durable_query: str | None = None,
    team_id: str | None = None,
    spaces: tuple[str, ...] = (),
) -> ProjectContext:
    """Recent records of the project, newest first, and a pack for the lasting question."""
    scope = scope_of(project_id)
    filters = Filters(scope=scope, team_id=team_id)
    recent = engine.list_memories(principal, ListQuery(spaces=spaces, filters=filters, limit=max_items)).memories
    durable = None
    if durable_query and durable_query.strip():
        query = Query(text=durable_query, mode=Mode.FORGIVING, spaces=spaces, filters=filters)
        durable = engine.recall_context(
            principal, ContextQuery(query=query, max_items=max_items, max_tokens=max_tokens)
        )
    return ProjectContext(project_id, scope, recent, durable)
