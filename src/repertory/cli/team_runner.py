"""What `run`, `chat` and `demo` share: a team, its engine and the store, opened together."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from repertory.cli.engine_choice import EngineChoice
from repertory.cli.output import side
from repertory.cli.running_cast import open_cast
from repertory.cli.safe_text import printable
from repertory.clock import Clock, fixed_clock, parse_time, system_clock
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


@asynccontextmanager
async def open_runner(team_name: str, choice: EngineChoice, clock: Clock) -> AsyncGenerator[TurnRunner]:
    """Open the team, the store and the engine; say on stderr what happens meanwhile.

    Raises:
        RepertoryError: One of them can not be had.
    """
    team, rules = find_team(team_name)
    console = side()

    def say(words: str) -> None:
        console.print(printable(words), style="dim", markup=False)

    with Store.open() as store:
        async with open_cast(team, choice, say=say) as cast:
            yield TurnRunner(team, rules, cast, store, clock)
