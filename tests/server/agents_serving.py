"""A server with deployed agents that listens on a real port."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import httpx2
from tests.serving.gateway.running import TIMEOUTS

from repertory.engines.protocol import Engine
from repertory.errors import EngineUnavailableError
from repertory.registry.calls import AgentCalls
from repertory.registry.registry import Registry
from repertory.registry.runtime import AgentRuntime
from repertory.registry.watch import AgentWatch
from repertory.server.agents.mount import mount_agents
from repertory.server.agents.served_agents import ServedAgents
from repertory.server.app import create_app
from repertory.server.listen import GatewayServer, listening_socket
from repertory.serving.access import Access
from repertory.serving.api_keys import KeyRing, new_key
from repertory.serving.gateway.gateway import Gateway, GatewayLimits
from repertory.serving.host_check import HostCheck
from repertory.storage.store import Store


def deploy(store: Store, files: dict[str, bytes]) -> None:
    """Deploy a package and make it live."""
    registry = Registry(store)
    deployed = registry.deploy(files)
    registry.promote(deployed.version.agent, deployed.version.version)


def key_for(store: Store, name: str, scopes: Sequence[str], **options: int) -> str:
    """A key that may be used for these scopes."""
    key, kept = new_key(name, scopes, **options)  # pyright: ignore[reportArgumentType] - as given
    store.keys.add(kept)
    return key


@asynccontextmanager
async def serving_agents(
    store: Store, engine: Engine | None = None, *, keys: bool = False
) -> AsyncGenerator[httpx2.AsyncClient]:
    """A client of a server with the deployed agents of a database."""

    async def source() -> Engine:
        if engine is None:
            raise EngineUnavailableError("no engine")
        return engine

    registry = Registry(store)
    runtime = AgentRuntime(registry, watch=AgentWatch(store))
    with contextlib.closing(runtime):
        agents = ServedAgents(registry, AgentCalls(runtime), source)
        ring = KeyRing(store.keys.all, fresh_s=0.05) if keys else None
        gateway = Gateway((), access=Access(HostCheck(), ring), agents=agents, limits=GatewayLimits(call=TIMEOUTS))
        app = create_app(gateway)
        mount_agents(app, gateway, agents)
        listening = listening_socket("127.0.0.1", 0)
        server = GatewayServer(app, gateway, drain_s=0.2)
        running = asyncio.create_task(server._serve(sockets=[listening]))
        try:
            while not server.started:
                await asyncio.sleep(0.01)
                if running.done():
                    running.result()
            address = f"http://127.0.0.1:{listening.getsockname()[1]}"
            async with httpx2.AsyncClient(base_url=address, timeout=20, trust_env=False) as client:
                yield client
        finally:
            server.should_exit = True
            with contextlib.suppress(asyncio.CancelledError):
                await running
            listening.close()
