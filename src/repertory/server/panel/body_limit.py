"""Bodies of requests to the panel have an end: whoever sends more, or never comes to it, is refused."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.exceptions import HTTPException

from repertory.server.panel.failures import failure, is_panel
from repertory.serving.gateway.wire_errors import GatewayError

__all__ = ("MOST_BYTES", "BodyLimit")

MOST_BYTES = 1024 * 1024
BODY_S = 30.0

_Scope = dict[str, Any]
_Receive = Callable[[], Awaitable[dict[str, Any]]]
_Send = Callable[[dict[str, Any]], Awaitable[None]]


class BodyLimit:
    """Refuses bodies of more than a MiB, whether their length is told before or not, and those that take too long."""

    def __init__(self, app: Callable[[_Scope, _Receive, _Send], Awaitable[None]]) -> None:
        self._app = app

    async def __call__(self, scope: _Scope, receive: _Receive, send: _Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or not is_panel(scope["path"]):
            await self._app(scope, receive, send)
            return
        told = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if not told.isdigit() or len(told) > 18 or int(told) > MOST_BYTES:
            message = f"a body may have {MOST_BYTES:,} bytes"
            error = GatewayError(message, status=413, code="too_large")
            await failure(error)(scope, receive, send)  # pyright: ignore[reportArgumentType] - Starlette's own types
            return
        size, whole = 0, False
        until = asyncio.get_running_loop().time() + BODY_S

        async def counted() -> dict[str, Any]:
            nonlocal size, whole
            if whole:  # what is waited for now is that the client leaves
                return await receive()
            try:
                async with asyncio.timeout_at(until):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, f"the body did not come within {BODY_S:g} s") from None
            whole = not message.get("more_body", False)
            size += len(message.get("body", b""))
            if size > MOST_BYTES:
                raise HTTPException(413, f"a body may have {MOST_BYTES:,} bytes")
            return message

        await self._app(scope, counted, send)
