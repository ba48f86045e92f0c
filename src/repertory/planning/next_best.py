"""What the next best would cost: the best whole plan in which an agent may not play on the model that it got."""

from collections.abc import Callable
from dataclasses import dataclass

from repertory.planning.candidates import Candidate
from repertory.planning.casting import cast
from repertory.planning.plan import Plan
from repertory.planning.together import together_sets

__all__ = ("OtherPlan", "without_its_model")

_LIMIT_S = 10.0


@dataclass(frozen=True)
class OtherPlan:
    """The best plan without an agent's model.

    Attributes:
        model: What the agent plays on then; None where there is no such plan.
        score_change: Change of the sum of all agents' scores.
        instances: How many instances that plan has.
        proven: Whether no plan without the model scores more.
    """

    model: str | None
    score_change: float = 0.0
    instances: int = 0
    proven: bool = False

    def document(self) -> dict[str, object]:
        """As JSON."""
        return {
            "model": self.model,
            "score_change": round(self.score_change, 2),
            "instances": self.instances,
            "proven": self.proven,
        }

    @property
    def words(self) -> str:
        """A sentence."""
        if self.model is None:
            return "no plan without that model was found"
        most = "" if self.proven else "perhaps less than "
        where = "one instance" if self.instances == 1 else f"{self.instances} instances"
        if abs(self.score_change) < 0.05:
            return f"a plan with {self.model} instead scores the same in sum, on {where}"
        return (
            f"a plan with {self.model} instead changes the sum of scores by {most}{self.score_change:+.1f}, on {where}"
        )


def without_its_model(plan: Plan, agent: str, progress: Callable[[str], None] | None = None) -> OtherPlan:
    """Cast the team again where one agent may not play on its model."""
    model = plan.casting.by_agent[agent].candidate.choice.model.id
    team = plan.team
    if progress is not None:
        progress(f"looking for the best plan in which {agent} plays on another model")
    found = [kept for candidate in plan.found if (kept := _without(candidate, agent, model)) is not None]
    if not any(agent in candidate.scores for candidate in found):
        return OtherPlan(None)
    casting = cast(found, plan.profile, team.agents, together_sets(list(team.agents), team.work), limit_s=_LIMIT_S)
    if not casting.placements:
        return OtherPlan(None)
    return OtherPlan(
        casting.by_agent[agent].candidate.choice.model.id,
        casting.score - plan.casting.score,
        len(casting.placements),
        casting.status == "optimal",
    )


def _without(candidate: Candidate, agent: str, model: str) -> Candidate | None:
    if candidate.choice.model.id != model:
        return candidate
    return candidate.for_agents(candidate.scores.keys() - {agent})
