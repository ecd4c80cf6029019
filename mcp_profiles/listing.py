"""What a profile answers without an engine: who the server is, and which tools there are.

Plain values as they go over the wire. The stdio server sends them before any model is loaded; the
HTTP server hands the same to the SDK.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from mcp_profiles.parameter import object_schema
from mcp_profiles.profile import Exposure, Profile
from mcp_profiles.tool import OUTPUT_SCHEMA

SERVER_NAME = "memvouch"


def server_info(profile: Profile) -> dict[str, Any]:
    """Name, title and version of the server, under its own name in every profile."""
    return {"name": SERVER_NAME, "title": profile.title, "version": version("memvouch")}


def tools(profile: Profile) -> list[dict[str, Any]]:
    """The entries of `tools/list`, in the profile's order."""
    return [_entry(each, bounds=profile.schema_bounds) for each in profile.exposures]


def _entry(exposure: Exposure, *, bounds: bool) -> dict[str, Any]:
    return {
        "name": exposure.name,
        "description": exposure.description,
        "inputSchema": object_schema(exposure.parameters, bounds=bounds),
        "outputSchema": OUTPUT_SCHEMA,
        "annotations": exposure.tool.annotations(),
    }
