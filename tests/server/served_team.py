"""One team on one model in memory, served as the server serves teams."""

from repertory.engines.protocol import Engine
from repertory.runtime.cast import cast_on_one
from repertory.runtime.rules import TeamRules
from repertory.runtime.team import Team
from repertory.runtime.turn import TurnRunner
from repertory.server.turn_teams import RunnerTeams
from repertory.storage.store import Store

__all__ = ("served",)


def served(team: Team, model: Engine, store: Store) -> RunnerTeams:
    """The team, its turns kept in `store`."""
    runner = TurnRunner(team, TeamRules(), cast_on_one(team, model), store)

    async def runner_of(_: str) -> TurnRunner:
        return runner

    return RunnerTeams([team.name], runner_of)
