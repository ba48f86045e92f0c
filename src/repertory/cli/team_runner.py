"""What `run`, `chat` and `demo` share: a team, its engine and the store, opened together."""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager

from repertory.cli.engine_choice import EngineChoice
from repertory.cli.harness_choice import open_harness
from repertory.cli.output import side
from repertory.cli.running_cast import open_cast
from repertory.cli.safe_text import printable
from repertory.clock import Clock, fixed_clock, parse_time, system_clock
from repertory.runtime.harness.interface import Harness
from repertory.runtime.harness.kinds import HarnessKind
from repertory.runtime.harness.programs import require_programs, with_harness
from repertory.runtime.team import Team
from repertory.runtime.turn import TurnRunner
from repertory.storage.store import Store
from repertory.teams import find_team

__all__ = ("clock_for", "open_runner")


def clock_for(now: str | None) -> Clock:
    """The clock that `--now` asks for.

    Raises:
        UsageError: The text is no time.
    """
    return fixed_clock(parse_time(now)) if now else system_clock


@contextmanager
def open_members(team: Team, store: Store, others: Harness) -> Generator[Harness]:
    """What runs a team's agents when deployed ones are among them; the registry is opened only then."""
    if all(agent.agent is None for agent in team.agents.values()):
        yield others
        return
    from repertory.registry.calls import AgentCalls
    from repertory.registry.registry import Registry
    from repertory.registry.runtime import AgentRuntime
    from repertory.registry.team_member import MemberHarness
    from repertory.registry.watch import AgentWatch

    with AgentRuntime(Registry(store), watch=AgentWatch(store)) as runtime:
        yield MemberHarness(AgentCalls(runtime), others)


@asynccontextmanager
async def open_runner(
    team_name: str, choice: EngineChoice, clock: Clock, *, harness: HarnessKind | None = None
) -> AsyncGenerator[TurnRunner]:
    """Open the team, the store and the engine; say on stderr what happens meanwhile.

    Args:
        team_name: The team.
        choice: What the user said about the engine.
        clock: The clock turns read.
        harness: Runs all agents instead of what the team says.

    Raises:
        RepertoryError: One of them can not be had.
    """
    team, rules = find_team(team_name)
    if harness is not None:
        team = with_harness(team, harness)
    require_programs(team)
    console = side()

    def say(words: str) -> None:
        console.print(printable(words), style="dim", markup=False)

    with Store.open() as store:
        async with open_cast(team, choice, say=say) as cast, open_harness(team, cast) as runs_agents:
            with open_members(team, store, runs_agents) as runs_all:
                yield TurnRunner(team, rules, cast, store, clock, runs_all)
