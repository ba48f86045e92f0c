"""What can go wrong with an engine, as types, and how an engine's own error text is told apart.

Each class here refines one of `repertory.errors`, so that a caller who only knows those is served as well. `code` is a
stable short name for events, metrics and JSON.
"""

import re
from typing import ClassVar, cast

from repertory.engines.json_text import load_json
from repertory.engines.keyword_words import find_pointer, named_keywords
from repertory.engines.protocol import TokenUsage
from repertory.errors import (
    ContextBudgetError,
    EngineError,
    EngineRejectedError,
    EngineTimeoutError,
    EngineUnavailableError,
    OutputError,
    RepertoryError,
    StreamError,
)

__all__ = (
    "ContextExhaustedError",
    "EmptyAnswerError",
    "EngineBusyError",
    "EngineFaultError",
    "ReasoningExhaustedError",
    "SchemaRejectedError",
    "SilentTruncationError",
    "StreamEngineError",
    "StreamFrameError",
    "StreamIncompleteError",
    "StreamStalledError",
    "TemplateRejectedError",
    "classify_failure",
    "failure_code",
    "shorten",
)


class SchemaRejectedError(EngineRejectedError):
    """The engine does not take the JSON Schema; a simpler one (or none) may pass.

    Args:
        message: What the engine said.
        keywords: The JSON Schema keywords that the engine named; None to find them in what it said.
        pointer: The place in the schema that the engine named, if it named one.
        where: The engine's address.
    """

    code: ClassVar[str] = "schema_rejected"

    def __init__(
        self,
        message: str,
        *,
        keywords: tuple[str, ...] | None = None,
        pointer: str | None = None,
        where: str | None = None,
    ) -> None:
        keywords = named_keywords(message) if keywords is None else keywords
        place = f" (at {pointer})" if pointer else ""
        about = f", keyword {', '.join(map(repr, keywords))}" if keywords else ""
        super().__init__(
            f"the engine does not take the JSON Schema{about}{place}: {message}",
            where=where,
            hint="the schema is simplified for this engine and the rest is checked by us",
        )
        self.keywords = keywords
        self.pointer = pointer


class TemplateRejectedError(EngineRejectedError):
    """The model's chat template refused the messages; sending them again can not help, whatever the HTTP status."""

    code: ClassVar[str] = "template_error"


class EngineBusyError(EngineUnavailableError):
    """The engine answers, but takes no request now: still loading, or overloaded."""

    code: ClassVar[str] = "engine_busy"

    def __init__(self, message: str, *, where: str | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(message, where=where)
        self.retry_after_s = retry_after_s


class EngineFaultError(EngineUnavailableError):
    """The engine failed inside (HTTP 5xx) or its connection broke before it answered.

    Args:
        message: What was seen.
        status: The HTTP status, None when the connection broke.
        where: The engine's address.
    """

    code: ClassVar[str] = "engine_fault"

    def __init__(self, message: str, *, status: int | None = None, where: str | None = None) -> None:
        super().__init__(message, where=where)
        self.status = status


class StreamIncompleteError(StreamError):
    """The stream ended without saying that the answer is whole. What came is kept as `partial`, never as an answer."""

    code: ClassVar[str] = "stream_incomplete"

    def __init__(self, message: str, *, partial: str = "", reasoning: str = "", where: str | None = None) -> None:
        super().__init__(message, where=where)
        self.partial = partial
        self.reasoning = reasoning


class StreamFrameError(StreamError):
    """A frame of the stream can not be read: broken JSON, a shape no engine has, or too large."""

    code: ClassVar[str] = "stream_garbage"


class StreamEngineError(StreamError):
    """The engine reported an error inside the stream, after HTTP 200."""

    code: ClassVar[str] = "stream_error"


class ContextExhaustedError(StreamError):
    """The engine ran out of KV cache while it generated; other requests share the blame, so trying again may work."""

    code: ClassVar[str] = "context_exhausted"


class StreamStalledError(EngineTimeoutError):
    """The stream is open, but nothing of the answer has come for too long."""

    code: ClassVar[str] = "stream_stalled"


class EmptyAnswerError(OutputError):
    """The engine ended the answer normally, but there is nothing in it."""

    code: ClassVar[str] = "empty_answer"

    def __init__(self, message: str, *, usage: TokenUsage, reasoning: str = "", where: str | None = None) -> None:
        super().__init__(message, where=where)
        self.usage = usage
        self.reasoning = reasoning


class ReasoningExhaustedError(OutputError):
    """All tokens went into thinking; none was left for the answer."""

    code: ClassVar[str] = "reasoning_exhausted"

    def __init__(self, *, usage: TokenUsage, cap: int, reasoning: str = "", where: str | None = None) -> None:
        super().__init__(
            f"all {usage.output} of at most {cap} tokens were spent thinking, none on the answer",
            where=where,
            hint="give the agent more output tokens, or turn thinking off",
        )
        self.usage = usage
        self.cap = cap
        self.reasoning = reasoning


class SilentTruncationError(OutputError):
    """The engine cut the prompt or the answer to its context and did not say so; its own counts show it."""

    code: ClassVar[str] = "silent_truncation"

    def __init__(self, message: str, *, usage: TokenUsage, where: str | None = None) -> None:
        super().__init__(message, where=where, hint="shorten the prompt or serve the model with a longer context")
        self.usage = usage


_BASE_CODES: tuple[tuple[type[RepertoryError], str], ...] = (
    (ContextBudgetError, "context_overflow"),
    (EngineRejectedError, "engine_rejected"),
    (EngineTimeoutError, "deadline"),
    (EngineUnavailableError, "engine_unavailable"),
    (StreamError, "stream_error"),
    (OutputError, "output_unusable"),
    (EngineError, "engine_error"),
)


def failure_code(error: BaseException) -> str:
    """The stable short name of a failure, for events and metrics."""
    code = getattr(error, "code", None)
    if isinstance(code, str):
        return code
    for kind, name in _BASE_CODES:
        if isinstance(error, kind):
            return name
    return "internal"


_OVERFLOW = re.compile(
    r"exceed_context_size|exceeds? the available context|maximum context length|context[_ ]length[_ ]exceeded"
    r"|longer than the (?:maximum )?model|longer than the model's context|context (?:window|size|length) (?:is |of )?"
    r"(?:exceeded|too small)|exceeds? (?:the )?(?:model's )?(?:maximum )?(?:context|max_model_len)"
    r"|prompt (?:is|was) too long|input (?:is )?too (?:long|large)|reduce the length of the (?:messages|prompt|input)"
    r"|exceeds? context window",
    re.IGNORECASE,
)
_KV_PRESSURE = re.compile(
    r"context size has been exceeded|kv cache|no (?:kv|slot) space|failed to (?:find|decode)|out of memory|preempt",
    re.IGNORECASE,
)
_SCHEMA = re.compile(
    r"json[ _-]?schema|grammar|response_format|structured[ _]?output|guided|xgrammar|outlines|llguidance|lm.format"
    r"|regex|\bschema\b|unrecognized type|\$ref",
    re.IGNORECASE,
)
_TEMPLATE = re.compile(
    r"jinja|chat.?template|roles must alternate|template (?:error|render)|conversation roles|raise_exception"
    r"|error rendering|system role not supported",
    re.IGNORECASE,
)


def classify_failure(
    status: int, body: str, *, where: str, with_schema: bool = False, retry_after: str | None = None
) -> RepertoryError:
    """The typed error for an HTTP answer that is not a success.

    Args:
        status: The HTTP status.
        body: The answer's body; the engine's text is taken out of it and shortened.
        where: The engine's address.
        with_schema: Whether the request carried a JSON Schema.
        retry_after: The `Retry-After` header.
    """
    said = error_text(body) or f"HTTP {status} without a text"
    if status in {401, 403}:
        return EngineRejectedError(
            f"the engine wants another API key (HTTP {status}): {said}", where=where, hint="give its key with api_key"
        )
    told = classify_text(said, body=body, where=where, with_schema=with_schema)
    if told is not None:
        return told
    if status == 404:
        return EngineRejectedError(
            f"the engine does not have what was asked for (HTTP 404): {said}",
            where=where,
            hint="check the model's name against the names it serves",
        )
    if status in {408, 504}:
        return EngineTimeoutError(f"the engine gave up waiting (HTTP {status}): {said}", where=where)
    if status in {429, 503}:
        return EngineBusyError(
            f"the engine takes no request now (HTTP {status}): {said}", where=where, retry_after_s=_seconds(retry_after)
        )
    if status >= 500 and _KV_PRESSURE.search(said):
        return ContextExhaustedError(f"the engine ran out of room (HTTP {status}): {said}", where=where)
    if status >= 500:
        return EngineFaultError(f"the engine failed (HTTP {status}): {said}", status=status, where=where)
    return EngineRejectedError(f"the engine refused the request (HTTP {status}): {said}", where=where)


def classify_text(said: str, *, body: str = "", where: str, with_schema: bool) -> RepertoryError | None:
    """The typed error that an engine's words alone give away, or None."""
    if _OVERFLOW.search(said) or _OVERFLOW.search(body[:4000]):
        return ContextBudgetError(
            f"the prompt does not fit the engine's context: {said}",
            where=where,
            hint="shorten the prompt or serve the model with a longer context",
        )
    if with_schema and _SCHEMA.search(said):
        return SchemaRejectedError(said, pointer=find_pointer(said), where=where)
    if _TEMPLATE.search(said):
        return TemplateRejectedError(
            f"the model's chat template refuses the messages: {said}",
            where=where,
            hint="a template with other roles needs its own profile (`folds_system`)",
        )
    return None


def classify_in_band(said: str, *, where: str, with_schema: bool) -> RepertoryError:
    """The typed error for an error that came inside a stream."""
    if _KV_PRESSURE.search(said):
        return ContextExhaustedError(f"the engine ran out of room while it generated: {said}", where=where)
    told = classify_text(said, where=where, with_schema=with_schema)
    return told or StreamEngineError(f"the engine broke the answer off: {said}", where=where)


def error_text(body: str | object) -> str:
    """What an engine says went wrong, taken out of the shapes in use, shortened and safe to print."""
    value: object = body
    if isinstance(body, str):
        try:
            value = load_json(body)
        except ValueError:
            return shorten(body)
    for _ in range(4):
        if isinstance(value, dict):
            fields = cast("dict[str, object]", value)
            value = next((fields[name] for name in ("error", "message", "detail", "msg") if fields.get(name)), None)
        elif isinstance(value, list):
            value = cast("list[object]", value)[0] if value else None
        else:
            break
    return shorten(value) if isinstance(value, str) else ""


def shorten(text: str, limit: int = 300) -> str:
    """Untrusted text on one line, without control characters, at most `limit` characters."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text[: limit * 8]).split())
    return line if len(line) <= limit else f"{line[: limit - 3]}..."


def _seconds(header: str | None) -> float | None:
    try:
        return max(0.0, float(header)) if header else None
    except ValueError:
        return None
