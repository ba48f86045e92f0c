"""What goes into a conversation with a deployed agent, and what comes out of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from repertory.engines.protocol import TokenUsage
from repertory.registry.result import CallResult

__all__ = ("Message", "ReplyDone", "ReplyPart", "ReplyText", "ToolUse")


@dataclass(frozen=True)
class Message:
    """What was said before, or now."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True)
class ReplyText:
    """Words for the person, as they come."""

    text: str


@dataclass(frozen=True)
class ToolUse:
    """A tool that the agent used on the way.

    Attributes:
        tool: Its name.
        arguments: What it was given.
        result: How it ended.
    """

    tool: str
    arguments: Mapping[str, Any]
    result: CallResult

    def document(self) -> dict[str, Any]:
        """The JSON document."""
        return {"tool": self.tool, "arguments": dict(self.arguments), **self.result.document()}


@dataclass(frozen=True)
class ReplyDone:
    """The end of a reply.

    Attributes:
        version: Who replied: `agent@version`.
        status: `complete`; `partial` when the reply was cut or a tool could not be used as wanted; `failed` when there
            is none.
        reason: Why it is not complete.
        usage: The tokens of each call of a model; empty when none was asked.
    """

    version: str
    status: Literal["complete", "partial", "failed"]
    reason: str | None = None
    usage: tuple[TokenUsage, ...] = ()

    @property
    def prompt_tokens(self) -> int:
        """Tokens of all prompts."""
        return sum(use.prompt for use in self.usage)

    @property
    def cached_tokens(self) -> int:
        """How many of them were found in a cache."""
        return sum(use.cached or 0 for use in self.usage)

    @property
    def output_tokens(self) -> int:
        """Tokens generated."""
        return sum(use.output for use in self.usage)


ReplyPart = ReplyText | ToolUse | ReplyDone
