"""Opens the deployed agents of a server: registry, runtime with its sandbox, and the instances that speak for them."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from repertory.engines.protocol import Engine
from repertory.errors import EngineUnavailableError
from repertory.registry.calls import AgentCalls
from repertory.registry.registry import Registry
from repertory.registry.runtime import AgentRuntime
from repertory.registry.watch import AgentWatch
from repertory.server.agents.served_agents import ServedAgents
from repertory.server.casting import StandingEngine
from repertory.storage.store import Store

__all__ = ("open_agents", "open_calls")


@contextmanager
def open_calls(store: Store) -> Generator[AgentCalls]:
    """The calls of the agents that are deployed in a database, watched.

    The sandbox is tried when the first tool is called: a host that can not isolate still serves everything else.
    """
    with AgentRuntime(Registry(store), watch=AgentWatch(store)) as runtime:
        yield AgentCalls(runtime)


def open_agents(store: Store, calls: AgentCalls, standing: Callable[[], Sequence[StandingEngine]]) -> ServedAgents:
    """The agents for the faces of a server.

    Args:
        store: The database.
        calls: Runs their tools.
        standing: The engines that answer now; the first speaks for the agents.
    """

    async def engine() -> Engine:
        found = standing()
        if not found:
            raise EngineUnavailableError("none of the instances answers now", hint="`repertory status` says why")
        return found[0].engine

    return ServedAgents(Registry(store), calls, engine)
