"""The HTTP application: the gateway on its own fast way, and FastAPI for everything else.

Other faces (the dashboard, agents) add their routers to the application that `create_app` returns; every request has
passed the host check, and `caller_of` says who sent it.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib import metadata
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from repertory.errors import RepertoryError
from repertory.server.openapi import describe_gateway
from repertory.server.panel.failures import failure, is_panel
from repertory.serving.api_keys import Caller
from repertory.serving.gateway.gateway import Gateway
from repertory.serving.gateway.wire_errors import ApiShape, GatewayError, as_gateway_error, error_body

__all__ = ("admin_of", "caller_of", "create_app")

_Scope = dict[str, Any]
_Receive = Callable[[], Awaitable[dict[str, Any]]]
_Send = Callable[[dict[str, Any]], Awaitable[None]]


class _FrontDoor:
    """Checks the host of every request, and hands the gateway's paths to the gateway."""

    def __init__(self, app: Callable[[_Scope, _Receive, _Send], Awaitable[None]], gateway: Gateway) -> None:
        self._app = app
        self._gateway = gateway

    async def __call__(self, scope: _Scope, receive: _Receive, send: _Send) -> None:
        if scope["type"] == "http":
            try:
                self._gateway.access.check_host(scope["headers"])
            except GatewayError as error:
                await _refuse(send, error)
                return
            if self._gateway.handles(scope["path"]):
                await self._gateway(scope, receive, send)
                return
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})  # nothing here speaks it
            return
        await self._app(scope, receive, send)


async def _refuse(send: _Send, error: GatewayError) -> None:
    body = error_body(error, ApiShape.OPENAI)
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def create_app(gateway: Gateway, *, alongside: AbstractAsyncContextManager[object] | None = None) -> FastAPI:
    """The application.

    Args:
        gateway: Answers `/v1`.
        alongside: Entered at start and left at the end, on the server's event loop.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        if alongside is None:
            yield
        else:
            async with alongside:
                yield
        await gateway.aclose()

    app = FastAPI(
        title="Repertory",
        version=metadata.version("repertory"),
        description="Teams of agents and the models they play on, behind OpenAI's and Anthropic's APIs.",
        docs_url=None,  # the pages would load scripts from elsewhere
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.gateway = gateway
    app.add_middleware(_FrontDoor, gateway=gateway)
    app.add_exception_handler(RepertoryError, _tell)
    describe_gateway(app)

    @app.get("/healthz", tags=["operation"])
    async def healthz() -> dict[str, str]:
        """Whether the process answers."""
        return {"status": "ok"}

    @app.get("/readyz", tags=["operation"])
    async def readyz() -> JSONResponse:
        """Whether requests are taken and an instance answers; 503 when not."""
        if gateway.draining:
            return JSONResponse({"status": "shutting down"}, 503)
        return JSONResponse({"status": "ok"}) if gateway.ready else JSONResponse({"status": "no instance answers"}, 503)

    @app.get("/metrics", tags=["operation"], response_class=Response)
    async def metrics(request: Request) -> Response:
        """What Prometheus reads; with keys, it needs an admin key."""
        await admin_of(request)
        return Response(gateway.metrics.render(), media_type=gateway.metrics.content_type)

    # Registered by the decorators.
    del healthz, readyz, metrics
    return app


async def caller_of(request: Request) -> Caller:
    """Who sends a request, for routes beside the gateway's.

    Raises:
        GatewayError: The key is missing or not valid.
    """
    gateway: Gateway = request.app.state.gateway
    return await gateway.access.caller(request.scope["headers"])


async def admin_of(request: Request) -> Caller:
    """Who sends a request that only an admin key may send.

    Raises:
        GatewayError: The key is missing, not valid, or no admin's.
    """
    caller = await caller_of(request)
    if not caller.is_admin:
        raise GatewayError("this needs an admin key", status=403, code="admin_only")
    return caller


async def _tell(request: Request, error: Exception) -> Response:
    if is_panel(request.url.path) and isinstance(error, RepertoryError):
        return failure(error)
    told = as_gateway_error(error) if isinstance(error, RepertoryError) else GatewayError("failed", code="internal")
    headers = {name.decode(): value.decode() for name, value in told.headers}
    return Response(error_body(told, ApiShape.OPENAI), told.status, headers, "application/json")
