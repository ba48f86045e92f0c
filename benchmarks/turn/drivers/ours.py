"""Repertory: the same agents as a team, with durability on, as `TurnRunner` runs every team."""

import asyncio
import tempfile
from importlib.metadata import version
from pathlib import Path

from benchmarks.turn.drivers.reporting import Turn, finish, read_work
from benchmarks.turn.team import team_of
from repertory.engines.connect import connect
from repertory.runtime.cast import cast_on_one
from repertory.runtime.events import AgentDelta, ReplyReady, TurnEvent
from repertory.runtime.rules import TeamRules
from repertory.runtime.turn import TurnRunner
from repertory.storage.store import Store


async def main() -> None:
    work = read_work()
    team = team_of(work)
    statuses: list[str] = []
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "turns.sqlite") as store:
        engine = await connect(work["url"], model=work["model"], api_key=work["api_key"] or None)
        runner = TurnRunner(team, TeamRules(), cast_on_one(team, engine), store)
        for number, said in enumerate(work["messages"], 1):
            with Turn(work, number) as turn:

                def hear(event: TurnEvent, turn: Turn = turn) -> None:
                    if isinstance(event, AgentDelta) and event.agent == "coach":
                        turn.token()
                    elif isinstance(event, ReplyReady) and event.which == "first":
                        turn.coach()
                    elif isinstance(event, ReplyReady):
                        turn.reply()

                result = await runner.run(said, user="person", session="session", sinks=[hear])
            statuses.append(result.status if result.status == "complete" else f"{result.status}: {result.reason}")
        await engine.aclose()
    finish(version=version("repertory"), statuses=statuses)


if __name__ == "__main__":
    asyncio.run(main())
