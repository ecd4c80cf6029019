"""The dispatcher on an engine of this process: what every transport stands on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from api.mcp_bodies import RestBodies
from engine.domain.access import Principal
from engine.engine import Engine
from engine.upkeep.administration import Administration
from mcp_profiles.call import Call, Doors
from mcp_profiles.dispatch import ToolResult, dispatch
from mcp_profiles.profile import Profile, load


class Desk:
    """Calls tools of any profile as one principal."""

    def __init__(self, engine: Engine, principal: Principal | None = None) -> None:
        self.engine = engine
        self.principal = principal or engine.local_owner()
        self._doors = Doors(engine=engine, administration=Administration(engine.database), bodies=RestBodies())

    def call(
        self,
        tool: str,
        /,
        profile: str | Profile = "full",
        *,
        key: str | None = None,
        again: bool = False,
        **arguments: Any,
    ) -> ToolResult:
        """The result of a tool, good or bad."""
        return self.send(tool, arguments, profile, key=key, again=again)

    def send(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        profile: str | Profile = "full",
        *,
        key: str | None = None,
        again: bool = False,
    ) -> ToolResult:
        """The same with arguments of any name."""
        declaration = load(profile) if isinstance(profile, str) else profile
        call = Call(
            doors=self._doors,
            profile=declaration,
            principal=self.principal,
            idempotency_key=key,
            is_repeat=again,
        )
        return dispatch(call, tool, arguments)

    def values(self, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """The structured answer of a tool of the full profile that must succeed."""
        result = self.send(tool, arguments)
        assert not result.is_error, result.text
        return result.values

    def as_agent(self, agent: str) -> Desk:
        """The same for another agent of the same user."""
        return Desk(self.engine, replace(self.principal, agent_id=agent))


def found(result: ToolResult) -> list[str]:
    """Ids of the hits of a result, best first."""
    assert not result.is_error, result.text
    return [hit["id"] for hit in result.values["hits"]]
