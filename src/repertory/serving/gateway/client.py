"""The gateway's side of one request from a client: its body, its leaving, and the answer."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from repertory.serving.gateway.wire_errors import ApiShape, GatewayError, error_body, error_event

__all__ = ("Client", "Receive", "Scope", "Send")

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Headers = Sequence[tuple[bytes, bytes]]

_JSON = (b"content-type", b"application/json; charset=utf-8")
_EVENTS: Headers = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),
)
_SLOW_CLIENT_S = 120.0


class Client:
    """One request.

    Args:
        scope: ASGI's description of it.
        receive: ASGI's way to read it.
        send: ASGI's way to answer it.
        shape: Whose JSON errors are told in.

    Attributes:
        left: The client went away before the answer's end.
        stopped: Why the gateway ended the request before its time.
        headers: Go with every answer.
    """

    def __init__(self, scope: Scope, receive: Receive, send: Send, shape: ApiShape) -> None:
        self.scope = scope
        self.shape = shape
        self.left = False
        self.stopped: GatewayError | None = None
        self.headers: list[tuple[bytes, bytes]] = []
        self.status = 0
        self._receive = receive
        self._send = send
        self._task = asyncio.current_task()
        self._watcher: asyncio.Task[None] | None = None
        self._done = False
        self._body_read = scope["method"] in {"GET", "HEAD"}

    def header(self, name: bytes) -> bytes | None:
        """The first header of that name (in lower case)."""
        for found, value in self.scope["headers"]:
            if found == name:
                return value
        return None

    async def read_body(self, *, limit: int, within_s: float) -> bytes:
        """The whole body.

        Raises:
            GatewayError: It is too large, or does not come.
        """
        length = self.header(b"content-length")
        if length is not None and length.isdigit() and int(length[:20]) > limit:
            raise _too_large(limit)
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(within_s):
                while True:
                    message = await self._receive()
                    if message["type"] == "http.disconnect":
                        self.left = True
                        raise asyncio.CancelledError
                    part = message.get("body", b"")
                    size += len(part)
                    if size > limit:
                        raise _too_large(limit)
                    parts.append(part)
                    if not message.get("more_body", False):
                        self._body_read = True
                        return parts[0] if len(parts) == 1 else b"".join(parts)
        except TimeoutError:
            message = f"the body did not come within {within_s:g} s"
            raise GatewayError(message, status=408, code="body_timeout") from None

    def watch(self) -> None:
        """From now on, cancel the task that answers when the client leaves; the body must have been read."""
        self._watcher = asyncio.get_running_loop().create_task(self._watch())

    def stop(self, reason: GatewayError) -> None:
        """End the request; the client is told why."""
        if self.stopped is None and not self._done and self._task is not None:
            self.stopped = reason
            self._task.cancel()

    async def answer(
        self, status: int, body: bytes, headers: Headers = (), *, content_type: bytes | None = None
    ) -> None:
        """Send a whole answer."""
        first = _JSON if content_type is None else (b"content-type", content_type)
        size = (b"content-length", str(len(body)).encode())
        self.status = status
        await self._send(
            {"type": "http.response.start", "status": status, "headers": [first, size, *headers, *self.headers]}
        )
        self._done = True
        await self._send({"type": "http.response.body", "body": body})

    async def answer_json(self, status: int, document: object) -> None:
        """Send a JSON value as a whole answer."""
        await self.answer(status, json.dumps(document, ensure_ascii=False).encode("utf-8", "replace"))

    async def start_events(self) -> None:
        """Begin a stream of events."""
        self.status = 200
        await self._send({"type": "http.response.start", "status": 200, "headers": [*_EVENTS, *self.headers]})

    async def write(self, data: bytes) -> None:
        """Send a part of a stream.

        Raises:
            TimeoutError: The client takes nothing any more.
        """
        async with asyncio.timeout(_SLOW_CLIENT_S):
            await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def finish(self) -> None:
        """End a stream."""
        self._done = True
        await self._send({"type": "http.response.body", "body": b""})

    async def fail(self, error: GatewayError) -> None:
        """Tell an error: as the answer, or as the last event of a stream that has begun."""
        if self._done or self.left:
            return
        if self.status:
            await self.write(error_event(error, self.shape))
            await self.finish()
        else:
            # What is left of a body is not taken in, however long it is.
            headers = error.headers if self._body_read else [*error.headers, (b"connection", b"close")]
            await self.answer(error.status, error_body(error, self.shape), headers)

    def close(self) -> None:
        """Stop watching."""
        self._done = True
        if self._watcher is not None and not self._watcher.done():
            self._watcher.cancel()

    async def _watch(self) -> None:
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                break
        if not self._done and self._task is not None:
            self.left = True
            self._task.cancel()


def _too_large(limit: int) -> GatewayError:
    message = f"the body is larger than {limit // 2**20} MiB"
    return GatewayError(message, status=413, code="body_too_large")
