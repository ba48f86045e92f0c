"""Adds the faces of deployed agents to the server's application."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from repertory.server.agents.a2a.endpoints import A2AEndpoints
from repertory.server.agents.http_faces import mount_http_routes
from repertory.server.agents.mcp_endpoints import McpEndpoints
from repertory.server.agents.served_agents import ServedAgents
from repertory.serving.gateway.gateway import Gateway

__all__ = ("mount_agents",)


def mount_agents(app: FastAPI, gateway: Gateway, agents: ServedAgents) -> None:
    """Answer A2A, MCP and HTTP requests to deployed agents, behind the gateway's keys and limits."""
    mcp = McpEndpoints(agents, gateway)
    A2AEndpoints(agents, gateway).mount(app)
    mcp.mount(app)
    mount_http_routes(app, agents)
    inner = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(application: FastAPI) -> AsyncGenerator[None]:
        async with inner(application):
            try:
                yield
            finally:
                await mcp.aclose()
                # A signal may end the process before anything above the server is closed.
                await agents.calls.flush()

    app.router.lifespan_context = lifespan
