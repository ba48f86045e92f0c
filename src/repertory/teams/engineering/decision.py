"""What the Orchestrator decides between rounds of work. Code bounds it: it can not release, and not go on for ever."""

from typing import Any, Literal, cast

from repertory.runtime.direct_call import DirectCalls
from repertory.teams.engineering.briefs import faults_text
from repertory.teams.engineering.selection import Selection

__all__ = ("Decision", "decide")

Decision = Literal["repair", "redraft", "stop"]

_DRAFT: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["why", "decision"],
    "properties": {
        "why": {"type": "string", "maxLength": 160},
        "decision": {"enum": ["repair", "redraft", "stop"]},
    },
}


async def decide(calls: DirectCalls, shown: str, selection: Selection, *, rounds_left: int) -> tuple[Decision, str]:
    """Ask how the work goes on; without a usable answer a draft that runs is repaired and others are written anew."""
    best = selection.best
    usual: Decision = "repair" if best is not None else "redraft"
    facts = [f"{len(selection.ranked)} drafts were run; {rounds_left} rounds of work are left."]
    if best is None:
        facts.append("None of them could be run.")
    else:
        facts.append(
            f"The best one passes {len(best.passed)} of {len(best.passed) + len(best.failed)} tests, and "
            f"{best.group - 1} others behave like it. Its faults:\n{faults_text(best)}"
        )
    result = await calls.fill("orchestrator", f"{shown}\n\n# Results of the runner\n" + "\n".join(facts), schema=_DRAFT)
    if result.value is None:
        return usual, ""
    decision = cast("Decision", result.value["decision"])
    if best is None and decision == "repair":
        decision = usual
    return decision, str(result.value["why"])
