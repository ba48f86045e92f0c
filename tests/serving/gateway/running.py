"""A gateway that listens on a real port, in front of scripted engines."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

import httpx2

from repertory.server.app import create_app
from repertory.server.listen import GatewayServer, listening_socket
from repertory.serving.access import Access
from repertory.serving.gateway.call import CallTimeouts
from repertory.serving.gateway.gateway import Gateway, GatewayLimits
from repertory.serving.gateway.upstream import Address, Upstream
from repertory.serving.host_check import HostCheck
from repertory.testing import ScriptedEngine

TIMEOUTS = CallTimeouts(queue_s=5, first_byte_s=5, stall_s=0.3)


def upstream(engine: ScriptedEngine, **changes: object) -> Upstream:
    """A scripted engine as an upstream."""
    plain = Upstream(
        id="one",
        address=Address(engine.url),
        kind=engine.kind,
        served_model=engine.model,
        agents=(("coaching/shadow", 0),),
        concurrency=engine.slots,
    )
    return replace(plain, **changes)


def gateway_for(*upstreams: Upstream, **options: object) -> Gateway:
    """A gateway without keys and with short time limits."""
    made: dict[str, object] = {
        "access": Access(HostCheck(), None),
        "limits": GatewayLimits(call=TIMEOUTS, body_bytes=1024 * 1024, body_s=1.0),
    }
    return Gateway(upstreams, **(made | options))  # pyright: ignore[reportArgumentType] - as given


@asynccontextmanager
async def serving(gateway: Gateway, *, drain_s: float = 0.2) -> AsyncGenerator[httpx2.AsyncClient]:
    """A client of a gateway that listens; leaving the block shuts the server down as a signal does."""
    listening = listening_socket("127.0.0.1", 0)
    port = listening.getsockname()[1]
    server = GatewayServer(create_app(gateway), gateway, drain_s=drain_s)
    running = asyncio.create_task(server._serve(sockets=[listening]))
    try:
        while not server.started:
            await asyncio.sleep(0.01)
            if running.done():
                running.result()
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=20, trust_env=False) as client:
            yield client
    finally:
        server.should_exit = True
        with contextlib.suppress(asyncio.CancelledError):
            await running
        listening.close()
