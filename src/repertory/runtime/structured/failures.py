"""Every way in which a call to a model can fail, by one name each."""

from enum import StrEnum

from repertory.engines.failures import (
    ContextExhaustedError,
    EmptyAnswerError,
    EngineFaultError,
    ReasoningExhaustedError,
    SchemaRejectedError,
    SilentTruncationError,
    StreamStalledError,
)
from repertory.errors import (
    ContextBudgetError,
    EngineError,
    EngineRejectedError,
    EngineTimeoutError,
    EngineUnavailableError,
    HarnessError,
    OutputError,
    RepertoryError,
    StreamError,
)

__all__ = ("FailureKind", "kind_of")


class FailureKind(StrEnum):
    """What was wrong with one attempt.

    Of the answer: `GRAMMAR_WHITESPACE_LOOP` (white space without end between the tokens of JSON), `REPETITION_LOOP`
    (one chunk, item or digit again and again), `TRUNCATED` (cut at the cap), `REASONING_EXHAUSTED` (all tokens went
    into thinking), `EMPTY`, `NOT_JSON`, `SCHEMA_INVALID`, `CHECK_FAILED` (the agent's own checks), `OUTPUT_UNUSABLE`.
    Of the engine: `ENGINE_UNAVAILABLE` (nothing answers), `ENGINE_ERROR` (it failed inside), `ENGINE_REJECTED` (it
    refused the request), `SCHEMA_UNSUPPORTED` (it refused the schema), `STREAM_BROKEN`, `STREAM_STALLED`,
    `CONTEXT_EXHAUSTED` (it ran out of room for all its requests), `CONTEXT_OVERFLOW` (the prompt is too long),
    `SILENT_TRUNCATION` (it cut without saying so). `HARNESS_FAILED`: the program that runs the agent ended without an
    answer. `TIMEOUT`: the deadline passed.
    """

    GRAMMAR_WHITESPACE_LOOP = "grammar_whitespace_loop"
    REPETITION_LOOP = "repetition_loop"
    TRUNCATED = "truncated"
    REASONING_EXHAUSTED = "reasoning_exhausted"
    EMPTY = "empty"
    NOT_JSON = "not_json"
    SCHEMA_INVALID = "schema_invalid"
    CHECK_FAILED = "check_failed"
    OUTPUT_UNUSABLE = "output_unusable"
    ENGINE_UNAVAILABLE = "engine_unavailable"
    ENGINE_ERROR = "engine_error"
    ENGINE_REJECTED = "engine_rejected"
    SCHEMA_UNSUPPORTED = "schema_unsupported"
    STREAM_BROKEN = "stream_broken"
    STREAM_STALLED = "stream_stalled"
    CONTEXT_EXHAUSTED = "context_exhausted"
    CONTEXT_OVERFLOW = "context_overflow"
    SILENT_TRUNCATION = "silent_truncation"
    HARNESS_FAILED = "harness_failed"
    TIMEOUT = "timeout"


_KINDS: tuple[tuple[type[RepertoryError], FailureKind], ...] = (
    (SchemaRejectedError, FailureKind.SCHEMA_UNSUPPORTED),
    (EngineRejectedError, FailureKind.ENGINE_REJECTED),
    (EngineFaultError, FailureKind.ENGINE_ERROR),
    (EngineUnavailableError, FailureKind.ENGINE_UNAVAILABLE),
    (StreamStalledError, FailureKind.STREAM_STALLED),
    (EngineTimeoutError, FailureKind.TIMEOUT),
    (ContextExhaustedError, FailureKind.CONTEXT_EXHAUSTED),
    (StreamError, FailureKind.STREAM_BROKEN),
    (HarnessError, FailureKind.HARNESS_FAILED),
    (EngineError, FailureKind.ENGINE_ERROR),
    (ContextBudgetError, FailureKind.CONTEXT_OVERFLOW),
    (EmptyAnswerError, FailureKind.EMPTY),
    (ReasoningExhaustedError, FailureKind.REASONING_EXHAUSTED),
    (SilentTruncationError, FailureKind.SILENT_TRUNCATION),
    (OutputError, FailureKind.OUTPUT_UNUSABLE),
)
"""The first class that fits; refined classes stand before their bases."""


def kind_of(error: RepertoryError) -> FailureKind | None:
    """The kind of an error that an engine raised; None when it is not the engine's or the model's doing."""
    return next((kind for base, kind in _KINDS if isinstance(error, base)), None)
