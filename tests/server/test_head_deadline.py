"""A connection that sends no request is closed in time; one that does is not, however long the answer takes."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from repertory.server import head_deadline
from repertory.server.app import create_app
from repertory.server.listen import GatewayServer, listening_socket
from repertory.serving.access import Access
from repertory.serving.gateway.gateway import Gateway
from repertory.serving.host_check import HostCheck

pytestmark = pytest.mark.virtual_time

HEAD = b"GET /slow HTTP/1.1\r\nhost: localhost\r\n\r\n"


@pytest.fixture
async def port(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[int]:
    monkeypatch.setattr(head_deadline, "HEAD_S", 0.2)
    gateway = Gateway((), access=Access(HostCheck(), None))
    app = create_app(gateway)

    @app.get("/slow")
    async def slow() -> str:
        await asyncio.sleep(0.6)
        return "done"

    del slow  # registered by the decorator
    listening = listening_socket("127.0.0.1", 0)
    server = GatewayServer(app, gateway, drain_s=0.1)
    running = asyncio.create_task(server._serve(sockets=[listening]))
    while not server.started:
        await asyncio.sleep(0.01)
        if running.done():
            running.result()
    yield int(listening.getsockname()[1])
    server.should_exit = True
    await running
    listening.close()


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nhost: loc"])
async def test_no_head_is_waited_for_without_an_end(port: int, sent: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    async with asyncio.timeout(5):
        assert await reader.read() == b""
    writer.close()


async def test_a_slow_answer_is_given_and_the_next_head_has_its_own_time(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    async with asyncio.timeout(5):
        for _ in range(2):
            writer.write(HEAD)
            assert (await reader.readuntil(b'"done"')).startswith(b"HTTP/1.1 200")
            await asyncio.sleep(0.4)  # idle between requests: uvicorn's keep-alive
        writer.write(HEAD[:20])
        assert await reader.read() == b""
    writer.close()
