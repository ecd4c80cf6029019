"""One tool of the catalogue: what it is called, what it does, which parameters it knows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from mcp_profiles.parameter import Parameter


class Effect(StrEnum):
    """What calling a tool does to what is stored."""

    READS = "reads"
    WRITES = "writes"
    DESTROYS = "destroys"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool with every parameter that any profile may expose."""

    name: str
    title: str
    description: str
    effect: Effect
    parameters: tuple[Parameter, ...] = ()

    def parameter(self, name: str) -> Parameter | None:
        """Its parameter of this name."""
        return next((each for each in self.parameters if each.name == name), None)

    def annotations(self) -> dict[str, bool]:
        """The hints of MCP, true to the effect. Nothing here reaches beyond the own store."""
        hints = {
            "readOnlyHint": self.effect is Effect.READS,
            "destructiveHint": self.effect is Effect.DESTROYS,
            "openWorldHint": False,
        }
        return hints | {"idempotentHint": True} if self.effect is Effect.READS else hints


OUTPUT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"result": {"type": "string"}},
    "required": ["result"],
}
"""Every structured answer holds its text as `result`, and what belongs to the tool beside it."""
