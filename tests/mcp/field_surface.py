"""The MCP tools as a surface for field cases: what an agent sees is what is checked.

Tools of the reading verbs go through the dispatcher of the `full` profile, `mcp` steps through that
of `claude`. A space that a step names becomes the only space of the caller, as a token would make
it. What is shown is parsed out of the text, not taken from the values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine.domain.access import Principal, SpaceRight
from engine.engine import Engine
from engine.errors import NotFound
from mcp_profiles.catalog import CATALOG
from mcp_profiles.dispatch import ToolResult
from tests.field_cases.accounts import open_accounts
from tests.field_cases.cases import Case
from tests.field_cases.engine_surface import EngineSurface, EngineWorld
from tests.field_cases.surface import Arrangement, Reply, Shown
from tests.mcp.surfaces import Desk

TOOLS = {"search_memory": "search_memory", "recall": "recall", "recall_context": "recall_context"}
_ID = re.compile(r"^\[\d+\] id=(\S+)$")


def can_be_played(case: Case) -> bool:
    """Whether every step of a case can be asked through a tool, parameters and all."""
    for step in case.steps:
        if step.verb == "mcp":
            if step.arguments.get("method") != "tools/call":
                return False
        elif step.verb in TOOLS:
            tool = CATALOG[TOOLS[step.verb]]
            # The agent of a read is the caller here, over the engine it is a filter.
            known = {each.name for each in tool.parameters} - {"agent_id"} | {"space"}
            if not set(step.arguments) <= known:
                return False
        else:
            return False
    return not case.is_procedure


class McpSurface(EngineSurface):
    """Worlds whose reads go through MCP tools."""

    def world(
        self, spaces: Sequence[str], actors: Mapping[str, Mapping[str, str]], arrangement: Arrangement
    ) -> McpWorld:
        return McpWorld(self.engine, open_accounts(self.engine, spaces, actors, arrangement))


class McpWorld(EngineWorld):
    """One case's spaces and actors, asked through tools."""

    def call(self, actor: str | None, verb: str, arguments: Mapping[str, Any]) -> Reply:
        principal = self.accounts.principal(actor)
        if verb == "mcp":
            result = Desk(self.engine, principal).send(arguments["name"], arguments["arguments"], "claude")
            return reply(result)
        given = dict(arguments)
        space = given.pop("space", None)
        try:
            caller = principal if space in (None, "", "null") else only_in(self.engine, principal, str(space))
        except NotFound as error:
            return Reply("error", text=str(error), http=404)
        return reply(Desk(self.engine, caller).send(TOOLS[verb], given, "full"))


def only_in(engine: Engine, principal: Principal, name: str) -> Principal:
    """The caller with a token for one space only. Raises `NotFound` for a space that is not readable."""
    found = engine.space(principal, name)
    return replace(principal, space_rights=(SpaceRight(found.space.id, found.can_write),))


def reply(result: ToolResult) -> Reply:
    """What the agent has read, in the terms of the cases."""
    text = json.dumps(result.wire(), ensure_ascii=False)
    if result.is_error:
        return Reply("error", text=text, raw=result)
    shown = tuple(_shown(block, result) for block in result.text.split("\n\n") if _ID.match(block.split("\n")[0]))
    budget = result.values.get("budget", {})
    is_empty = not shown and not result.values.get("matched")
    return Reply(
        "no_match" if is_empty else "ok",
        hits=shown,
        text=text,
        rendered=result.text if budget and shown else None,
        reported_tokens=budget.get("used_tokens"),
        raw=result,
    )


def _shown(block: str, result: ToolResult) -> Shown:
    head, *lines = block.split("\n")
    match = _ID.match(head)
    assert match is not None
    confidences = {hit["id"]: hit["confidence"] for hit in result.values["hits"]}
    content = "\n".join(lines).partition("content: ")[2]
    return Shown(match[1], content, confidences[match[1]])
