"""Serving on engines at given addresses: those of `--engine-url`, or the embedded one."""

from collections.abc import Sequence

from repertory.errors import UsageError
from repertory.runtime.cast import Cast
from repertory.runtime.harness.interface import Harness
from repertory.runtime.harness.native import NativeHarness
from repertory.runtime.team import Team
from repertory.runtime.turn import TurnRunner
from repertory.server.casting import ServedTeam, StandingEngine, cast_on, upstream_of
from repertory.serving.gateway.upstream import Upstream
from repertory.storage.store import Store

__all__ = ("StandingEngines",)


class StandingEngines:
    """Engines that were there when the server started.

    All agents play on the first; the others are served by the names of their models.

    Args:
        engines: The engines, at least one.
        teams: The teams that are served.
        store: Where turns are kept.
        harness: Runs the agents; None runs native ones alone.
    """

    def __init__(
        self,
        engines: Sequence[StandingEngine],
        teams: Sequence[ServedTeam],
        store: Store,
        *,
        harness: Harness | None = None,
    ) -> None:
        runs_agents = harness or NativeHarness()
        self._engines = tuple(engines)
        self._runners = {
            team.name: TurnRunner(team.team, team.rules, cast_on(team.team, {}, engines[0]), store, harness=runs_agents)
            for team in teams
        }
        self._agents = tuple(agent for team in teams for agent in team.agents())

    @property
    def supervised(self) -> bool:
        """They are nobody's but this server's."""
        return False

    def standing(self) -> Sequence[StandingEngine]:
        """The engines."""
        return self._engines

    def cast_of(self, team: Team) -> Cast:
        """All agents of a team on the first."""
        return cast_on(team, {}, self._engines[0])

    def upstreams(self) -> list[Upstream]:
        """What the gateway serves."""
        return [upstream_of(one, self._agents if one is self._engines[0] else ()) for one in self._engines]

    async def runner_of(self, team: str) -> TurnRunner:
        """The runner of a team.

        Raises:
            UsageError: The team is not served.
        """
        runner = self._runners.get(team)
        if runner is None:
            message = f"the team {team!r} is not served"
            raise UsageError(message)
        return runner
