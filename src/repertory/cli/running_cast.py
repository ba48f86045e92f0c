"""The cast of a team: on the instances that `repertory up` runs for it, else all agents on one engine."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from repertory.cli.engine_choice import EngineChoice, open_engine
from repertory.runtime.cast import Cast, Instance, cast_on_one
from repertory.runtime.team import Team
from repertory.serving.instances.directory import InstanceDirectory, RunningInstance
from repertory.serving.instances.turn_engine import connect_instance

__all__ = ("open_cast",)


@asynccontextmanager
async def open_cast(team: Team, choice: EngineChoice, *, say: Callable[[str], None]) -> AsyncGenerator[Cast]:
    """Connect a team's agents to their engines.

    An engine or a model that the user names decides. Without, the instances that are up for this team are used, if
    they have all its agents and serve; else the embedded engine is started.

    Raises:
        RepertoryError: The engine can not be had.
    """
    directory = InstanceDirectory()
    places = None if choice.url is not None or choice.model is not None else _places(team, directory, say)
    if places is None:
        async with open_engine(choice, agents=len(team.agents), say=say) as engine:
            yield cast_on_one(team, engine)
        return
    async with AsyncExitStack() as stack:
        instances: dict[str, Instance] = {}
        for running in {item.id: item for item in places.values()}.values():
            engine = await connect_instance(directory, running, choice.slot_cache_gib)
            stack.push_async_callback(engine.aclose)
            instances[running.id] = Instance(name=running.id, engine=engine)
        say(f"playing on the running instances {', '.join(sorted(instances))} (`repertory status`)")
        yield Cast(by_agent={agent: instances[item.id] for agent, item in places.items()})


def _places(team: Team, directory: InstanceDirectory, say: Callable[[str], None]) -> dict[str, RunningInstance] | None:
    """The running instance of every agent; None when they are not up for this team."""
    known = [item for item in directory.instances() if item.team == team.name]
    if not known:
        return None
    places = {agent: item for item in known for agent in item.agents if agent in team.agents}
    without = [agent for agent in team.agents if agent not in places]
    waiting = sorted({item.id for item in places.values() if not item.ready})
    if without:
        say(f"the running instances have no place for {', '.join(without)}: the embedded engine is used")
        return None
    if waiting:
        say(f"the instances {', '.join(waiting)} are not ready (`repertory status`): the embedded engine is used")
        return None
    return places
