"""One kept HTTP/1.1 connection to an engine, and the request that is under way on it.

The gateway does not use httpx here: its layers cost several times what the rest of the gateway does per request and per
streamed token, and its pool looks through all connections for each request, which a thousand open streams make slow.
The protocol itself is h11's, the library under both httpx and uvicorn.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import cast

import h11

from repertory.engines.failures import EngineFaultError, StreamIncompleteError, StreamStalledError
from repertory.errors import RepertoryError

__all__ = ("EngineConnection", "Headers")

Headers = Sequence[tuple[bytes, bytes]]

_PAUSE_BYTES = 256 * 1024
"""Answer bytes that are held for a slow client before the engine is made to wait."""


class EngineConnection(asyncio.Protocol):
    """A connection; serves one request at a time.

    Args:
        where: The engine's address, for error texts.
        on_idle: Called when an answer was read to its end and the connection can take another request.
    """

    def __init__(self, where: str, on_idle: "Callable[[EngineConnection], None]") -> None:
        self.where = where
        self.reused = False
        self.idle_since = 0.0
        self.status = 0
        self.headers: Mapping[bytes, bytes] = {}
        self._on_idle = on_idle
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=64 * 1024)
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._watchdog: asyncio.TimerHandle | None = None
        self._buffer: list[bytes] = []
        self._buffered = 0
        self._paused = False
        self._answered = False
        self._ended = False
        self._failure: RepertoryError | None = None
        self._stall_s = 0.0
        self._last = 0.0

    # What the gateway calls.

    @property
    def usable(self) -> bool:
        """Whether it is open and between two requests."""
        transport = self._transport
        return transport is not None and not transport.is_closing() and self._http.our_state is h11.IDLE

    def send(self, method: str, target: str, headers: Headers, body: bytes, *, first_byte_s: float) -> None:
        """Send a request; nothing else may be under way."""
        self.status, self.headers = 0, {}
        self._answered = self._ended = self._paused = False
        self._failure = None
        self._buffer.clear()
        self._buffered = 0
        request = h11.Request(method=method, target=target, headers=list(headers))
        data = self._http.send(request)
        if body:
            data = (data or b"") + (self._http.send(h11.Data(data=body)) or b"")
        data = (data or b"") + (self._http.send(h11.EndOfMessage()) or b"")
        self._watch(first_byte_s)
        if self._transport is not None:
            self._transport.write(data)

    async def answer(self) -> None:
        """Wait until the status and headers are there.

        Raises:
            EngineFaultError: The connection broke first.
            EngineTimeoutError: They did not come in time.
        """
        while not self._answered:
            if self._failure is not None:
                raise self._failure
            await self._wait()

    async def read(self) -> bytes:
        """What has come of the body since the last call; empty at its end.

        Raises:
            StreamIncompleteError: The connection broke in the middle.
            StreamStalledError: Nothing has come for too long.
        """
        while not self._buffer:
            if self._failure is not None:
                raise self._failure
            if self._ended:
                return b""
            await self._wait()
        data = self._buffer[0] if len(self._buffer) == 1 else b"".join(self._buffer)
        self._buffer.clear()
        self._buffered = 0
        if self._paused and self._transport is not None:
            self._paused = False
            self._last = self._loop.time()
            self._transport.resume_reading()
        return data

    def stall_after(self, seconds: float) -> None:
        """From now on, how long nothing may come."""
        self._watch(seconds)

    def abort(self, failure: RepertoryError | None = None) -> None:
        """Break the connection, which is how an engine learns that nobody wants the answer any more."""
        if failure is not None and self._failure is None:
            self._failure = failure
        if self._transport is not None:
            self._transport.abort()
        self._wake()

    def release(self) -> None:
        """The request is over for the gateway: keep the connection if its answer was read to the end, else break it."""
        self._unwatch()
        if self._http.our_state is h11.DONE and self._http.their_state is h11.DONE and not self._buffer:
            self._http.start_next_cycle()
            self.reused = True
            self.idle_since = self._loop.time()
            self._on_idle(self)
        else:
            self.abort()

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Take bytes from the engine."""
        self._last = self._loop.time()
        self._feed(data)
        if self._buffered > _PAUSE_BYTES and not self._paused and not self._ended and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()

    def eof_received(self) -> bool:
        """The engine sends no more: with some framings that is how an answer ends."""
        self._feed(b"")
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._unwatch()
        if not self._ended and self._failure is None:
            self._broke(str(exc) if exc else "the engine closed it")
        self._wake()

    # Inside.

    def _feed(self, data: bytes) -> None:
        try:
            self._http.receive_data(data)
            self._take_events()
        except h11.RemoteProtocolError as error:
            if not self._ended:
                self._broke(str(error))
            self.abort()
        self._wake()

    def _take_events(self) -> None:
        while True:
            event = self._http.next_event()
            if isinstance(event, h11.Data):
                self._buffer.append(bytes(event.data))
                self._buffered += len(event.data)
            elif isinstance(event, h11.Response):
                self.status = event.status_code
                self.headers = dict(event.headers)
                self._answered = True
            elif isinstance(event, h11.EndOfMessage):
                self._ended = True
                return
            elif not isinstance(event, h11.InformationalResponse):
                return

    def _broke(self, reason: str) -> None:
        if self._failure is not None:
            return
        if self._answered:
            message = f"the connection to the engine broke in the middle of the answer ({reason})"
            self._failure = StreamIncompleteError(message, where=self.where)
        else:
            message = f"the connection to the engine broke before it answered ({reason})"
            self._failure = EngineFaultError(message, where=self.where)

    async def _wait(self) -> None:
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _watch(self, seconds: float) -> None:
        self._unwatch()
        self._stall_s = seconds
        self._last = self._loop.time()
        self._watchdog = self._loop.call_later(seconds, self._check)

    def _unwatch(self) -> None:
        if self._watchdog is not None:
            self._watchdog.cancel()
            self._watchdog = None

    def _check(self) -> None:
        """One timer for a whole answer: it looks when something came last, and sleeps for the rest."""
        quiet = self._loop.time() - self._last
        if self._paused or quiet < self._stall_s - 0.001:
            wait = self._stall_s if self._paused else self._stall_s - quiet
            self._watchdog = self._loop.call_later(wait, self._check)
            return
        self._watchdog = None
        if not self._ended:
            message = f"nothing has come from the engine for {self._stall_s:g} s"
            self.abort(StreamStalledError(message, where=self.where))
