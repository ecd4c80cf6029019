"""A profile as a server of the MCP SDK: schemas and texts are ours, the protocol is the SDK's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server

from mcp_profiles import listing
from mcp_profiles.dispatch import ToolResult
from mcp_profiles.profile import Profile

RunTool: TypeAlias = Callable[[Any, str, Mapping[str, Any]], Awaitable[ToolResult]]
"""Runs one tool: the transport's request, the tool's name, the arguments."""


def build(profile: Profile, run: RunTool) -> Server[dict[str, Any]]:
    """The server of a profile. `run` decides who calls, by the transport's request."""
    info = listing.server_info(profile)
    tools = types.ListToolsResult.model_validate({"tools": listing.tools(profile)})

    async def list_tools(
        context: ServerRequestContext[dict[str, Any]], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return tools

    async def call_tool(
        context: ServerRequestContext[dict[str, Any]], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        result = await run(context.request, params.name, params.arguments or {})
        return types.CallToolResult.model_validate(result.wire())

    return Server(
        info["name"],
        version=info["version"],
        title=info["title"],
        instructions=profile.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
