"""A project's view: what was written in its scope lately, and what answers a lasting question."""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.domain.access import Principal
from engine.domain.memory import Memory
from engine.domain.outcome import ContextPack, PackedItem
from engine.domain.query import LIST_ALL, ContextQuery, Filters, Mode, Query
from engine.engine import Engine
from engine.errors import InvalidRequest

SCOPE_PREFIX = "tenant:project:"
_PROJECT_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")


@dataclass(frozen=True, slots=True)
class ProjectContext:
    """`lately` are the newest records, `durable` what answers the lasting question, if one was asked.

    A record may be in both. Both together keep within the items and tokens that were allowed.
    """

    project_id: str
    scope: str
    lately: tuple[PackedItem, ...]
    durable: ContextPack | None

    @property
    def recent(self) -> tuple[Memory, ...]:
        """The records of `lately`, newest first."""
        return tuple(item.hit.memory for item in self.lately)

    @property
    def used_items(self) -> int:
        """How many records are in it."""
        return len({item.hit.memory.id for item in (*self.lately, *(self.durable.items if self.durable else ()))})

    @property
    def used_tokens(self) -> int:
        """How many tokens the texts have."""
        return sum(item.tokens for item in self.lately) + (self.durable.tokens if self.durable else 0)


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
    """Recent records of the project, newest first, and a pack for the lasting question, which gets at most half."""
    scope = scope_of(project_id)
    filters = Filters(scope=scope, team_id=team_id)

    def packed(text: str, items: int, tokens: int) -> ContextPack:
        query = Query(text=text, mode=Mode.FORGIVING, spaces=spaces, filters=filters)
        return engine.recall_context(principal, ContextQuery(query=query, max_items=items, max_tokens=tokens))

    durable = None
    if durable_query and durable_query.strip():
        durable = packed(durable_query, max(1, max_items // 2), max_tokens // 2)
    lately = packed(LIST_ALL, max_items, max_tokens - (durable.tokens if durable else 0)).items
    ids = {item.hit.memory.id for item in durable.items} if durable else set()
    shown = []
    for item in lately:
        if item.hit.memory.id in ids or len(ids) < max_items:
            shown.append(item)
            ids.add(item.hit.memory.id)
    return ProjectContext(project_id, scope, tuple(shown), durable)
