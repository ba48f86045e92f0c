"""Attempts at an object that satisfies a schema: how it is asked for, and what counts as an answer."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from repertory.engines.failures import SchemaRejectedError
from repertory.engines.protocol import Engine, GenerateRequest
from repertory.engines.schema import CompiledSchema, compile_schema, field_guide
from repertory.engines.schema.keywords import DROPPABLE
from repertory.runtime.structured.failures import FailureKind
from repertory.runtime.structured.health import GrammarHealth
from repertory.runtime.structured.judging import fail, make_record, note_cut, syntax_kind
from repertory.runtime.structured.parse import AnswerSyntaxError, parse_answer
from repertory.runtime.structured.records import AttemptRecord
from repertory.runtime.structured.retry import Retry, ask_for_json
from repertory.runtime.structured.stream import OnPart, Streamed, read_stream
from repertory.runtime.structured.watch import JsonWatch

__all__ = ("ObjectAttempts",)


class ObjectAttempts:
    """What stays the same over the attempts of one structured call.

    Args:
        engine: The instance.
        schema: The schema as its author wrote it.
        check: Problems of a schema-valid answer, in words for the model.
        on_part: Hears every part of every stream.
        deadline: Monotonic seconds.
        health: What earlier calls have shown of this instance.

    Attributes:
        value: The last answer that was valid for its schema.
        compiled: The schema for this engine, as far as is known by now.

    Raises:
        SchemaError: The schema can not be used.
    """

    json = True

    def __init__(
        self,
        engine: Engine,
        schema: dict[str, Any],
        *,
        check: Callable[[dict[str, Any]], list[str]] | None,
        on_part: OnPart | None,
        deadline: float,
        health: GrammarHealth,
    ) -> None:
        self.value: dict[str, Any] | None = None
        self._engine = engine
        self._schema = schema
        self._check = check
        self._on_part = on_part
        self._deadline = deadline
        self._health = health
        self.compiled = self._compile()
        self._guide = field_guide(schema)

    async def attempt(self, number: int, retry: Retry, records: list[AttemptRecord]) -> Streamed:
        """One try. A schema that the engine refuses is made simpler and sent again: that is not the model's failure."""
        grammar = retry.grammar
        while True:
            sent = ask_for_json(retry.request, self._guide)
            if grammar:
                sent = replace(retry.request, json_schema=self.compiled.grammar_schema)
            streamed = await self._stream(sent, number)
            misrouted = self._was_misrouted(streamed)
            value, problems = self._judge(streamed, sent)
            records.append(make_record(number, sent, streamed, problems, misrouted=misrouted and value is not None))
            self._health.record(streamed.kind, grammar=grammar)
            if streamed.kind is not FailureKind.SCHEMA_UNSUPPORTED or not grammar:
                self.value = value if value is not None else self.value
                return streamed
            grammar = self._lower(streamed)

    def _compile(self) -> CompiledSchema:
        return compile_schema(self._schema, self._engine.profile, without=self._health.refused)

    async def _stream(self, sent: GenerateRequest, number: int) -> Streamed:
        watch = JsonWatch(self.compiled.bounded)
        return await read_stream(
            self._engine, sent, watch, on_part=self._on_part, attempt=number, deadline=self._deadline
        )

    def _lower(self, streamed: Streamed) -> bool:
        """Leave out what the engine refused; whether anything is left that a grammar could hold."""
        before = self.compiled.grammar_schema
        said = set(streamed.error.keywords) if isinstance(streamed.error, SchemaRejectedError) else set[str]()
        named = _keywords(before) & said & DROPPABLE
        if named:
            self._health.refused |= named
        elif not self._health.refused >= DROPPABLE:
            self._health.refused |= DROPPABLE
        else:
            return False
        self.compiled = self._compile()
        return self.compiled.grammar_schema != before or self._lower(streamed)

    def _was_misrouted(self, streamed: Streamed) -> bool:
        """Whether a whole answer stands in the field for thinking; it then is the stream's text."""
        ended = streamed.kind in {None, FailureKind.EMPTY}
        if not ended or streamed.text.strip() or not self._is_answer(streamed.reasoning):
            return False
        streamed.kind = streamed.reason = None
        streamed.text, streamed.reasoning = streamed.reasoning, ""
        return True

    def _judge(self, streamed: Streamed, sent: GenerateRequest) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
        """Parse, validate and check an answer; sets the stream's kind when it is not usable."""
        if streamed.kind is None:
            note_cut(streamed, sent)
        if streamed.kind is not None:
            return None, (streamed.reason or streamed.kind.value,)
        try:
            value = parse_answer(streamed.text)
        except AnswerSyntaxError as error:
            return None, fail(streamed, syntax_kind(streamed, sent), [str(error)])
        broken = self.compiled.check(value)
        if broken:
            return None, fail(streamed, FailureKind.SCHEMA_INVALID, [problem.message for problem in broken])
        problems = self._check(value) if self._check is not None else []
        return value, fail(streamed, FailureKind.CHECK_FAILED, problems) if problems else ()

    def _is_answer(self, reasoning: str) -> bool:
        try:
            return not self.compiled.check(parse_answer(reasoning))
        except AnswerSyntaxError:
            return False


def _keywords(node: Any) -> set[str]:
    """The keywords that a sent schema uses, and the names of its fields."""
    if isinstance(node, dict):
        fields = cast("dict[str, Any]", node)
        return set(fields).union(*(_keywords(inner) for inner in fields.values()))
    if isinstance(node, list):
        return set[str]().union(*(_keywords(inner) for inner in cast("list[Any]", node)))
    return set()
