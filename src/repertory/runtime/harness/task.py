"""What a program that runs an agent is given for one call, and what it gives back."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from repertory.engines.protocol import ChatMessage
from repertory.runtime.harness.interface import AgentRun, Program, Walls
from repertory.runtime.harness.settings import HarnessSettings

__all__ = ("MODEL", "SYSTEM", "Driver", "HarnessTask", "task_words")

MODEL = "agent"
"""The name of the model that programs are told; the gateway knows which instance it is."""

SYSTEM = "You are one agent of a team. The task says who you are and what you are to answer."
"""The system prompt, for programs that take one. The agent's own stands in the task, where the gateway finds it."""

_PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass
class HarnessTask:
    """One call.

    Attributes:
        run: The agent.
        messages: The prompt.
        words: The same as one text.
        token: Stands for this call at the gateway.
        folder: The working folder.
        socket: The gateway's socket.
        walls: What keeps the program apart.
        tools: Whether it works with tools.
        board: The socket of the agent's blackboard, where it has one.
        answer: What the program gave as its answer in the end, where that is not what it streamed.
    """

    run: AgentRun
    messages: Sequence[ChatMessage]
    words: str
    token: str
    folder: Path
    socket: Path
    walls: Walls
    tools: bool
    board: Path | None = None
    answer: str | None = field(default=None)

    @property
    def settings(self) -> HarnessSettings:
        """The agent's settings."""
        return self.run.agent.harness

    def command(self, argv: Sequence[str], env: Mapping[str, str]) -> list[str]:
        """The command that runs a program of this call behind walls.

        Raises:
            SandboxError: It can not be had.
        """
        program = Program(
            argv=argv,
            env={"HOME": "/repertory/home", "PATH": _PATH, **env},
            folder=self.folder,
            gateway=self.socket,
            readable=self.settings.readable,
            board=self.board,
        )
        return self.walls.command(program)

    def document(self) -> dict[str, Any]:
        """The context as JSON."""
        run = self.run
        return {
            "team": run.team.name,
            "agent": run.name,
            "turn": run.turn,
            "session": run.session,
            "writes": run.agent.writes,
            "schema": run.schema,
            "messages": [{"role": message.role, "content": message.content} for message in self.messages],
            "reads": {
                name: {"value": view.value, "version": view.version, "status": view.status, "age_turns": view.age_turns}
                for name, view in sorted(run.reads.items())
            },
        }


class Driver(Protocol):
    """How one kind of program is run."""

    def words(self, task: HarnessTask, env: Mapping[str, str]) -> AsyncGenerator[str]:
        """Run the program; stream its words. Closing the stream ends the program.

        Args:
            task: The call.
            env: The variables that the agent's settings let through.

        Raises:
            HarnessError: It failed, or ended without an answer.
            SandboxError: It can not be run behind walls.
        """
        ...


def task_words(messages: Sequence[ChatMessage]) -> str:
    """A prompt as one text, for programs that take one."""
    system = [message.content for message in messages if message.role == "system"]
    rest = [message for message in messages if message.role != "system"]
    if len(rest) == 1:
        return "\n\n".join([*system, rest[0].content]).strip()
    spoken = [f"## {_WHO[message.role]}\n{message.content}" for message in rest]
    return "\n\n".join([*system, *spoken]).strip()


_WHO = {"user": "The person", "assistant": "You", "system": ""}
