"""Which harness runs an agent, and its settings, as they stand in a team."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from repertory.runtime.harness.kinds import HarnessKind

__all__ = ("ACP_PROGRAMS", "HarnessSettings")

ACP_PROGRAMS = ("opencode", "qwen-code")
"""Programs that speak the Agent Client Protocol and whose start we know; others are named by `command`."""


class HarnessSettings(BaseModel):
    """How an agent is run. In a team file, a harness without settings is one word: `harness: claude-code`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: HarnessKind = HarnessKind.NATIVE
    command: tuple[str, ...] = ()
    """The program and its arguments. Required for `command`; for `acp` instead of `program`, for `claude-code` instead
    of the `claude` on the path."""
    program: Literal["opencode", "qwen-code"] | None = None
    """For `acp`: a program whose start is known; None takes the first that is installed."""
    env: tuple[str, ...] = ()
    """Names of variables of our environment that the program gets. It gets no others."""
    readable: tuple[str, ...] = ()
    """Files and folders, as absolute paths, that the program may read beside its own."""
    timeout_s: float | None = Field(default=None, gt=0)
    """Seconds that one call may take; None leaves it to the turn's deadline."""
    tools: bool = False
    """Whether the program works with tools, its own and the agent's reads and writes; without, it only answers."""
    max_requests: int = Field(default=24, ge=1)
    """Requests to the engine that one call may make."""
    context: Literal["text", "json"] = "text"
    """For `command`: how the context is written to its standard input."""

    @field_validator("command", "env", "readable", mode="before")
    @classmethod
    def _listed(cls, value: object) -> object:
        """A list built in Python is as good as a tuple, also where types are strict."""
        return tuple(value) if isinstance(value, list) else value  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - checked by the field
