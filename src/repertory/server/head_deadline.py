"""Connections that never send a whole request are closed: uvicorn waits for a request's head without an end.

It is h11's protocol, whatever else is installed: the limit on the size of a head is h11's as well.
"""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ("HEAD_S", "HeadDeadlineProtocol")

HEAD_S = 30.0
"""How long the head of a request may take, from the connection or from its first byte on."""


class HeadDeadlineProtocol(H11Protocol):
    """uvicorn's HTTP/1.1, which closes a connection when no head of a request comes in time.

    Between two requests uvicorn's own keep-alive timeout holds.
    """

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Wait for the first head."""
        super().connection_made(transport)
        self._see()

    def data_received(self, data: bytes) -> None:
        """Take data; the rest of a head must come in time."""
        super().data_received(data)
        self._see()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._forget()
        super().connection_lost(exc)

    @property
    def _waits(self) -> bool:
        """Whether a head is to come. uvicorn sets no cycle before the first."""
        return not self.cycle or self.cycle.response_complete

    def _see(self) -> None:
        if not self._waits:
            self._forget()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_S, self._give_up)

    def _forget(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if self._waits and not self.transport.is_closing():
            self.transport.close()
