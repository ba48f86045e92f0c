"""A model in memory whose answers a test writes: for tests of teams and turns that need no server."""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field

from repertory.engines.profile import EngineKind, EngineProfile, FanOut
from repertory.engines.protocol import (
    ChatMessage,
    FinishReason,
    GenerateRequest,
    Generation,
    StreamPart,
    TextDelta,
    TokenUsage,
)

__all__ = ("ScriptedModel", "agent_of")

Answer = str | BaseException | Sequence[str]
"""A text, an error to raise, or the pieces of a stream."""


def agent_of(request: GenerateRequest) -> str:
    """The agent a request belongs to, read off its prompt."""
    for message in reversed(request.messages):  # a repair adds messages after the one that names the role
        if message.role == "user" and (found := re.search(r"^# Your role: (\w+)$", message.content, re.MULTILINE)):
            return found.group(1)
    return ""


def count(messages: Sequence[ChatMessage]) -> int:
    """Tokens of a prompt for the scripted model: one a word, and four a message for the template."""
    return sum(4 + len(message.content.split()) for message in messages)


@dataclass
class ScriptedModel:
    """An `Engine` that answers by a function of the request.

    Args:
        reply: Gives the answer to a request, or raises.
        fan_out: How the turn sends its agents.
        context_tokens: The context it claims.
        hold: Agents whose answer waits for an event that the test sets.

    Attributes:
        requests: Every request, in the order it came.
        started: Names of agents in the order their requests came.
        running: How many requests are being answered.
        most_running: The most that were answered at the same time.
    """

    reply: Callable[[GenerateRequest], Answer]
    fan_out: FanOut = FanOut.ALL_AT_ONCE
    context_tokens: int = 8192
    hold: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])
    model: str = "scripted"
    requests: list[GenerateRequest] = field(default_factory=list[GenerateRequest])
    cancelled: list[str] = field(default_factory=list[str])
    running: int = 0
    most_running: int = 0

    @property
    def profile(self) -> EngineProfile:
        """An engine that does everything it is asked."""
        return EngineProfile(kind=EngineKind.OPENAI, fan_out=self.fan_out, counts_tokens=True, priority=True)

    @property
    def started(self) -> list[str]:
        """Agents in the order their requests came."""
        return [agent_of(request) for request in self.requests]

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[StreamPart]:
        """Stream the scripted answer, word by word where it is a text."""
        self.requests.append(request)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        agent = agent_of(request)
        ended = False
        try:
            if agent in self.hold:
                await self.hold[agent].wait()
            answer = self.reply(request)
            if isinstance(answer, BaseException):
                ended = True
                raise answer
            pieces = re.findall(r"\S+\s*|\s+", answer) if isinstance(answer, str) else list(answer)
            for piece in pieces[: request.max_output_tokens]:
                await asyncio.sleep(0)
                yield TextDelta(piece)
            cut = len(pieces) > request.max_output_tokens
            usage = TokenUsage(prompt=count(request.messages), output=min(len(pieces), request.max_output_tokens))
            ended = True
            yield Generation(
                finish_reason=FinishReason.LENGTH if cut else FinishReason.STOP,
                usage=usage,
                text="".join(pieces[: request.max_output_tokens]),
            )
        finally:
            self.running -= 1
            if not ended:
                self.cancelled.append(agent)

    async def count_tokens(self, messages: Sequence[ChatMessage]) -> int:
        """One token a word, and four a message."""
        return count(messages)

    async def aclose(self) -> None:
        """Nothing to close."""
