"""OAuth for MCP hosts and the device flow for terminals; the grants themselves are the MCP SDK's."""
