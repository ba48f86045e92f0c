"""Needs and work of the agents of the two built-in teams.

The engineering team's benchmarks are those that its publication names as critical for each role (GPQA Diamond for the
Orchestrator, HumanEval for the Builder, tau2-bench for the Critic, and so on; the publication prints "tau-bench" for a
tau2-bench figure). HumanEval has almost no published rows after early 2025, so the Builder also counts LiveCodeBench.
Token counts of a turn are planning assumptions: they are the agents' output budgets and typical prompts.
"""

from dataclasses import dataclass, replace

from repertory.errors import UsageError
from repertory.planning.needs import AgentNeeds, AgentWork, BenchmarkNeed
from repertory.spelling import nearest

__all__ = ("TEAMS", "TeamNeeds", "team_needs")


@dataclass(frozen=True)
class TeamNeeds:
    """A team as the planner sees it.

    Attributes:
        fan_out: Whether the agents of a turn start from one shared context, whose state is copied from slot to slot on
            engines that do not share it by themselves: each agent then keeps slots of its own. False for a pipeline,
            in which as many slots do as agents run at once.
        first_reply: The agent whose answer the person sees first.
        full_reply: The agent that ends the turn.
    """

    name: str
    agents: dict[str, AgentNeeds]
    work: dict[str, AgentWork]
    first_reply: str
    full_reply: str
    fan_out: bool = True

    def without_latency(self) -> "TeamNeeds":
        """The same team, whose agents take any speed."""
        slow = {"max_first_token_s": None, "min_decode_tok_s": None}
        return replace(self, agents={name: needs.model_copy(update=slow) for name, needs in self.agents.items()})


def _needs(main: str, *others: str, minimum: float | None = None, **more: object) -> AgentNeeds:
    benchmarks = {main: BenchmarkNeed(weight=2.0, minimum=minimum)}
    benchmarks.update({name: BenchmarkNeed(weight=1.0) for name in others})
    return AgentNeeds.model_validate({"benchmarks": benchmarks, **more})


_COACHING = TeamNeeds(
    name="coaching",
    agents={
        "coach": _needs("ifeval", "mmlu_pro", thinking=False, max_first_token_s=4.0, min_decode_tok_s=8.0),
        "shadow": _needs("gpqa_diamond", "ifeval", thinking=False),
        "persona": _needs("mmlu_pro", "ifeval", thinking=False),
        "plasticity": _needs("ifeval", "mmlu_pro", thinking=False),
        "stability": _needs("gpqa_diamond", "ifeval", thinking=False),
        "synth": _needs("ifeval", "mmlu_pro", thinking=False, min_decode_tok_s=8.0),
    },
    work={
        "coach": AgentWork(own_tokens=300, output_tokens=160),
        "shadow": AgentWork(own_tokens=700, output_tokens=300),
        "persona": AgentWork(own_tokens=900, output_tokens=350),
        "plasticity": AgentWork(own_tokens=700, output_tokens=250),
        "stability": AgentWork(own_tokens=700, output_tokens=350),
        "synth": AgentWork(
            own_tokens=900, output_tokens=400, after=("coach", "shadow", "persona", "plasticity", "stability")
        ),
    },
    first_reply="coach",
    full_reply="synth",
)

_ENGINEERING = TeamNeeds(
    name="engineering",
    agents={
        "orchestrator": _needs("gpqa_diamond", "ifeval", context_tokens=16384, tool_calling=True),
        "requirements_analyst": _needs("ifeval", "mmlu_pro"),
        "researcher": _needs("mmlu_pro", "tau2_bench", context_tokens=16384, tool_calling=True),
        "architect": _needs("swe_bench_verified", "gpqa_diamond", context_tokens=16384),
        "prompt_engineer": _needs("ifeval", "mmlu_pro"),
        "builder": _needs("humaneval", "livecodebench_v6", context_tokens=16384, tool_calling=True, importance=1.5),
        "tester": _needs("swe_bench_verified", "livecodebench_v6", context_tokens=16384, tool_calling=True),
        "critic": _needs("tau2_bench", "ifeval", context_tokens=16384, tool_calling=True),
        "security_auditor": _needs("mmlu_pro", "swe_bench_verified", context_tokens=16384),
    },
    work={
        "orchestrator": AgentWork(own_tokens=800, output_tokens=400, thinking_tokens=600),
        "requirements_analyst": AgentWork(
            own_tokens=600, output_tokens=700, thinking_tokens=400, after=("orchestrator",)
        ),
        "researcher": AgentWork(
            own_tokens=2500, output_tokens=500, thinking_tokens=400, after=("requirements_analyst",)
        ),
        "architect": AgentWork(own_tokens=1500, output_tokens=700, thinking_tokens=800, after=("researcher",)),
        "prompt_engineer": AgentWork(own_tokens=1200, output_tokens=800, thinking_tokens=300, after=("architect",)),
        "builder": AgentWork(own_tokens=2000, output_tokens=1800, thinking_tokens=800, after=("architect",), repeats=2),
        "tester": AgentWork(own_tokens=1500, output_tokens=1200, thinking_tokens=500, after=("requirements_analyst",)),
        "critic": AgentWork(
            own_tokens=3000, output_tokens=500, thinking_tokens=500, after=("builder", "tester", "prompt_engineer")
        ),
        "security_auditor": AgentWork(own_tokens=2500, output_tokens=400, thinking_tokens=500, after=("builder",)),
    },
    first_reply="orchestrator",
    full_reply="critic",
    fan_out=False,
)

TEAMS: dict[str, TeamNeeds] = {team.name: team for team in (_COACHING, _ENGINEERING)}


def team_needs(name: str) -> TeamNeeds:
    """The needs of a built-in team.

    Raises:
        UsageError: There is no such team.
    """
    if name not in TEAMS:
        msg = f"No team is called {name!r}."
        close = nearest(name, list(TEAMS))
        guess = f"Did you mean {close}? " if close else ""
        raise UsageError(msg, hint=f"{guess}Built in are {' and '.join(TEAMS)}; a team file ends in .yaml.")
    return TEAMS[name]
