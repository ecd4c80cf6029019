"""The REST bodies that MCP tools give on `output_json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.xmemo.items import memory_item, outcome_body
from api.xmemo.memories import explanation_body
from api.xmemo.recall import pack_body
from engine.domain.outcome import ContextPack, Explanation, Outcome


class RestBodies:
    """`mcp_profiles.call.Bodies`, as the REST routes answer."""

    def outcome(self, outcome: Outcome) -> Mapping[str, Any]:
        return outcome_body(outcome, explain=False, scope=None)

    def pack(self, pack: ContextPack) -> Mapping[str, Any]:
        return pack_body(pack, explain=False, scope=None)

    def explanation(self, explanation: Explanation, embedding: list[float] | None) -> Mapping[str, Any]:
        body = {"memory": memory_item(explanation.memory), "explanation": explanation_body(explanation)}
        return body if embedding is None else {**body, "embedding": embedding}
