"""What can run an agent. A module of its own: the command line needs the names and nothing else."""

from enum import StrEnum

__all__ = ("HarnessKind",)


class HarnessKind(StrEnum):
    """What runs an agent.

    `NATIVE`: Repertory itself, one request to the engine.
    `CLAUDE_CODE`: Claude Code, one process a call.
    `ACP`: a program that speaks the Agent Client Protocol.
    `COMMAND`: any program: the context on its standard input, the answer on its standard output.
    """

    NATIVE = "native"
    CLAUDE_CODE = "claude-code"
    ACP = "acp"
    COMMAND = "command"
