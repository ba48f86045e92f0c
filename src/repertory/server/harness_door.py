"""The gateway for the programs that run agents: it listens on a socket in a private folder, and on no port."""

import asyncio
import contextlib
import os
import tempfile
from collections.abc import AsyncGenerator, Generator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import uvicorn

from repertory.engines.openai_compatible import OpenAIEngine
from repertory.errors import RepertoryError
from repertory.home import Home
from repertory.runtime.cast import Cast, Instance
from repertory.runtime.harness.place import HarnessPlace, ProgramHarness
from repertory.runtime.harness.programs import installed_acp
from repertory.sandbox.program_walls import ProgramWalls
from repertory.server.casting import StandingEngine, upstream_of
from repertory.serving.access import Access
from repertory.serving.gateway.gateway import Gateway
from repertory.serving.gateway.harness_runs import HarnessRuns
from repertory.serving.gateway.run_door import RunDoor
from repertory.serving.gateway.upstream import Address, Upstream
from repertory.serving.host_check import HostCheck
from repertory.serving.instances.turn_engine import TurnTakingEngine

__all__ = ("gateway_of", "opened_harness")


class _DoorServer(uvicorn.Server):
    """uvicorn without its signal handlers: it runs inside a command, which has its own."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leave signals alone."""
        yield


@asynccontextmanager
async def opened_harness(gateway: Gateway, home: Home) -> AsyncGenerator[ProgramHarness]:
    """Open the place where programs run agents, for as long as the block lasts.

    Args:
        gateway: Carries their requests.
        home: Where working folders are kept.

    Raises:
        RepertoryError: The socket can not be made.
    """
    runs = HarnessRuns()
    with tempfile.TemporaryDirectory(prefix="repertory-") as folder:
        socket = Path(folder) / "gateway"
        server = _DoorServer(
            uvicorn.Config(
                RunDoor(gateway, runs),
                uds=str(socket),
                log_level="critical",
                access_log=False,
                lifespan="off",
                ws="none",
                timeout_graceful_shutdown=5,
            )
        )
        serving = asyncio.create_task(server.serve())
        try:
            while not server.started:
                if serving.done():
                    message = "the gateway's socket for agents' programs could not be made"
                    raise RepertoryError(message, where=str(socket))
                await asyncio.sleep(0.005)
            socket.chmod(0o600)
            (scratch := Path(folder) / "calls").mkdir(mode=0o700)
            place = HarnessPlace(
                runs=runs,
                socket=socket,
                walls=ProgramWalls(home.root, home.models),
                folders=home.harness,
                scratch=scratch,
                installed=installed_acp(os.environ.get("PATH")),
            )
            yield ProgramHarness(place)
        finally:
            server.should_exit = True
            await asyncio.gather(serving, return_exceptions=True)


def gateway_of(cast: Cast) -> Gateway:
    """A gateway in front of a cast's instances, for commands that serve nobody else."""
    instances: Iterable[Instance] = {item.name: item for item in cast.by_agent.values()}.values()
    return Gateway([_upstream(instance) for instance in instances], access=Access(HostCheck(), None))


def _upstream(instance: Instance) -> Upstream:
    engine = instance.engine
    if isinstance(engine, TurnTakingEngine):
        return engine.upstream()
    if isinstance(engine, OpenAIEngine):
        address = Address(engine.client.base_url, engine.client.api_key)
        return upstream_of(StandingEngine(instance.name, engine, address), ())
    message = f"the engine of instance {instance.name} has no address that a program could be given"
    raise RepertoryError(message)
