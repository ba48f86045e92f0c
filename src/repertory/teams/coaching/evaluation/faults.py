"""Faults that a scenario injects: agents that give nothing, or claim what they have no evidence for."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from repertory.errors import EngineTimeoutError
from repertory.runtime.rules import Interception, Merge, Safety, TeamRules, TextGate, TurnView, Written
from repertory.runtime.team import Agent
from repertory.teams.coaching.evaluation.scenario import AgentName

__all__ = ("FaultyRules",)


class FaultyRules(TeamRules):
    """A team's rules, with faults put in front of some agents while `active`.

    * `timeout`: the agent gives nothing.
    * stability with a `note`, or any agent without a draft of its own: its section stays as an earlier turn left it.
    * shadow with a `prediction`: the number is a claim of the model; the section is what code makes of it.
    * plasticity with a `claim`: the claim stands as the reason of a voice change, with the evidence that is named.
    """

    def __init__(self, inner: TeamRules, faults: Mapping[AgentName, Any]) -> None:
        self._inner = inner
        self._faults: dict[str, Any] = {str(name): fault for name, fault in faults.items()}
        self.active = False
        self.code_sections = inner.code_sections

    def safety(self, view: TurnView) -> Safety:
        """As the team's."""
        return self._inner.safety(view)

    def intercept(self, view: TurnView) -> Interception | None:
        """As the team's."""
        return self._inner.intercept(view)

    def notice(self, view: TurnView) -> str | None:
        """As the team's."""
        return self._inner.notice(view)

    def memory(self, view: TurnView) -> str:
        """As the team's."""
        return self._inner.memory(view)

    def private_context(self, name: str, agent: Agent, view: TurnView) -> str | None:
        """As the team's, unless the agent is to give nothing."""
        fault = self._faults.get(name) if self.active else None
        if fault is not None and (fault == "timeout" or not _has_draft(name, fault)):
            raise EngineTimeoutError("injected by the scenario: no answer in time")
        return self._inner.private_context(name, agent, view)

    def gate(self, name: str, view: TurnView) -> TextGate:
        """As the team's."""
        return self._inner.gate(name, view)

    def check(self, name: str, answer: Any, view: TurnView) -> list[str]:
        """As the team's; what a fault replaces is not asked for again."""
        return [] if self._injected(name) else self._inner.check(name, answer, view)

    def write(self, name: str, answer: Any, view: TurnView) -> Written:
        """As the team's, with the injected draft in place of the agent's."""
        fault = self._injected(name)
        if fault is None:
            return self._inner.write(name, answer, view)
        if name == "plasticity":
            draft = {
                "moves": ["open_question"], "setting": "warmth", "change": "more",
                "because": str(fault["claim"])[:80], "evidence": list(fault.get("evidence", []))[:2],
            }  # fmt: skip
            return self._inner.write(name, draft, view)
        made = self._inner.fallback(name, None, ("injected by the scenario",), view)
        return made or self._inner.write(name, answer, view)

    def fallback(self, name: str, answer: Any, problems: Sequence[str], view: TurnView) -> Written | None:
        """As the team's."""
        return self._inner.fallback(name, answer, problems, view)

    def merge(self, view: TurnView) -> Merge | None:
        """As the team's."""
        return self._inner.merge(view)

    def derived_sections(self, view: TurnView) -> dict[str, Any]:
        """As the team's."""
        return self._inner.derived_sections(view)

    def _injected(self, name: str) -> dict[str, Any] | None:
        fault = self._faults.get(name) if self.active else None
        if not isinstance(fault, dict):
            return None
        value = cast("dict[str, Any]", fault)
        return value if _has_draft(name, value) else None


def _has_draft(name: str, fault: Mapping[str, Any]) -> bool:
    return (name == "plasticity" and "claim" in fault) or (name == "shadow" and "prediction" in fault)
