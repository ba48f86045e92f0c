"""The address that harnesses are given: it takes the requests of runs, and nothing else.

It is meant for a socket in a private folder. Whoever reaches it without a run's token learns nothing.
"""

import json

from repertory.serving.gateway.client import Client, Receive, Scope, Send
from repertory.serving.gateway.endpoints import ENDPOINTS
from repertory.serving.gateway.gateway import Gateway
from repertory.serving.gateway.harness_runs import HarnessRuns
from repertory.serving.gateway.run_requests import RUN_PATHS
from repertory.serving.gateway.wire_errors import ApiShape, GatewayError

__all__ = ("RunDoor",)


class RunDoor:
    """An ASGI application in front of a gateway.

    Args:
        gateway: Carries the requests.
        runs: The runs under way.
    """

    def __init__(self, gateway: Gateway, runs: HarnessRuns) -> None:
        self._gateway = gateway
        self._runs = runs

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        path, method = str(scope["path"]), str(scope["method"])
        endpoint = ENDPOINTS.get(path)
        client = Client(scope, receive, send, endpoint.shape if endpoint is not None else ApiShape.OPENAI)
        try:
            if method == "HEAD" and path == "/":  # whether somebody is there
                await client.answer(200, b"")
                return
            run = self._runs.of(scope["headers"])
            if path == "/v1/models" and method == "GET":
                model = {"id": run.terms.agent, "object": "model", "created": 0, "owned_by": "repertory"}
                await client.answer(200, json.dumps({"object": "list", "data": [model]}).encode())
                return
            if path not in RUN_PATHS:
                raise GatewayError("an agent's call has no such endpoint", status=404, code="not_found")
        except GatewayError as error:
            await client.fail(error)
            return
        await self._gateway.carry_run(scope, receive, send, run)
