"""One tool call: who asks whom, and what a handler needs to know about both."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from engine.domain.access import Principal
from engine.domain.outcome import ContextPack, Explanation, Outcome
from engine.engine import Engine
from engine.upkeep.administration import Administration
from mcp_profiles.profile import Profile


class Bodies(Protocol):
    """The answers of the REST API as plain values, for tools that are asked for JSON."""

    def outcome(self, outcome: Outcome) -> Mapping[str, Any]: ...

    def pack(self, pack: ContextPack) -> Mapping[str, Any]: ...

    def explanation(self, explanation: Explanation, embedding: list[float] | None) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Doors:
    """What all calls of one server share."""

    engine: Engine
    administration: Administration
    bodies: Bodies


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of one tool.

    A client that lost the answer sends the call again with the same `idempotency_key` and
    `is_repeat`: the second run must not do twice what the first may have done.
    """

    doors: Doors
    profile: Profile
    principal: Principal
    idempotency_key: str | None = None
    is_repeat: bool = False

    @property
    def engine(self) -> Engine:
        return self.doors.engine

    def attributed(self, agent_id: str | None, instance_id: str | None) -> Call:
        """The same call in the name of the agent that the arguments name. Attribution only."""
        if not agent_id and not instance_id:
            return self
        digest = hashlib.sha256(instance_id.encode()).hexdigest() if instance_id else None
        return replace(
            self,
            principal=replace(
                self.principal,
                agent_id=agent_id or self.principal.agent_id,
                agent_instance_hash=digest or self.principal.agent_instance_hash,
            ),
        )

    def readable(self, team_id: str | None) -> tuple[str, ...]:
        """Ids of the spaces to read; empty means all that the caller may read. Raises `NotFound`."""
        return () if team_id is None else tuple(self._of_team(team_id))

    def writable(self, team_id: str | None) -> str | None:
        """The space to write to; `None` is the caller's default space. Raises `NotFound`."""
        return None if team_id is None else self._of_team(team_id)[0]

    def _of_team(self, team_id: str) -> list[str]:
        return [each.space.id for each in self.doors.administration.team_spaces(self.principal, team_id)]

    def space_names(self) -> dict[str, str]:
        """Names of the caller's spaces by id."""
        return {each.space.id: each.space.name for each in self.engine.spaces(self.principal)}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool answers: a text, and plain values beside it in the structured answer."""

    text: str
    values: Mapping[str, Any] = field(default_factory=dict)
