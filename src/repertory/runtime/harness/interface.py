"""What a harness is: context in, events and one answer out.

To the rest of a turn, an agent's harness looks like the engine that the agent plays on: it takes a prompt and streams
an answer. So everything that is promised of an agent holds for every harness and is written once: reads and writes,
budget, deadline, the check of the answer and its one repair, durable steps, events.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from repertory.engines.protocol import Engine
from repertory.runtime.events import HarnessFinished
from repertory.runtime.rules import SectionView
from repertory.runtime.team import Agent, Team

__all__ = ("AgentRun", "Harness", "Program", "Walls")


@dataclass(frozen=True)
class AgentRun:
    """One agent of one turn, as its harness sees it.

    Attributes:
        name: The agent's name.
        agent: The agent.
        team: Its team.
        turn: The turn.
        user: The person.
        session: The session.
        instance: The instance that the agent plays on.
        reads: The sections that it reads.
        schema: What it fills in; None for text.
        version: The version of its own section that stands now.
        tell: Gets the event when a call has ended.
    """

    name: str
    agent: Agent
    team: Team
    turn: str
    user: str
    session: str
    instance: str
    reads: Mapping[str, SectionView]
    schema: dict[str, Any] | None
    version: int
    tell: Callable[[type[HarnessFinished], Mapping[str, Any]], object]


class Harness(Protocol):
    """Runs agents."""

    def attach(self, run: AgentRun, engine: Engine) -> Engine:
        """What carries out the agent's generations: the engine itself, or a program that calls it.

        Raises:
            UsageError: The harness can not run the agent here.
        """
        ...


@dataclass(frozen=True)
class Program:
    """A program to be run behind walls.

    Attributes:
        argv: The program and its arguments.
        env: All of its environment.
        folder: The working folder, the only one of the host that it may write.
        gateway: The socket of the gateway.
        readable: What else it may read.
        board: The socket of the agent's blackboard, where it has one.
    """

    argv: Sequence[str]
    env: Mapping[str, str]
    folder: Path
    gateway: Path
    readable: Sequence[str] = field(default=())
    board: Path | None = None


class Walls(Protocol):
    """What keeps a program apart; the sandbox is above this layer, so it is handed in."""

    @property
    def work(self) -> str:
        """Where the working folder stands inside."""
        ...

    @property
    def base_url(self) -> str:
        """The gateway's address inside."""
        ...

    def command(self, program: Program) -> list[str]:
        """The command that runs a program behind walls.

        Raises:
            SandboxError: This host can not, or the program is not here.
        """
        ...

    def board_command(self) -> tuple[list[str], Mapping[str, str]]:
        """The command, inside, whose standard input and output lead to the board's socket; and its environment."""
        ...
