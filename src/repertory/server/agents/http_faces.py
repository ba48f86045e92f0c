"""HTTP routes of deployed agents, under `/agents/NAME/`."""

from fastapi import FastAPI, Request, Response

from repertory.errors import PackageError, RegistryError, SandboxError
from repertory.registry.http_routes import HttpRequest
from repertory.server.agents.callers import admitted, read_body
from repertory.server.agents.served_agents import ServedAgents, unavailable

__all__ = ("mount_http_routes",)

_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]


def mount_http_routes(app: FastAPI, agents: ServedAgents) -> None:
    """Answer the routes that manifests were granted."""

    async def answer(name: str, path: str, request: Request) -> Response:
        caller = await admitted(request, name)
        await agents.answering(name)
        incoming = HttpRequest(
            method=request.method,
            path=f"/{path}",
            query={key: request.query_params.getlist(key) for key in request.query_params},
            headers=dict(request.headers),
            body=await read_body(request),
        )
        try:
            reply = await agents.calls.http(name, incoming, user=caller.own_user)
        except (RegistryError, PackageError, SandboxError) as error:
            raise unavailable(name, error) from None
        return Response(reply.body, reply.status, dict(reply.headers))

    for method in _METHODS:
        app.add_api_route(
            "/agents/{name}/{path:path}",
            answer,
            methods=[method],
            tags=["agents"],
            summary="A route of a deployed agent.",
            operation_id=f"agent_route_{method.lower()}",
        )
