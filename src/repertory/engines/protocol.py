"""What the rest of Repertory asks of an engine, whatever engine it is.

An adapter (one per engine) speaks the engine's own HTTP dialect and hands on this one set of types. All sizes are in
tokens of the served model unless a name says otherwise.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, Protocol, runtime_checkable

from repertory.engines.profile import EngineProfile

__all__ = (
    "ChatMessage",
    "Engine",
    "FinishReason",
    "GenerateRequest",
    "Generation",
    "GenerationNote",
    "PrefixCopier",
    "PrefixKeeper",
    "PrefixState",
    "ReasoningDelta",
    "StreamPart",
    "TextDelta",
    "TokenUsage",
    "TokensProcessed",
    "ToolCall",
)


@dataclass(frozen=True)
class ChatMessage:
    """One message of a prompt, before the model's chat template is applied."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class GenerateRequest:
    """One generation.

    Attributes:
        messages: The prompt. Adapters normalise it to what the model's template accepts.
        max_output_tokens: Reserve for the answer.
        max_thinking_tokens: Reserve for the thinking before it; 0 when the thinking has to fit into the answer's.
        json_schema: Constrains the answer; must already be compiled for the engine (`repertory.engines.schema`).
        temperature: Sampling temperature; 0 is greedy.
        seed: Sampling seed, for engines that have one.
        priority: Lower runs first, for engines that schedule by priority.
        slot: The llama.cpp slot that must serve the request; other engines ignore it.
        deadline_s: Seconds from the call within which the whole answer must be there.
        thinking: Whether a reasoning model may think; None leaves it to the model.
        request_id: Names the request in logs and, where the engine takes one, in the engine.
        tools: Functions the model may call, each `{"name", "description", "parameters"}` (JSON Schema).
    """

    messages: Sequence[ChatMessage]
    max_output_tokens: int
    json_schema: dict[str, object] | None = None
    temperature: float = 0.0
    seed: int | None = None
    priority: int = 0
    slot: int | None = None
    deadline_s: float | None = None
    thinking: bool | None = None
    request_id: str | None = None
    tools: Sequence[Mapping[str, object]] = ()
    max_thinking_tokens: int = 0

    @property
    def cap(self) -> int:
        """The most tokens that may be generated: both reserves, or the answer's alone where thinking is turned off."""
        return self.max_output_tokens + (0 if self.thinking is False else self.max_thinking_tokens)


class FinishReason(StrEnum):
    """Why a generation ended."""

    STOP = "stop"
    LENGTH = "length"
    TOOL_CALLS = "tool_calls"


@dataclass(frozen=True)
class TokenUsage:
    """Tokens of one generation, as the engine counted them.

    Attributes:
        prompt: Tokens of the rendered prompt.
        cached: How many of them the engine found in its KV cache; None when it does not say.
        output: Tokens generated, thinking included.
        estimated: True when the engine told no counts and these are our upper bound.
    """

    prompt: int
    output: int
    cached: int | None = None
    estimated: bool = False

    @property
    def prefill(self) -> int:
        """Prompt tokens the engine had to compute (all of them when it does not say what was cached)."""
        return self.prompt - (self.cached or 0)


@dataclass(frozen=True)
class TextDelta:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True)
class ReasoningDelta:
    """A piece of the model's thinking; never part of an answer."""

    text: str


@dataclass(frozen=True)
class TokensProcessed:
    """Progress of prefill, from engines that report it."""

    processed: int
    total: int


class GenerationNote(StrEnum):
    """Something unusual about a generation that was still usable; counted in metrics.

    `MISROUTED_ANSWER`: the answer stood in the field for thinking and was taken from there.
    `LEAKED_THINKING`: the engine left think tags in the answer; they were split off.
    `LEAKED_TOOL_CALL`: the engine left a tool call in the answer as text; it was read from there.
    `CUT_TOOL_CALL`: the engine reported a finished tool call, but its arguments were cut off.
    `NO_FINISH_REASON`: the engine ended the stream properly without saying why.
    `UNKNOWN_FINISH_REASON`: the engine gave a reason that is in no dialect known.
    """

    MISROUTED_ANSWER = "misrouted_answer"
    LEAKED_THINKING = "leaked_thinking"
    LEAKED_TOOL_CALL = "tool_call_leaked"
    CUT_TOOL_CALL = "tool_call_cut"
    NO_FINISH_REASON = "no_finish_reason"
    UNKNOWN_FINISH_REASON = "unknown_finish_reason"


@dataclass(frozen=True)
class ToolCall:
    """A call of a tool that the model asks for; its arguments parsed, not validated."""

    id: str
    name: str
    arguments: dict[str, object]


@dataclass(frozen=True)
class Generation:
    """The last part of a stream: how the generation ended and what it cost.

    Attributes:
        finish_reason: Why it ended. `LENGTH` also when the engine claims more but cut a tool call.
        usage: The tokens.
        text: The whole answer. What streamed before may differ where thinking had leaked into it.
        reasoning: The thinking.
        tool_calls: The calls asked for; empty when any of them was cut off.
        notes: What was unusual.
    """

    finish_reason: FinishReason
    usage: TokenUsage
    text: str
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    notes: tuple[GenerationNote, ...] = ()


StreamPart = TextDelta | ReasoningDelta | TokensProcessed | Generation


@runtime_checkable
class Engine(Protocol):
    """One running instance of one checkpoint."""

    @property
    def profile(self) -> EngineProfile:
        """What this engine and version can do."""
        ...

    @property
    def model(self) -> str:
        """The name under which the engine serves its checkpoint."""
        ...

    @property
    def context_tokens(self) -> int:
        """The longest prompt plus answer that one request may have."""
        ...

    def generate(self, request: GenerateRequest) -> AsyncGenerator[StreamPart]:
        """Stream one generation; the last part is always a `Generation`.

        Closing the iterator early (or cancelling the task that reads it) cancels the generation in the engine.

        Raises:
            EngineUnavailableError: Nothing answers, or the connection was lost before the first byte.
            EngineRejectedError: The engine refused the request.
            EngineTimeoutError: The deadline passed or the stream stalled.
            StreamError: The stream ended without an end, or carried an error.
        """
        ...

    async def count_tokens(self, messages: Sequence[ChatMessage]) -> int:
        """Tokens of the rendered prompt, template included, counted by the engine itself where it can."""
        ...

    async def aclose(self) -> None:
        """Close connections. The engine keeps running."""
        ...


@dataclass(frozen=True)
class PrefixState:
    """A computed prefix that can be copied into other slots."""

    name: str
    tokens: int
    usage: TokenUsage = field(default_factory=lambda: TokenUsage(prompt=0, output=0))


@runtime_checkable
class PrefixCopier(Protocol):
    """An engine whose slots can take over another slot's KV cache (llama.cpp)."""

    @property
    def slots(self) -> int:
        """How many slots the engine has."""
        ...

    async def compute_prefix(
        self, messages: Sequence[ChatMessage], *, slot: int, deadline_s: float | None = None, owner: str | None = None
    ) -> PrefixState:
        """Compute the part of the rendered prompt up to the end of the last message's text, in one slot, and save it.

        Args:
            messages: The prompt.
            slot: The slot to compute it in.
            deadline_s: Seconds from the call within which it must be done.
            owner: The user whose prompt it is. What was kept of this user's earlier prompts may be restored first.

        Returns:
            The state. Its usage tells how many tokens were computed and how many were found.
        """
        ...

    async def restore_prefix(self, state: PrefixState, *, slot: int) -> None:
        """Put a saved prefix into another slot."""
        ...


@runtime_checkable
class PrefixKeeper(Protocol):
    """An engine that can keep the prefixes it computed for a user, so that a session that comes back finds its own."""

    def set_aside_prefix(self, state: PrefixState) -> None:
        """Save a state from being overwritten once no slot needs it any more; quick."""
        ...

    def keep_prefix(self, state: PrefixState) -> None:
        """Keep what was set aside, beside whatever else goes on. Nothing is lost but time when that fails."""
        ...
