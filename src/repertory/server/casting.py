"""From engines that answer to what the gateway and the turns need: upstreams, and a runner per team."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from repertory.engines.openai_compatible import OpenAIEngine
from repertory.engines.protocol import Engine
from repertory.runtime.cast import Cast, Instance
from repertory.runtime.rules import TeamRules
from repertory.runtime.schedule import derive_schedule
from repertory.runtime.team import Team
from repertory.serving.gateway.upstream import Address, Upstream

__all__ = ("ServedTeam", "StandingEngine", "cast_on", "upstream_of")

_UNKNOWN_CONCURRENCY = 8


@dataclass(frozen=True)
class ServedTeam:
    """A team that is served, with its code."""

    team: Team
    rules: TeamRules

    @property
    def name(self) -> str:
        """The name in requests."""
        return self.team.name

    def agents(self, among: Sequence[str] | None = None) -> tuple[tuple[str, int], ...]:
        """The names of its agents in requests (of those `among` them), each with its priority."""
        priorities = derive_schedule(self.team, self.rules.code_sections).priorities
        chosen = [name for name in self.team.agents if among is None or name in among]
        return tuple((f"{self.name}/{name}", priorities[name]) for name in chosen)


@dataclass(frozen=True)
class StandingEngine:
    """An engine that answers at an address that does not change.

    Attributes:
        name: Its name in metrics.
        engine: The connected adapter.
        address: Where it answers.
        names: More names that clients may use for its model.
        concurrency: How many requests it runs at once; None takes what its adapter found out or assumes.
    """

    name: str
    engine: Engine
    address: Address
    names: tuple[str, ...] = ()
    concurrency: int | None = None


def upstream_of(standing: StandingEngine, agents: tuple[tuple[str, int], ...]) -> Upstream:
    """The engine as the gateway sees it."""
    engine = standing.engine
    limit = engine.admission.limit if isinstance(engine, OpenAIEngine) else _UNKNOWN_CONCURRENCY
    return Upstream(
        id=standing.name,
        address=standing.address,
        kind=engine.profile.kind,
        served_model=engine.model,
        names=standing.names,
        agents=agents,
        concurrency=standing.concurrency or limit,
        context_tokens=engine.context_tokens,
    )


def cast_on(team: Team, engines: Mapping[str, StandingEngine], default: StandingEngine) -> Cast:
    """Every agent on the engine that is named for it, the others on the default one."""
    instances: dict[str, Instance] = {}
    by_agent: dict[str, Instance] = {}
    for agent in team.agents:
        standing = engines.get(agent, default)
        if standing.name not in instances:
            instances[standing.name] = Instance(name=standing.name, engine=standing.engine)
        by_agent[agent] = instances[standing.name]
    return Cast(by_agent=by_agent)
