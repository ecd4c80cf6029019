"""The published client `hermes-xmemo`, as its host would load it.

Its package imports a few modules of that host. They get the smallest stand-ins, with the names that
the client asks for; the client itself is unmodified.
"""

from __future__ import annotations

import importlib
import json
import sys
import types
from pathlib import Path
from typing import Any

import pytest


class Hermes:
    """One provider with a home of its own, so that its cache and its circuit breaker start fresh."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, home: Path, url: str, token: str, **settings: str) -> None:
        home.mkdir(parents=True, exist_ok=True)
        _install_stand_ins(monkeypatch, home)
        for name, value in {
            "XMEMO_URL": url,
            "XMEMO_KEY": token,
            "XMEMO_ENABLE_TOOLS": "true",
            "XMEMO_ENABLE_WORKFLOW_TOOLS": "true",
            "XMEMO_ENABLE_DESTRUCTIVE_TOOLS": "true",
            "XMEMO_TIMEOUT_SECONDS": "30",
            **settings,
        }.items():
            monkeypatch.setenv(name, value)
        module = importlib.import_module("hermes_xmemo.xmemo")
        self.provider: Any = module.XMemoMemoryProvider()
        self.provider.initialize("session-1")

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The answer of one tool, decoded."""
        return dict(json.loads(self.provider.handle_tool_call(tool, arguments)))

    def close(self) -> None:
        """End the provider as its host would."""
        self.provider.shutdown()


def _install_stand_ins(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    agent, memory_provider = types.ModuleType("agent"), types.ModuleType("agent.memory_provider")
    memory_provider.MemoryProvider = type("MemoryProvider", (), {})  # type: ignore[attr-defined]
    tools, registry = types.ModuleType("tools"), types.ModuleType("tools.registry")
    registry.tool_error = lambda message: json.dumps({"error": message})  # type: ignore[attr-defined]
    constants = types.ModuleType("hermes_constants")
    constants.get_hermes_home = lambda: home  # type: ignore[attr-defined]
    for module in (agent, memory_provider, tools, registry, constants):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    for name in [name for name in sys.modules if name.partition(".")[0] == "hermes_xmemo"]:
        monkeypatch.delitem(sys.modules, name)
