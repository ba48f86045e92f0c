"""The single steps of a reply: choose a tool, fill in its arguments, or write to the person.

Where the engine's profile proves that the model calls tools in the engine's own way, one request does all three.
Elsewhere the name and the arguments are asked for one after the other, each held to a schema: even a small model then
calls a tool that exists with arguments that are valid. Arguments that were cut off are never handed on.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from repertory.engines.protocol import (
    ChatMessage,
    Engine,
    FinishReason,
    GenerateRequest,
    Generation,
    StreamPart,
    TextDelta,
    TokenUsage,
    ToolCall,
)
from repertory.errors import SchemaError
from repertory.registry.conversation.parts import ToolUse
from repertory.registry.conversation.prompt import NO_TOOL, ask_arguments, ask_tool
from repertory.registry.manifest import AgentManifest, ToolDeclaration
from repertory.runtime.structured import GrammarHealth, StructuredResult, TextWatch, structured_call
from repertory.runtime.structured.stream import Streamed, read_stream

__all__ = ("Chosen", "ModelSteps", "Written")

_CHOICE_TOKENS = 48
_ARGUMENT_TOKENS = 1024


@dataclass(frozen=True)
class Chosen:
    """What is done next.

    Attributes:
        tool: The tool to call; None when the person gets a reply.
        arguments: Its arguments.
        problem: Why a tool that was wanted is not called.
    """

    tool: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    problem: str | None = None


@dataclass(frozen=True)
class Written:
    """The end of a text for the person.

    Attributes:
        text: All of it.
        calls: Tools that the model wants called instead, or next.
        problem: Why it is not whole.
    """

    text: str
    calls: tuple[ToolCall, ...] = ()
    problem: str | None = None


@dataclass
class ModelSteps:
    """Asks one model for the steps of one reply.

    Args:
        engine: The instance.
        manifest: The agent.
        deadline: When the reply must be over, monotonic seconds.
        health: What earlier calls have shown of the instance's structured output.
        reply_tokens: The longest reply.
    """

    engine: Engine
    manifest: AgentManifest
    deadline: float
    health: GrammarHealth
    reply_tokens: int
    usage: list[TokenUsage] = field(default_factory=list[TokenUsage])

    @property
    def native(self) -> bool:
        """Whether tools are called in the engine's own way."""
        return bool(self.manifest.tools) and self.engine.profile.tool_calls

    async def choose(self, messages: Sequence[ChatMessage], question: str, uses: Sequence[ToolUse]) -> Chosen:
        """Which tool is called next, and with what.

        Args:
            messages: The prompt.
            question: The person's message.
            uses: The tools used so far.
        """
        names = [tool.name for tool in self.manifest.tools]
        schema = _object({"tool": {"enum": [*names, NO_TOOL]}})
        asked = [*messages, ChatMessage("user", ask_tool(self.manifest, question, uses))]
        result = await self._object(asked, schema, _CHOICE_TOKENS)
        if not result.usable or result.value is None:
            return Chosen(problem=f"no tool could be chosen: {result.reason}")
        tool = self.manifest.tool(str(result.value["tool"]))
        return Chosen() if tool is None else await self._arguments(messages, tool, question)

    async def _arguments(self, messages: Sequence[ChatMessage], tool: ToolDeclaration, question: str) -> Chosen:
        if not tool.input_schema.get("properties"):
            return Chosen(tool.name)
        asked = [*messages, ChatMessage("user", ask_arguments(tool, question))]
        try:
            result = await self._object(asked, tool.input_schema, _ARGUMENT_TOKENS)
        except SchemaError as error:
            return Chosen(problem=f"{tool.name} can not be called by a model: {error.message}")
        if not result.usable or result.value is None:
            return Chosen(problem=f"{tool.name} was not called, its arguments are not usable: {result.reason}")
        return Chosen(tool.name, result.value)

    async def _object(
        self, messages: Sequence[ChatMessage], schema: dict[str, Any], max_output_tokens: int
    ) -> StructuredResult:
        request = self._request(messages, min(max_output_tokens, self.engine.context_tokens // 4))
        result = await structured_call(self.engine, request, schema, deadline=self.deadline, health=self.health)
        self.usage += [attempt.usage for attempt in result.attempts if attempt.usage is not None]
        return result

    async def write(self, messages: Sequence[ChatMessage], *, with_tools: bool) -> AsyncGenerator[str | Written]:
        """Write to the person; the last item is the `Written`. Closing it early ends the generation.

        Args:
            messages: The prompt.
            with_tools: Whether the model may ask for tools, in the engine's own way.
        """
        request = self._request(messages, self.reply_tokens, with_tools=with_tools)
        heard: asyncio.Queue[StreamPart | None] = asyncio.Queue()
        reading = asyncio.create_task(
            read_stream(
                self.engine,
                request,
                TextWatch(),
                on_part=lambda part, _: heard.put_nowait(part),
                attempt=1,
                deadline=self.deadline,
            )
        )
        reading.add_done_callback(lambda _: heard.put_nowait(None))
        generation: Generation | None = None
        try:
            while (part := await heard.get()) is not None:
                if isinstance(part, TextDelta):
                    yield part.text
                elif isinstance(part, Generation):
                    generation = part
        finally:
            reading.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.shield(asyncio.gather(reading, return_exceptions=True))
        streamed = reading.result()
        if streamed.usage is not None:
            self.usage.append(streamed.usage)
        yield _written(streamed, generation)

    def _request(
        self, messages: Sequence[ChatMessage], max_output_tokens: int, *, with_tools: bool = False
    ) -> GenerateRequest:
        tools = [
            {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
            for tool in self.manifest.tools
        ]
        return GenerateRequest(
            messages=messages,
            max_output_tokens=max_output_tokens,
            thinking=False if self.engine.profile.thinking_switch else None,
            tools=tools if with_tools else (),
        )


def _written(streamed: Streamed, generation: Generation | None) -> Written:
    if streamed.kind is not None:
        return Written(streamed.text, problem=streamed.reason or streamed.kind.value)
    if streamed.finish is FinishReason.LENGTH:
        # The engine hands no call on of which a part was cut off.
        return Written(streamed.text, problem="the reply was cut at its longest length")
    calls = generation.tool_calls if generation is not None else ()
    return Written(streamed.text, calls)


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
