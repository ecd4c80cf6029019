"""Every tool that a profile can list, by name. Declarations only: nothing here loads the engine."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from mcp_profiles.catalog import asking, companion, crosmos, writing
from mcp_profiles.tool import Tool

CATALOG: Mapping[str, Tool] = MappingProxyType(
    {tool.name: tool for tool in (*asking.TOOLS, *writing.TOOLS, *companion.TOOLS, *crosmos.TOOLS)}
)
