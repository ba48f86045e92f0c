"""An engine in memory that plays one scripted stream per request."""

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field

import anyio

from repertory.engines.profile import EngineKind, EngineProfile, FanOut, KeywordSupport
from repertory.engines.protocol import (
    ChatMessage,
    FinishReason,
    GenerateRequest,
    Generation,
    ReasoningDelta,
    StreamPart,
    TextDelta,
    TokensProcessed,
    TokenUsage,
)

GRAMMAR: dict[str, KeywordSupport] = {
    "minLength": "grammar",
    "maxLength": "grammar",
    "minItems": "grammar",
    "maxItems": "grammar",
    "pattern": "grammar",
    "minimum": "grammar",
    "maximum": "grammar",
}


@dataclass(frozen=True)
class Say:
    """One answer: its text, its thinking and its end."""

    text: str = ""
    reasoning: str = ""
    finish: FinishReason = FinishReason.STOP
    output: int | None = None
    piece: int = 7
    slow_s: float = 0.0


Step = Say | Exception | Callable[[GenerateRequest], Say | Exception]


@dataclass
class FakeEngine:
    """Plays the steps in order; the last one again and again."""

    steps: Sequence[Step]
    context_tokens: int = 4096
    keywords: dict[str, KeywordSupport] = field(default_factory=lambda: dict(GRAMMAR))
    structured_output: bool = True
    model: str = "fake"
    requests: list[GenerateRequest] = field(default_factory=list[GenerateRequest])
    closed_early: int = 0
    sent: int = 0

    @property
    def profile(self) -> EngineProfile:
        return EngineProfile(
            kind=EngineKind.LLAMACPP,
            fan_out=FanOut.PRIME,
            schema_keywords=self.keywords,
            structured_output=self.structured_output,
        )

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[StreamPart]:
        self.requests.append(request)
        step = self.steps[min(len(self.requests), len(self.steps)) - 1]
        if callable(step):
            step = step(request)
        if isinstance(step, Exception):
            raise step
        prompt = await self.count_tokens(request.messages)
        ended = False
        try:
            yield TokensProcessed(prompt, prompt)
            for kind, text in ((ReasoningDelta, step.reasoning), (TextDelta, step.text)):
                for start in range(0, len(text), step.piece):
                    await anyio.sleep(step.slow_s)
                    self.sent += len(text[start : start + step.piece])
                    yield kind(text[start : start + step.piece])
            output = step.output if step.output is not None else (len(step.text) + len(step.reasoning)) // 4
            ended = True
            yield Generation(step.finish, TokenUsage(prompt, output), step.text, step.reasoning)
        finally:
            self.closed_early += not ended

    async def count_tokens(self, messages: Sequence[ChatMessage]) -> int:
        return sum(len(message.content) // 4 + 4 for message in messages)

    async def aclose(self) -> None:
        pass


def ask(text: str = "Say it.", cap: int = 200, **more: object) -> GenerateRequest:
    messages = (ChatMessage("system", "You are an agent."), ChatMessage("user", text))
    return GenerateRequest(messages=messages, max_output_tokens=cap, **more)  # pyright: ignore[reportArgumentType] - keywords of a test
