"""The kept connections to one engine."""

import asyncio
import ssl
from collections import deque
from urllib.parse import urlsplit

from repertory.engines.failures import EngineFaultError
from repertory.errors import EngineUnavailableError, UsageError
from repertory.serving.gateway.engine_connection import EngineConnection, Headers

__all__ = ("EnginePool",)

_CONNECT_S = 5.0
_KEEP_S = 4.0
"""How long an idle connection is kept: uvicorn, which most engines use, closes its own after five seconds."""
_MAX_IDLE = 256
_PORTS = {"http": 80, "https": 443}


class EnginePool:
    """Opens and keeps connections to one engine.

    Args:
        base_url: Its address, without `/v1` at the end; a path in it goes before every target.

    Raises:
        UsageError: It is no http address.
    """

    def __init__(self, base_url: str) -> None:
        try:
            parts = urlsplit(base_url)
            port = parts.port
        except ValueError:
            parts, port = None, None
        if parts is None or parts.scheme not in _PORTS or not parts.hostname:
            message = f"not an address of an engine: {base_url!r}"
            raise UsageError(message, hint="write it as http://127.0.0.1:8000/v1")
        self.base_url = base_url
        self._host = parts.hostname
        self._port = port or _PORTS[parts.scheme]
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._path = parts.path.rstrip("/")
        shown = f"[{self._host}]" if ":" in self._host else self._host
        self._host_header = (shown if port is None else f"{shown}:{port}").encode("ascii", "replace")
        self._idle: deque[EngineConnection] = deque()
        self._closed = False

    async def send(
        self, method: str, path: str, headers: Headers, body: bytes, *, first_byte_s: float
    ) -> EngineConnection:
        """Send a request and wait for the answer's status and headers.

        A kept connection that the engine has closed in the meantime is replaced once; that is no retry of a request
        that an engine has seen.

        Raises:
            EngineUnavailableError: Nothing answers, or the connection broke before it answered.
            EngineTimeoutError: No answer came in time.
        """
        every = [(b"host", self._host_header), *headers, (b"content-length", str(len(body)).encode())]
        while True:
            connection = self._kept() or await self._connect()
            connection.send(method, self._path + path, every, body, first_byte_s=first_byte_s)
            try:
                await connection.answer()
            except EngineFaultError:
                connection.release()
                if connection.reused:
                    continue
                raise
            except BaseException:
                connection.release()
                raise
            return connection

    def close(self) -> None:
        """Close the connections that nobody uses now, and the others once they are free."""
        self._closed = True
        while self._idle:
            self._idle.pop().abort()

    async def aclose(self) -> None:
        """Close as `close` does, and let the event loop do it."""
        self.close()
        await asyncio.sleep(0)

    def _kept(self) -> EngineConnection | None:
        limit = asyncio.get_running_loop().time() - _KEEP_S
        while self._idle:
            connection = self._idle.pop()
            if connection.usable and connection.idle_since > limit:
                return connection
            connection.abort()
        return None

    async def _connect(self) -> EngineConnection:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_CONNECT_S):
                _, connection = await loop.create_connection(
                    lambda: EngineConnection(self.base_url, self._keep), self._host, self._port, ssl=self._tls
                )
        except TimeoutError:
            message = f"no connection to {self.base_url} within {_CONNECT_S:g} s"
            raise EngineUnavailableError(message, where=self.base_url) from None
        except OSError as error:
            message = f"nothing answers at {self.base_url} ({error.strerror or error})"
            raise EngineUnavailableError(message, where=self.base_url) from error
        return connection

    def _keep(self, connection: EngineConnection) -> None:
        if self._closed or not connection.usable:
            connection.abort()
            return
        self._idle.append(connection)
        while len(self._idle) > _MAX_IDLE:
            self._idle.popleft().abort()
