"""Which agent plays on which instance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from repertory.engines.protocol import ChatMessage, Engine
from repertory.runtime.structured import GrammarHealth
from repertory.runtime.team import Team

__all__ = ("Cast", "Instance", "cast_on_one")


@dataclass(frozen=True)
class Instance:
    """One running engine with one checkpoint, under a name people can read.

    `health` holds what calls have shown of its structured output; all agents on the instance share it.
    """

    name: str
    engine: Engine
    health: GrammarHealth = field(default_factory=GrammarHealth)


@dataclass(frozen=True)
class Cast:
    """The instance of every agent."""

    by_agent: Mapping[str, Instance]

    def groups(self, agents: Sequence[str]) -> list[tuple[Instance, list[str]]]:
        """The instances that are used, each with its agents in the order given."""
        found: dict[str, tuple[Instance, list[str]]] = {}
        for agent in agents:
            instance = self.by_agent[agent]
            found.setdefault(instance.name, (instance, []))[1].append(agent)
        return list(found.values())

    async def require_engines(self) -> None:
        """See to it that every instance answers, as far as it can be seen without a generation.

        Raises:
            EngineError: One does not.
        """
        for instance, _ in self.groups(list(self.by_agent)):
            await instance.engine.count_tokens([ChatMessage("user", "?")])


def cast_on_one(team: Team, engine: Engine) -> Cast:
    """All agents on one instance."""
    instance = Instance(name=engine.model, engine=engine)
    return Cast(by_agent=dict.fromkeys(team.agents, instance))
