"""What a turn must have come to, judged only by what the engine was scripted to do and by what the person was shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ("Served", "expected_status")

AGENTS = ("coach", "shadow", "persona", "plasticity", "stability", "synth")


@dataclass(frozen=True)
class Served:
    """One generation that the engine was asked for.

    Attributes:
        agent: Who asked.
        fault: How it was broken; None for a good answer.
    """

    agent: str
    fault: str | None


def expected_status(served: Sequence[Served], shown: str) -> str:
    """The status of a turn.

    An agent has delivered when its last request was answered well. The Coach's words stand once the person has seen
    them, but a reply that broke off makes no whole turn. Without words of Coach or Synth there is no reply at all.
    """
    last: Mapping[str, Served] = {one.agent: one for one in served}
    delivered = {agent for agent, one in last.items() if one.fault is None}
    if delivered.issuperset(AGENTS):
        return "complete"
    return "partial" if shown or "coach" in delivered or "synth" in delivered else "failed"
