"""The two ways to ask a model: for an object that satisfies a schema, and for text. The system's one retry layer."""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import anyio

from repertory.engines.failures import EngineBusyError
from repertory.engines.protocol import Engine, FinishReason, GenerateRequest
from repertory.engines.schema import CompiledSchema, compile_schema, field_guide
from repertory.engines.schema.keywords import DROPPABLE
from repertory.runtime.structured.failures import FailureKind
from repertory.runtime.structured.health import GrammarHealth
from repertory.runtime.structured.parse import AnswerSyntaxError, clean_text, parse_answer
from repertory.runtime.structured.records import AttemptRecord, StructuredResult, TextResult
from repertory.runtime.structured.retry import Retry, ask_for_json, plan_retry
from repertory.runtime.structured.stream import OnPart, Streamed, read_stream
from repertory.runtime.structured.watch import JsonWatch, TextWatch

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
    call = _StructuredCall(engine, schema, check, on_part, deadline, health or GrammarHealth())
    base = replace(request, json_schema=None)
    retry = Retry(base, grammar=engine.profile.structured_output and call.health.usable)
    records: list[AttemptRecord] = []
    valid: dict[str, Any] | None = None
    for number in range(1, _TRIES + 1):
        if on_attempt is not None:
            on_attempt(number, records[-1].problems if records else ())
        value, streamed = await call.attempt(number, retry, records)
        valid = value if value is not None else valid
        last = records[-1]
        if last.kind is None:
            return StructuredResult(tuple(records), (), None, None, value, call.compiled.notes)
        if number == _TRIES or not _worth_it(deadline, may_retry):
            break
        planned = await plan_retry(engine, retry.request, streamed, last.problems, grammar=last.grammar, json=True)
        if planned is None:
            break
        retry = planned
        await _pause(streamed, deadline)
    last = records[-1]
    return StructuredResult(tuple(records), last.problems, last.kind, last.reason, valid, call.compiled.notes)


class _StructuredCall:
    """What stays the same over the attempts of one structured call."""

    def __init__(
        self,
        engine: Engine,
        schema: dict[str, Any],
        check: Callable[[dict[str, Any]], list[str]] | None,
        on_part: OnPart | None,
        deadline: float,
        health: GrammarHealth,
    ) -> None:
        self.health = health
        self._engine = engine
        self._schema = schema
        self._check = check
        self._on_part = on_part
        self._deadline = deadline
        self.compiled = self._compile()
        self._guide = field_guide(schema)

    def _compile(self) -> CompiledSchema:
        return compile_schema(self._schema, self._engine.profile, without=self.health.refused)

    async def attempt(
        self, number: int, retry: Retry, records: list[AttemptRecord]
    ) -> tuple[dict[str, Any] | None, Streamed]:
        """One try. A schema that the engine refuses is made simpler and sent again: that is not the model's failure."""
        grammar = retry.grammar
        while True:
            sent = ask_for_json(retry.request, self._guide)
            if grammar:
                sent = replace(retry.request, json_schema=self.compiled.grammar_schema)
            streamed = await self._stream(sent, number)
            value, problems, misrouted = self._judge(streamed, sent)
            records.append(_record(number, sent, streamed, problems, misrouted=misrouted))
            self.health.record(streamed.kind, grammar=grammar)
            if streamed.kind is not FailureKind.SCHEMA_UNSUPPORTED or not grammar:
                return value, streamed
            grammar = self._lower(streamed)

    async def _stream(self, sent: GenerateRequest, number: int) -> Streamed:
        watch = JsonWatch(self.compiled.bounded)
        return await read_stream(
            self._engine, sent, watch, on_part=self._on_part, attempt=number, deadline=self._deadline
        )

    def _lower(self, streamed: Streamed) -> bool:
        """Leave out what the engine refused; whether anything is left that a grammar could hold."""
        before = self.compiled.grammar_schema
        said = set(re.findall(r"\w+", str(streamed.error)))
        named = _keywords(before) & said & DROPPABLE
        if named:
            self.health.refused |= named
        elif not self.health.refused >= DROPPABLE:
            self.health.refused |= DROPPABLE
        else:
            return False
        self.compiled = self._compile()
        return self.compiled.grammar_schema != before or self._lower(streamed)

    def _judge(self, streamed: Streamed, sent: GenerateRequest) -> tuple[dict[str, Any] | None, tuple[str, ...], bool]:
        """Parse, validate and check an answer; sets the stream's kind when it is not usable."""
        if streamed.kind is not None:
            return None, (streamed.reason or streamed.kind.value,), False
        misrouted = not streamed.text.strip() and self._is_answer(streamed.reasoning)
        _note_cut(streamed, sent, misrouted=misrouted)
        if streamed.kind is not None:
            return None, (streamed.reason or "",), False
        try:
            value = parse_answer(streamed.reasoning if misrouted else streamed.text)
        except AnswerSyntaxError as error:
            return None, _fail(streamed, _syntax_kind(streamed, sent), [str(error)]), False
        broken = self.compiled.check(value)
        if broken:
            return None, _fail(streamed, FailureKind.SCHEMA_INVALID, [problem.message for problem in broken]), False
        problems = self._check(value) if self._check is not None else []
        if problems:
            return value, _fail(streamed, FailureKind.CHECK_FAILED, problems), misrouted
        return value, (), misrouted

    def _is_answer(self, reasoning: str) -> bool:
        try:
            return not self.compiled.check(parse_answer(reasoning))
        except AnswerSyntaxError:
            return False


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
    records: list[AttemptRecord] = []
    sent, whole, partial = replace(request, json_schema=None), None, ""
    for number in range(1, _TRIES + 1):
        if on_attempt is not None:
            on_attempt(number, records[-1].problems if records else ())
        streamed = await read_stream(engine, sent, TextWatch(), on_part=on_part, attempt=number, deadline=deadline)
        text, problems = _judge_text(streamed, sent, check)
        records.append(_record(number, sent, streamed, problems))
        if streamed.kind is None:
            return TextResult(tuple(records), (), None, None, text)
        whole, partial = (text, partial) if text is not None else (whole, clean_text(streamed.text).strip())
        if number == _TRIES or not _worth_it(deadline, may_retry):
            break
        planned = await plan_retry(engine, sent, streamed, problems, grammar=False, json=False)
        if planned is None:
            break
        sent = planned.request
        await _pause(streamed, deadline)
    last = records[-1]
    return TextResult(tuple(records), last.problems, last.kind, last.reason, whole, partial)


def _judge_text(
    streamed: Streamed, sent: GenerateRequest, check: Callable[[str], list[str]] | None
) -> tuple[str | None, tuple[str, ...]]:
    if streamed.kind is None:
        _note_cut(streamed, sent)
    if streamed.kind is not None:
        return None, (streamed.reason or streamed.kind.value,)
    text = clean_text(streamed.text).strip()
    problems = check(text) if check is not None else []
    return text, _fail(streamed, FailureKind.CHECK_FAILED, problems) if problems else ()


def _keywords(node: Any) -> set[str]:
    """The keywords that a sent schema uses, and the names of its fields."""
    if isinstance(node, dict):
        fields = cast("dict[str, Any]", node)
        return set(fields).union(*(_keywords(inner) for inner in fields.values()))
    if isinstance(node, list):
        return set[str]().union(*(_keywords(inner) for inner in cast("list[Any]", node)))
    return set()


def _note_cut(streamed: Streamed, sent: GenerateRequest, *, misrouted: bool = False) -> None:
    """Notice an answer that was cut at its cap, or is not there at all. A cut answer is never read as if whole."""
    used = f"{streamed.usage.output} of at most {sent.max_output_tokens} tokens" if streamed.usage else "its tokens"
    empty = not streamed.text.strip()
    if streamed.finish is FinishReason.LENGTH and empty:
        streamed.kind = FailureKind.REASONING_EXHAUSTED
        streamed.reason = f"the model spent {used} and wrote no answer"
    elif streamed.finish is FinishReason.LENGTH:
        streamed.kind, streamed.reason = FailureKind.TRUNCATED, f"the answer was cut after {used}"
    elif empty and not misrouted:
        thought = "thought, but wrote no answer" if streamed.reasoning.strip() else "wrote nothing"
        streamed.kind, streamed.reason = FailureKind.EMPTY, f"the model {thought}"


def _syntax_kind(streamed: Streamed, sent: GenerateRequest) -> FailureKind:
    """A text that does not parse and has used its whole cap was cut, whatever the engine says."""
    usage = streamed.usage
    at_cap = usage is not None and not usage.estimated and usage.output >= sent.max_output_tokens
    return FailureKind.TRUNCATED if at_cap else FailureKind.NOT_JSON


def _fail(streamed: Streamed, kind: FailureKind, problems: Sequence[str]) -> tuple[str, ...]:
    streamed.kind, streamed.reason = kind, "; ".join(problems[:3])
    return tuple(problems)


def _record(
    number: int, sent: GenerateRequest, streamed: Streamed, problems: tuple[str, ...], *, misrouted: bool = False
) -> AttemptRecord:
    return AttemptRecord(
        number=number,
        kind=streamed.kind,
        reason=streamed.reason,
        problems=problems,
        usage=streamed.usage,
        finish=streamed.finish,
        grammar=sent.json_schema is not None,
        max_output_tokens=sent.max_output_tokens,
        temperature=sent.temperature,
        text=streamed.text,
        misrouted=misrouted,
        seconds=streamed.seconds,
    )


def _worth_it(deadline: float, may_retry: Callable[[], bool] | None) -> bool:
    return deadline - time.monotonic() > _LEAST_TIME_S and (may_retry is None or may_retry())


async def _pause(streamed: Streamed, deadline: float) -> None:
    """Give an engine that did not answer a moment, never more than half of what remains."""
    if streamed.kind is not FailureKind.ENGINE_UNAVAILABLE:
        return
    wanted = getattr(streamed.error, "retry_after_s", None) if isinstance(streamed.error, EngineBusyError) else None
    await anyio.sleep(min(max(_PAUSE_S, wanted or 0.0), max(0.0, (deadline - time.monotonic()) / 2)))
