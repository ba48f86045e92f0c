"""The adapter for Ollama's own API: its OpenAI dialect ignores the context length and the thinking switch."""

from collections.abc import AsyncGenerator, Sequence
from typing import cast

from repertory.engines.answer import AnswerReader
from repertory.engines.deadline import Deadline
from repertory.engines.failures import (
    SilentTruncationError,
    StreamFrameError,
    classify_in_band,
    error_text,
    shorten,
)
from repertory.engines.http import EngineClient
from repertory.engines.json_lines import JsonLineParser
from repertory.engines.json_text import load_json
from repertory.engines.messages import wire_messages
from repertory.engines.openai_compatible import OpenAIEngine, ProgressClock, wire_tools
from repertory.engines.openai_reader import token_count
from repertory.engines.profile import EngineProfile
from repertory.engines.protocol import ChatMessage, GenerateRequest, Generation, StreamPart, TokenUsage

__all__ = ("OllamaEngine",)


class OllamaEngine(OpenAIEngine):
    """One model of an Ollama server.

    Args:
        client: Speaks HTTP to the server.
        model: The model's name with its tag.
        profile: What the engine can do.
        context_tokens: Sent as `num_ctx` with every request; another value would make the server load the model again.
        max_in_flight: How many requests are sent at once (`OLLAMA_NUM_PARALLEL`).
    """

    def __init__(
        self,
        client: EngineClient,
        *,
        model: str,
        profile: EngineProfile,
        context_tokens: int,
        max_in_flight: int = 4,
    ) -> None:
        super().__init__(
            client, model=model, profile=profile, context_tokens=context_tokens, max_in_flight=max_in_flight
        )

    def body(self, request: GenerateRequest, messages: Sequence[ChatMessage]) -> dict[str, object]:
        """The JSON that is sent."""
        options: dict[str, object] = {
            "num_ctx": self._context_tokens,
            "num_predict": request.cap,
            "temperature": request.temperature,
        }
        if request.seed is not None:
            options["seed"] = request.seed
        body: dict[str, object] = {
            "model": self._model,
            "messages": wire_messages(messages),
            "stream": True,
            "options": options,
        }
        if request.json_schema is not None and self._profile.structured_output:
            body["format"] = request.json_schema
        thinking = self.thinking_of(request)
        if thinking is not None and self._profile.thinking_switch:
            body["think"] = thinking  # a model that can not think refuses the field
        if request.tools:
            body["tools"] = wire_tools(request.tools)
        return body

    async def _exchange(
        self, request: GenerateRequest, messages: Sequence[ChatMessage], answer: AnswerReader, deadline: Deadline
    ) -> AsyncGenerator[StreamPart]:
        with_schema = request.json_schema is not None
        body = self.body(request, messages)
        async with self.client.stream("/api/chat", body, deadline=deadline, with_schema=with_schema) as stream:
            parser = JsonLineParser()
            clock = ProgressClock(self.client, deadline)
            while not answer.ended:
                chunk = await clock.read(stream, answer)
                lines = parser.feed(chunk) if chunk is not None else [line for line in (parser.finish(),) if line]
                for line in lines:
                    for part in self._take(line, answer, with_schema=with_schema, whole=chunk is not None):
                        clock.note(part)
                        yield part
                if chunk is None:
                    break

    def _take(self, line: str, answer: AnswerReader, *, with_schema: bool, whole: bool) -> list[StreamPart]:
        where = self.client.base_url
        if answer.ended:
            return []
        try:
            value: object = load_json(line)
        except ValueError:
            if not whole:
                return []  # cut off by the end of the stream, which is judged by itself
            message = f"a line of the stream is not JSON: {shorten(line, 120)!r}"
            raise StreamFrameError(message, where=where) from None
        frame = cast("dict[str, object]", value) if isinstance(value, dict) else {}
        if frame.get("error"):
            raise classify_in_band(error_text(frame) or shorten(line), where=where, with_schema=with_schema)
        if "message" not in frame and "done" not in frame:
            message = f"a line of the stream has no message: {shorten(line, 120)!r}"
            raise StreamFrameError(message, where=where)
        parts = _take_message(frame.get("message"), answer)
        if frame.get("done") is True:
            prompt, output = token_count(frame.get("prompt_eval_count")), token_count(frame.get("eval_count"))
            if output is not None:
                # An old server leaves the prompt's count out when it was cached.
                answer.usage = TokenUsage(prompt=prompt or 0, output=output, estimated=prompt is None)
            reason = frame.get("done_reason")
            if isinstance(reason, str) and reason:
                answer.set_finish(reason)
            answer.ended = True
        return parts

    def _check_counts(self, messages: Sequence[ChatMessage], generation: Generation) -> None:
        """Ollama cuts a prompt to `num_ctx` without a word, and ends an answer there without saying `length`."""
        usage = generation.usage
        if not usage.estimated and usage.prompt + usage.output >= self._context_tokens:
            message = (
                f"prompt and answer fill the context of {self._context_tokens} tokens exactly "
                f"({usage.prompt} + {usage.output}): Ollama cuts without a word"
            )
            raise SilentTruncationError(message, usage=usage, where=self.client.base_url)
        if usage.prompt and sum(len(message.content) for message in messages) > self._context_tokens:
            super()._check_counts(messages, generation)


def _take_message(message: object, answer: AnswerReader) -> list[StreamPart]:
    fields = cast("dict[str, object]", message) if isinstance(message, dict) else {}
    parts: list[StreamPart] = []
    thinking = fields.get("thinking") or fields.get("reasoning")
    if isinstance(thinking, str) and thinking:
        parts.extend(answer.add_reasoning(thinking))
    content = fields.get("content")
    if isinstance(content, str) and content:
        parts.extend(answer.add_text(content))
    if fields.get("tool_calls"):
        answer.add_tool_calls(fields["tool_calls"])
    return parts
