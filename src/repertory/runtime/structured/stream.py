"""One request, read to its end or closed early."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import anyio

from repertory.engines.estimate import estimate_prompt_tokens
from repertory.engines.protocol import (
    Engine,
    FinishReason,
    GenerateRequest,
    Generation,
    ReasoningDelta,
    StreamPart,
    TokensProcessed,
    TokenUsage,
)
from repertory.errors import RepertoryError
from repertory.runtime.structured.failures import FailureKind, kind_of
from repertory.runtime.structured.watch import Finding, JsonWatch, TextWatch

__all__ = ("OnPart", "Streamed", "read_stream")

OnPart = Callable[[StreamPart, int], None]
"""Gets every part of a stream with the number of the attempt."""

_CLOSING_S = 5.0
"""Seconds that closing a stream may take."""


@dataclass
class Streamed:
    """What came of one request; `kind` is None when the stream ended properly.

    Attributes:
        text: The answer, or what came of it.
        reasoning: The thinking.
        kind: What went wrong.
        reason: The same in one sentence.
        usage: Tokens, estimated when the stream did not end properly; None when it never began.
        finish: Why the engine ended.
        error: What the engine raised.
        seconds: From sending to the end.
    """

    text: str = ""
    reasoning: str = ""
    kind: FailureKind | None = None
    reason: str | None = None
    usage: TokenUsage | None = None
    finish: FinishReason | None = None
    error: RepertoryError | None = None
    seconds: float = 0.0


async def read_stream(
    engine: Engine,
    request: GenerateRequest,
    watch: JsonWatch | TextWatch,
    *,
    on_part: OnPart | None,
    attempt: int,
    deadline: float,
) -> Streamed:
    """Send a request and read its stream, until it ends, the watch finds something, or the deadline passes.

    Closing the stream cancels the generation in the engine. Only errors that are not the engine's or the model's doing
    are raised.

    Args:
        engine: Where it is sent.
        request: What is sent; its deadline is cut to what remains.
        watch: Fed with the answer's text.
        on_part: Hears every part.
        attempt: The number `on_part` is told.
        deadline: Monotonic seconds.
    """
    result = Streamed()
    began = time.monotonic()
    remaining = deadline - began
    if remaining <= 0:
        result.kind, result.reason = FailureKind.TIMEOUT, "the deadline passed before the request was sent"
        return result
    remaining = min(remaining, request.deadline_s) if request.deadline_s is not None else remaining
    reader = _Reader(result, watch, request)
    stream = engine.generate(replace(request, deadline_s=remaining))
    try:
        with anyio.move_on_after(remaining) as scope:
            async for part in stream:
                if on_part is not None:
                    on_part(part, attempt)
                if reader.take(part):
                    break
        if scope.cancelled_caught:
            result.kind, result.reason = FailureKind.TIMEOUT, f"no whole answer within {remaining:.1f} s"
    except RepertoryError as error:
        kind = kind_of(error)
        if kind is None:
            raise
        result.kind, result.reason, result.error = kind, error.message, error
        result.usage = getattr(error, "usage", None)
        result.reasoning = str(getattr(error, "reasoning", ""))
    finally:
        with anyio.move_on_after(_CLOSING_S, shield=True):
            await stream.aclose()
        result.seconds = time.monotonic() - began
    reader.settle()
    return result


class _Reader:
    """Gathers the parts of one stream."""

    def __init__(self, result: Streamed, watch: JsonWatch | TextWatch, request: GenerateRequest) -> None:
        self._result = result
        self._request = request
        self._watch = watch
        self._thoughts = TextWatch()
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._prompt = 0
        self._ended = False

    def take(self, part: StreamPart) -> bool:
        """Take a part; whether the stream should be closed now."""
        result = self._result
        if isinstance(part, Generation):
            self._ended = True
            result.text, result.reasoning = part.text, part.reasoning
            result.usage, result.finish = part.usage, part.finish_reason
            return True
        if isinstance(part, TokensProcessed):
            self._prompt = part.total
            return False
        if isinstance(part, ReasoningDelta):
            self._reasoning.append(part.text)
            finding = self._thoughts.feed(part.text) or self._over_reserve()
        else:
            self._text.append(part.text)
            finding = self._watch.feed(part.text)
        if finding is None:
            return False
        if finding.complete:
            result.finish = FinishReason.STOP
        else:
            result.kind, result.reason = finding.kind, finding.reason
        return True

    def _over_reserve(self) -> Finding | None:
        """Thinking that goes beyond its reserve eats the answer's. No engine puts less than a token into a piece."""
        reserve = self._request.max_thinking_tokens
        if not reserve or len(self._reasoning) <= reserve:
            return None
        reason = f"the model thinks beyond its {reserve} tokens and has not begun to answer"
        return Finding(FailureKind.REASONING_EXHAUSTED, reason) if not self._text else None

    def settle(self) -> None:
        """Fill in what a stream that did not end properly left open."""
        result = self._result
        if self._ended:
            return
        result.text = result.text or "".join(self._text)
        result.reasoning = result.reasoning or "".join(self._reasoning)
        pieces = len(self._text) + len(self._reasoning)
        if result.usage is None and pieces:
            prompt = self._prompt or estimate_prompt_tokens(self._request.messages)
            result.usage = TokenUsage(prompt=prompt, output=pieces, estimated=True)
        if result.kind is None and result.finish is None:
            result.kind, result.reason = FailureKind.STREAM_BROKEN, "the stream ended without an end"
