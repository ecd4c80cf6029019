"""Tool calls of a stdio server, run by an engine in the same process: for places without a second one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import structlog

from api.mcp_bodies import RestBodies
from engine.engine import Engine
from engine.settings import Settings
from engine.upkeep.administration import Administration
from mcp_profiles.call import Call, Doors
from mcp_profiles.dispatch import dispatch, failed
from mcp_profiles.profile import Profile

_FAULT = "Memvouch failed on its own account; stderr says more. This is not an answer."

log = structlog.get_logger("memvouch.mcp")


class EngineCalls:
    """`mcp_profiles.stdio.ToolCalls` on an engine of this process."""

    def __init__(self, settings: Settings, profile: Profile) -> None:
        """Opens the folder. Raises what `Engine.open` raises."""
        engine = Engine.open(settings)
        engine.ingest.start()
        self._doors = Doors(engine=engine, administration=Administration(engine.database), bodies=RestBodies())
        self._owner = engine.local_owner()
        self._profile = profile

    def prepare(self) -> None:
        """Let the model run once, so that the first question does not wait for it."""
        self._doors.engine.embedder.embed_query("ready")

    def close(self) -> None:
        """Let go of the folder."""
        self._doors.engine.close()

    def call(self, name: str, arguments: Mapping[str, Any], agent: str | None) -> Mapping[str, Any]:
        """The tool's result."""
        principal = replace(self._owner, agent_id=agent) if agent else self._owner
        call = Call(doors=self._doors, profile=self._profile, principal=principal)
        try:
            return dispatch(call, name, arguments).wire()
        except Exception:
            log.exception("a tool failed", tool=name, profile=self._profile.name)
            return failed(_FAULT).wire()
