"""The smallest HTTP/1.1 server that can misbehave exactly as it is told: one request per connection."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from repertory.testing.script import Cut, Hang, Pause, Script, Send
from repertory.testing.scripted_request import ScriptedRequest

__all__ = ("Connection", "HttpServer")

_MAX_BODY = 64 * 1024 * 1024


class Connection:
    """The server's side of one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read_request(self) -> ScriptedRequest | None:
        """The request; None when the client sent none."""
        try:
            head = await self._reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        first, *lines = head.decode("latin-1").split("\r\n")
        words = first.split(" ")
        pairs = (line.split(":", 1) for line in lines if ":" in line)
        headers = {name.strip().lower(): value.strip() for name, value in pairs}
        length = headers.get("content-length", "0")
        if len(words) != 3 or not length.isdecimal() or int(length) > _MAX_BODY:
            return None
        try:
            body = await self._reader.readexactly(int(length))
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        return ScriptedRequest(-1, words[0], words[1], headers, body)

    async def play(self, script: Script) -> bool:
        """Send a script. Returns whether the client stayed until its end."""
        leaving = asyncio.ensure_future(self._reader.read(1))
        playing = asyncio.ensure_future(self._play(script))
        try:
            await asyncio.wait({leaving, playing}, return_when=asyncio.FIRST_COMPLETED)
            if not playing.done():
                return False
            return playing.exception() is None
        finally:
            for task in (leaving, playing):
                task.cancel()
            await asyncio.gather(leaving, playing, return_exceptions=True)

    async def close(self) -> None:
        """Close the connection."""
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()

    async def _play(self, script: Script) -> None:
        head = [f"HTTP/1.1 {script.status} Scripted", f"Content-Type: {script.content_type}"]
        head += ["Transfer-Encoding: chunked", "Connection: close"]
        head += [f"{name}: {value}" for name, value in script.headers.items()]
        self._writer.write(("\r\n".join(head) + "\r\n\r\n").encode("latin-1"))
        for step in script.steps:
            match step:
                case Send(data):
                    if data:
                        self._writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                        await self._writer.drain()
                        await asyncio.sleep(0)
                case Pause(seconds):
                    await asyncio.sleep(seconds)
                case Hang():
                    await self._writer.drain()
                    await asyncio.Event().wait()
                case Cut():
                    await self._writer.drain()
                    self._writer.transport.abort()
                    return
        self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()


class HttpServer:
    """Listens on the loopback address; the port stays the same over stop and start.

    Args:
        serve: Called with every request.
        port: The port; 0 takes a free one.
    """

    def __init__(self, serve: Callable[[Connection, ScriptedRequest], Awaitable[None]], port: int = 0) -> None:
        self.port = port
        self._serve = serve
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Listen."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port, limit=1024 * 1024)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Stop listening and break all connections."""
        if self._server is None:
            return
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()
        self._server = None

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
        connection = Connection(reader, writer)
        try:
            request = await connection.read_request()
            if request is not None:
                await self._serve(connection, request)
        except asyncio.CancelledError:
            writer.transport.abort()
        finally:
            if task is not None:
                self._tasks.discard(task)
            await connection.close()
