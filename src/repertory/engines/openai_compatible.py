"""The adapter for any server that speaks OpenAI's chat completions; those of vLLM, SGLang and llama.cpp build on it."""

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager

import anyio

from repertory.engines.admission import Admission
from repertory.engines.answer import AnswerReader
from repertory.engines.deadline import Deadline
from repertory.engines.estimate import estimate_output_tokens, estimate_prompt_tokens, words
from repertory.engines.failures import SilentTruncationError, StreamFrameError, StreamStalledError
from repertory.engines.http import ByteStream, EngineClient
from repertory.engines.messages import normalise_messages, wire_messages
from repertory.engines.openai_reader import ChatReader
from repertory.engines.profile import EngineProfile
from repertory.engines.protocol import ChatMessage, GenerateRequest, Generation, StreamPart, TokensProcessed
from repertory.engines.sse import SseParser
from repertory.errors import EngineTimeoutError

__all__ = ("OpenAIEngine", "ProgressClock", "response_format", "wire_tools")


class OpenAIEngine:
    """One instance behind an OpenAI-compatible URL. Asks for nothing that is not in every such server.

    Args:
        client: Speaks HTTP to the server.
        model: The name of the served model.
        profile: What the engine can do.
        context_tokens: The longest prompt plus answer.
        max_in_flight: How many requests are sent at once; more wait in our own queue.
        prefix: Path before the dialect's own paths (`/v1`).
    """

    def __init__(
        self,
        client: EngineClient,
        *,
        model: str,
        profile: EngineProfile,
        context_tokens: int,
        max_in_flight: int = 8,
        prefix: str = "/v1",
    ) -> None:
        self.client = client
        self.admission = Admission(max_in_flight)
        self._model = model
        self._profile = profile
        self._context_tokens = context_tokens
        self._prefix = prefix

    @property
    def profile(self) -> EngineProfile:
        """What this engine and version can do."""
        return self._profile

    @property
    def model(self) -> str:
        """The name under which the engine serves its checkpoint."""
        return self._model

    @property
    def context_tokens(self) -> int:
        """The longest prompt plus answer that one request may have."""
        return self._context_tokens

    def normalise(self, messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
        """The messages as this engine gets them."""
        return normalise_messages(messages, folds_system=self._profile.folds_system)

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[StreamPart]:
        """Stream one generation; see `repertory.engines.protocol.Engine.generate`."""
        deadline = Deadline(request.deadline_s)
        messages = self.normalise(request.messages)
        async with self._place(request, deadline):
            answer = AnswerReader(
                request,
                messages,
                where=self.client.base_url,
                starts_inside_thinking=self._profile.opens_thinking and self.thinking_of(request) is not False,
            )
            async with aclosing(self._exchange(request, messages, answer, deadline)) as parts:
                async for part in parts:
                    yield part
            held, generation = answer.finish()
            self._check_counts(messages, generation)
        # The place is free again before the last parts go out: a slow reader holds up nobody.
        for part in held:
            yield part
        yield generation

    def thinking_of(self, request: GenerateRequest) -> bool | None:
        """What the engine is told about thinking: the request's wish, as far as it goes together with a grammar."""
        constrained = request.json_schema is not None and self._profile.structured_output
        if constrained and not self._profile.grammar_after_reasoning:
            # The grammar would hold inside the thinking too, which then could not be left.
            return False if self._profile.grammar_without_thinking else None
        if constrained and request.thinking is False and not self._profile.grammar_without_thinking:
            return None
        return request.thinking

    async def count_tokens(self, messages: Sequence[ChatMessage]) -> int:
        """Tokens of the rendered prompt, template included; an upper bound where the engine can not count."""
        return await self.count_request(GenerateRequest(messages, max_output_tokens=1))

    async def count_request(self, request: GenerateRequest) -> int:
        """Tokens of the prompt that `generate` would send, with its tools and its setting for thinking.

        This kind of server can not count (`profile.counts_tokens` is false): the result is an upper bound.
        """
        tools = json.dumps(wire_tools(request.tools)) if request.tools else ""
        return estimate_prompt_tokens(self.normalise(request.messages)) + estimate_output_tokens(tools)

    def adopt(self, profile: EngineProfile) -> None:
        """Take over a profile that a probe has proven."""
        self._profile = profile

    async def aclose(self) -> None:
        """Close connections. The engine keeps running."""
        await self.client.aclose()

    def body(self, request: GenerateRequest, messages: Sequence[ChatMessage]) -> dict[str, object]:
        """The JSON that is sent. Adapters add what their engine has beyond it."""
        body: dict[str, object] = {
            "model": self._model,
            "messages": wire_messages(messages),
            "max_tokens": request.cap,
            "temperature": request.temperature,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.seed is not None:
            body["seed"] = request.seed
        if request.json_schema is not None and self._profile.structured_output:
            body["response_format"] = response_format(request.json_schema)
        if request.tools:
            body["tools"] = wire_tools(request.tools)
        return body

    @asynccontextmanager
    async def _place(self, request: GenerateRequest, deadline: Deadline) -> AsyncGenerator[None]:
        async with self.admission.enter(priority=request.priority, deadline=deadline, where=self.client.base_url):
            yield

    async def _exchange(
        self, request: GenerateRequest, messages: Sequence[ChatMessage], answer: AnswerReader, deadline: Deadline
    ) -> AsyncGenerator[StreamPart]:
        """Send one request and yield the parts of its answer; closing it closes the connection."""
        with_schema = request.json_schema is not None
        reader = ChatReader(answer, where=self.client.base_url, with_schema=with_schema)
        path, body = f"{self._prefix}/chat/completions", self.body(request, messages)
        async with self.client.stream(path, body, deadline=deadline, with_schema=with_schema) as stream:
            if "json" in stream.content_type:
                for part in _take_whole(await _read_whole(stream, deadline, self.client), reader):
                    yield part
                return
            parser = SseParser()
            clock = ProgressClock(self.client, deadline)
            while not reader.closed:
                chunk = await clock.read(stream, answer)
                if chunk is None:
                    break
                for event in parser.feed(chunk):
                    for part in reader.feed(event):
                        clock.note(part)
                        yield part
            rest = parser.finish()
            if rest is not None and not reader.closed:
                for part in reader.feed(rest):
                    yield part

    def _check_counts(self, messages: Sequence[ChatMessage], generation: Generation) -> None:
        """Notice a server that cut the prompt: it then counts fewer tokens than the prompt has words."""
        usage = generation.usage
        least = sum(words(message.content) for message in messages)
        if not usage.estimated and usage.prompt < least:
            message = f"the engine counts {usage.prompt} prompt tokens, but the prompt has {least} words: it was cut"
            raise SilentTruncationError(message, usage=usage, where=self.client.base_url)


class ProgressClock:
    """Bounds the time between two parts of an answer; bytes that carry no part (keep-alive comments) do not count."""

    def __init__(self, client: EngineClient, deadline: Deadline) -> None:
        self._timeouts = client.timeouts
        self._where = client.base_url
        self._deadline = deadline
        self._last = anyio.current_time()
        self._begun = False

    def note(self, part: StreamPart) -> None:
        """A part has come."""
        self._last = anyio.current_time()
        self._begun = self._begun or not isinstance(part, TokensProcessed)

    async def read(self, stream: ByteStream, answer: AnswerReader) -> bytes | None:
        """The next bytes; None at the end, which is also when nothing follows the reason of the end."""
        self._deadline.check("reading the answer", where=self._where)
        limit_s = self._timeouts.stall_s if self._begun else self._timeouts.first_part_s
        if answer.finished:
            limit_s = self._timeouts.ending_s
        waited_s = anyio.current_time() - self._last
        try:
            return await stream.read(within_s=max(0.0, min(limit_s - waited_s, self._deadline.remaining_s)))
        except TimeoutError:
            if answer.finished:
                return None
            self._deadline.check("reading the answer", where=self._where)
            message = f"nothing of the answer has come for {limit_s:g} s"
            raise StreamStalledError(message, where=self._where) from None


def response_format(schema: Mapping[str, object]) -> dict[str, object]:
    """The schema as chat completions take it."""
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}}


def wire_tools(tools: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
    """The tools as chat completions take them."""
    return [{"type": "function", "function": dict(tool)} for tool in tools]


def _take_whole(body: str, reader: ChatReader) -> list[StreamPart]:
    """An answer in one piece; some proxies call a stream of events JSON too."""
    if not body.lstrip().startswith(("data:", "event:", ":")):
        return reader.feed_whole(body)
    parser = SseParser()
    events = [*parser.feed(body.encode()), parser.finish()]
    return [part for event in events if event is not None for part in reader.feed(event)]


async def _read_whole(stream: ByteStream, deadline: Deadline, client: EngineClient) -> str:
    body = bytearray()
    while True:
        deadline.check("reading the answer", where=client.base_url)
        limit_s = min(deadline.remaining_s, client.timeouts.first_part_s)
        try:
            chunk = await stream.read(within_s=limit_s)
        except TimeoutError:
            deadline.check("reading the answer", where=client.base_url)
            message = f"the answer did not come within {limit_s:g} s"
            raise EngineTimeoutError(message, where=client.base_url) from None
        if chunk is None:
            return bytes(body).decode("utf-8", "replace")
        body += chunk
        if len(body) > 64 * 1024 * 1024:
            message = "the answer is larger than 64 MiB"
            raise StreamFrameError(message, where=client.base_url)
