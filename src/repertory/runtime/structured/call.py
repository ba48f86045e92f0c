"""The two ways to ask a model: for an object that satisfies a schema, and for text. The system's one retry layer."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import anyio

from repertory.engines.failures import EngineBusyError
from repertory.engines.protocol import Engine, GenerateRequest
from repertory.runtime.structured.failures import FailureKind
from repertory.runtime.structured.health import GrammarHealth
from repertory.runtime.structured.object_attempts import ObjectAttempts
from repertory.runtime.structured.records import AttemptRecord, StructuredResult, TextResult
from repertory.runtime.structured.retry import Retry, plan_retry
from repertory.runtime.structured.stream import OnPart, Streamed
from repertory.runtime.structured.text_attempts import TextAttempts

__all__ = ("OnAttempt", "structured_call", "text_call")

OnAttempt = Callable[[int, tuple[str, ...]], None]
"""Told when an attempt starts: its number, and what was wrong with the one before."""

_TRIES = 2
_PAUSE_S = 0.25
"""Seconds before a request is sent again to an engine that did not answer."""
_LEAST_TIME_S = 0.5
"""Seconds that must be left for a retry to be worth its prefill."""


async def structured_call(
    engine: Engine,
    request: GenerateRequest,
    schema: dict[str, Any],
    *,
    check: Callable[[dict[str, Any]], list[str]] | None = None,
    on_attempt: OnAttempt | None = None,
    on_part: OnPart | None = None,
    may_retry: Callable[[], bool] | None = None,
    deadline: float,
    health: GrammarHealth | None = None,
) -> StructuredResult:
    """Ask for an object that satisfies a schema and the agent's own checks; one retry, inside the deadline.

    The prompt should hold `field_guide(schema)`. What is handed back was parsed strictly and validated against the
    schema as written, whatever the engine promised. A failure is part of the result; only a schema that can not be used
    at all is raised.

    Args:
        engine: The instance.
        request: Prompt, cap and sampling; its `json_schema` is not looked at.
        schema: The schema as its author wrote it.
        check: Problems of a schema-valid answer, in words for the model.
        on_attempt: Told when an attempt starts.
        on_part: Hears every part of every stream, with the number of the attempt.
        may_retry: Whether a second try is still wanted; asked after a first one that failed.
        deadline: Monotonic seconds (`time.monotonic`).
        health: What earlier calls have shown of this instance; shared by all calls to it.

    Raises:
        SchemaError: The schema can not be used.
    """
    health = health or GrammarHealth()
    attempts = ObjectAttempts(engine, schema, check=check, on_part=on_part, deadline=deadline, health=health)
    first = Retry(replace(request, json_schema=None), grammar=engine.profile.structured_output and health.usable)
    records = await _try_twice(engine, attempts, first, on_attempt, may_retry, deadline)
    last = records[-1]
    return StructuredResult(
        tuple(records), last.problems, last.kind, last.reason, attempts.value, attempts.compiled.notes
    )


async def text_call(
    engine: Engine,
    request: GenerateRequest,
    *,
    check: Callable[[str], list[str]] | None = None,
    on_attempt: OnAttempt | None = None,
    on_part: OnPart | None = None,
    may_retry: Callable[[], bool] | None = None,
    deadline: float,
) -> TextResult:
    """Ask for text that passes the agent's own checks; one retry, inside the deadline.

    Args:
        engine: The instance.
        request: Prompt, cap and sampling.
        check: Problems of a whole text, in words for the model.
        on_attempt: Told when an attempt starts.
        on_part: Hears every part of every stream, with the number of the attempt.
        may_retry: Whether a second try is still wanted (not when its words have been shown already).
        deadline: Monotonic seconds (`time.monotonic`).
    """
    attempts = TextAttempts(engine, check=check, on_part=on_part, deadline=deadline)
    first = Retry(replace(request, json_schema=None), grammar=False)
    records = await _try_twice(engine, attempts, first, on_attempt, may_retry, deadline)
    last = records[-1]
    return TextResult(tuple(records), last.problems, last.kind, last.reason, attempts.text, attempts.partial)


class _Attempts(Protocol):
    """How one kind of answer is asked for and judged."""

    json: bool

    async def attempt(self, number: int, retry: Retry, records: list[AttemptRecord]) -> Streamed:
        """Send one request, judge what comes, and record it."""
        ...


async def _try_twice(
    engine: Engine,
    attempts: _Attempts,
    first: Retry,
    on_attempt: OnAttempt | None,
    may_retry: Callable[[], bool] | None,
    deadline: float,
) -> list[AttemptRecord]:
    """Ask, and where it can help ask differently once more; the last record says how it ended."""
    records: list[AttemptRecord] = []
    retry = first
    for number in range(1, _TRIES + 1):
        if on_attempt is not None:
            on_attempt(number, records[-1].problems if records else ())
        streamed = await attempts.attempt(number, retry, records)
        last = records[-1]
        if last.kind is None or number == _TRIES or not _worth_it(deadline, may_retry):
            break
        planned = await plan_retry(
            engine, retry.request, streamed, last.problems, grammar=last.grammar, json=attempts.json
        )
        if planned is None:
            break
        retry = planned
        await _pause(streamed, deadline)
    return records


def _worth_it(deadline: float, may_retry: Callable[[], bool] | None) -> bool:
    return deadline - time.monotonic() > _LEAST_TIME_S and (may_retry is None or may_retry())


async def _pause(streamed: Streamed, deadline: float) -> None:
    """Give an engine that did not answer a moment, never more than half of what remains."""
    if streamed.kind is not FailureKind.ENGINE_UNAVAILABLE:
        return
    wanted = getattr(streamed.error, "retry_after_s", None) if isinstance(streamed.error, EngineBusyError) else None
    await anyio.sleep(min(max(_PAUSE_S, wanted or 0.0), max(0.0, (deadline - time.monotonic()) / 2)))
