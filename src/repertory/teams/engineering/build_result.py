"""What a build came to: the document of `repertory build --json`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from repertory.runtime.events import AgentFinished, AgentStarted, TurnEvent

__all__ = ("BuildResult", "steps_of")

Status = Literal["built", "not_built", "refused"]


@dataclass(frozen=True)
class BuildResult:
    """One build.

    Attributes:
        build: Its id; also the id of the turn that `repertory trace` shows.
        status: Whether there is an agent now.
        agent: `name@version`, when there is one.
        why: In words for the person who asked.
        tools: The agent's tools with their schemas.
        tests_written: Tests that were kept, the contract's included.
        tests_passed: How many of them the agent passes.
        candidates: Drafts of the code that were run.
        tokens: Tokens that the engines computed and wrote.
        seconds: How long it took.
        steps: The agents in the order in which they began.
    """

    build: str
    status: Status
    agent: str | None
    why: str
    tools: Sequence[dict[str, Any]] = ()
    tests_written: int = 0
    tests_passed: int = 0
    candidates: int = 0
    tokens: int = 0
    seconds: float = 0.0
    steps: Sequence[dict[str, Any]] = ()

    def document(self) -> dict[str, Any]:
        """The JSON document."""
        return {
            "build": self.build,
            "status": self.status,
            "agent": self.agent,
            "why": self.why,
            "tools": list(self.tools),
            "tests": {"written": self.tests_written, "passed": self.tests_passed},
            "candidates": self.candidates,
            "tokens": self.tokens,
            "seconds": round(self.seconds, 1),
            "steps": list(self.steps),
        }


def steps_of(events: Sequence[TurnEvent]) -> list[dict[str, Any]]:
    """Each call of an agent: who, how it ended, and the seconds from its first request to its end."""
    steps: list[dict[str, Any]] = []
    began: dict[str, float] = {}
    for event in events:
        if isinstance(event, AgentStarted):
            began.setdefault(event.agent, event.elapsed_s)
        elif isinstance(event, AgentFinished):
            seconds = event.elapsed_s - began.pop(event.agent, event.elapsed_s)
            steps.append({"agent": event.agent, "status": event.status, "seconds": round(seconds, 1)})
    return steps
