"""The faces of deployed agents: HTTP routes, A2A and MCP."""
