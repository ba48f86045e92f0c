import json
import time
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from tests.runtime.structured.fake_engine import GRAMMAR, FakeEngine, Say, Step, ask

from repertory.engines.failures import (
    ContextExhaustedError,
    EmptyAnswerError,
    EngineBusyError,
    EngineFaultError,
    ReasoningExhaustedError,
    SchemaRejectedError,
    SilentTruncationError,
    StreamEngineError,
    StreamIncompleteError,
    StreamStalledError,
    TemplateRejectedError,
)
from repertory.engines.protocol import FinishReason, GenerateRequest, StreamPart, TokenUsage
from repertory.engines.schema import field_guide
from repertory.errors import (
    ContextBudgetError,
    EngineRejectedError,
    EngineTimeoutError,
    EngineUnavailableError,
    OutputError,
    SchemaError,
    StreamError,
)
from repertory.runtime.structured import FailureKind, GrammarHealth, OnAttempt, StructuredResult, structured_call

pytestmark = pytest.mark.virtual_time

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "goal": {"type": "string", "maxLength": 60},
        "names": {"type": "array", "items": {"type": "string", "maxLength": 20}, "minItems": 1, "maxItems": 2},
    },
    "required": ["goal", "names"],
}
GOOD = {"goal": "run a mile", "names": ["Ann"]}
VALID = Say(json.dumps(GOOD))
USAGE = TokenUsage(prompt=10, output=50)


async def call(
    engine: FakeEngine,
    request: GenerateRequest | None = None,
    *,
    within_s: float = 20.0,
    check: Callable[[dict[str, Any]], list[str]] | None = None,
    schema: dict[str, Any] = SCHEMA,
    on_attempt: OnAttempt | None = None,
    **more: Any,
) -> StructuredResult:
    deadline = time.monotonic() + within_s
    return await structured_call(
        engine, request or ask(), schema, check=check, on_attempt=on_attempt, deadline=deadline, **more
    )


def kinds(result: StructuredResult) -> list[FailureKind | None]:
    return [attempt.kind for attempt in result.attempts]


async def test_a_valid_answer_is_handed_back_with_its_cost() -> None:
    engine = FakeEngine([VALID])
    result = await call(engine)
    assert result.usable
    assert result.require() == GOOD
    assert (result.problems, result.failure, result.reason) == ((), None, None)
    (attempt,) = result.attempts
    assert attempt.usage is not None
    assert attempt.finish is FinishReason.STOP
    assert attempt.grammar
    assert engine.requests[0].json_schema is not None
    assert engine.requests[0].json_schema["additionalProperties"] is False


async def test_parts_and_attempts_are_told_as_they_happen() -> None:
    heard: list[tuple[str, int]] = []
    starts: list[tuple[int, tuple[str, ...]]] = []

    def hear(part: StreamPart, attempt: int) -> None:
        heard.append((type(part).__name__, attempt))

    result = await call(
        FakeEngine([Say('{"goal": "x", "names": []}'), VALID]),
        on_part=hear,
        on_attempt=lambda number, problems: starts.append((number, problems)),
    )
    assert result.usable
    assert {("TextDelta", 1), ("TextDelta", 2), ("Generation", 2)} <= set(heard)
    assert starts == [(1, ()), (2, ("/names: has 0 items, at least 1 are needed",))]


async def test_a_schema_that_can_not_be_used_is_raised() -> None:
    with pytest.raises(SchemaError):
        await call(FakeEngine([VALID]), schema={"type": "object", "properties": {"a": {}}})


# A: loops


async def test_a1_a_white_space_loop_is_cut_and_asked_again_without_a_grammar() -> None:
    engine = FakeEngine([Say('{\n"goal":' + " \n" * 5000, finish=FinishReason.LENGTH), VALID])
    result = await call(engine, ask(temperature=0.0, seed=3))
    assert result.require() == GOOD
    assert kinds(result) == [FailureKind.GRAMMAR_WHITESPACE_LOOP, None]
    assert engine.closed_early == 1
    assert engine.sent < 200 + len(VALID.text)
    first, second = engine.requests
    assert second.json_schema is None
    assert second.temperature > first.temperature
    assert second.seed != first.seed
    assert second.messages[-1].content.startswith(first.messages[-1].content)
    assert second.messages[:-1] == first.messages[:-1]
    assert "one JSON object" in second.messages[-1].content
    assert field_guide(SCHEMA) in second.messages[-1].content


async def test_a1_white_space_after_a_whole_answer_does_not_cost_it() -> None:
    engine = FakeEngine([Say(VALID.text + "\n" * 5000, finish=FinishReason.LENGTH)])
    result = await call(engine)
    assert result.require() == GOOD
    assert engine.closed_early == 1
    assert len(engine.requests) == 1


@pytest.mark.parametrize(
    "text",
    ['{"goal": "' + "so on and " * 900, '{"goal": "x", "names": [' + '"Ann", ' * 900, '{"goal": ' + "7" * 5000],
)
async def test_a5_a6_a_repetition_loop_is_cut_and_asked_again_warmer(text: str) -> None:
    engine = FakeEngine([Say(text, finish=FinishReason.LENGTH), VALID])
    result = await call(engine)
    assert kinds(result) == [FailureKind.REPETITION_LOOP, None]
    assert engine.closed_early == 1
    assert engine.requests[1].json_schema is not None
    assert engine.requests[1].temperature >= 0.7
    assert result.attempts[0].usage is not None
    assert result.attempts[0].usage.estimated


async def test_a_loop_in_the_thinking_is_cut_too() -> None:
    engine = FakeEngine([Say(reasoning="Wait, let me think again. " * 900), VALID])
    result = await call(engine)
    assert kinds(result) == [FailureKind.REPETITION_LOOP, None]
    assert engine.closed_early == 1


async def test_a8_answers_cut_at_the_cap_can_be_counted() -> None:
    health = GrammarHealth()
    await call(FakeEngine([Say('{"goal": "x', finish=FinishReason.LENGTH)]), health=health)
    assert health.counts[FailureKind.TRUNCATED] == 2


@pytest.mark.parametrize(
    "error",
    [
        EngineFaultError("the engine failed (HTTP 500)", status=500),
        StreamEngineError("the engine broke the answer off"),
        StreamIncompleteError("no end", partial='{"goal"'),
        StreamError("broken"),
    ],
)
async def test_a9_an_engine_that_fails_inside_gets_one_retry_without_a_grammar(error: Exception) -> None:
    engine = FakeEngine([error, VALID])
    result = await call(engine)
    assert result.require() == GOOD
    assert [request.json_schema is None for request in engine.requests] == [False, True]


async def test_a9_after_three_faults_no_grammar_is_sent_until_the_instance_has_rested() -> None:
    now = [100.0]
    health = GrammarHealth(rest_s=60.0, clock=lambda: now[0])
    broken = FakeEngine([lambda request: EngineFaultError("500") if request.json_schema is not None else VALID])
    for _ in range(3):
        assert health.usable
        assert (await call(broken, health=health)).usable
    assert not health.usable
    asked = len(broken.requests)
    assert (await call(broken, health=health)).usable
    assert [request.json_schema for request in broken.requests[asked:]] == [None]
    now[0] += 61
    assert health.usable
    assert (await call(FakeEngine([VALID]), health=health)).usable
    assert health.usable


# B: keywords


async def test_b1_a_refused_keyword_is_left_out_and_is_not_the_models_failure() -> None:
    def refuse(request: GenerateRequest) -> Say | Exception:
        sent = json.dumps(request.json_schema)
        return SchemaRejectedError("unsupported: minItems") if "minItems" in sent else VALID

    health = GrammarHealth()
    engine = FakeEngine([refuse])
    starts: list[int] = []
    result = await call(engine, health=health, on_attempt=lambda number, _: starts.append(number))
    assert result.require() == GOOD
    assert kinds(result) == [FailureKind.SCHEMA_UNSUPPORTED, None]
    assert starts == [1]
    assert [attempt.number for attempt in result.attempts] == [1, 1]
    assert engine.requests[1].json_schema is not None
    assert "maxItems" in json.dumps(engine.requests[1].json_schema)
    # The next call does not try it again.
    await call(engine, health=health)
    assert len(engine.requests) == 3


@pytest.mark.parametrize("keyword", [None, "additionalProperties", "anyOf", "somethingNew"])
async def test_b1_a_server_that_refuses_every_schema_is_asked_in_words(keyword: str | None) -> None:
    def refuse(request: GenerateRequest) -> Say | Exception:
        return (
            VALID
            if request.json_schema is None
            else SchemaRejectedError("no schemas", keywords=(keyword,) if keyword else ())
        )

    engine = FakeEngine([refuse])
    result = await call(engine)
    assert result.require() == GOOD
    assert len(engine.requests) <= 4
    assert all(attempt.number == 1 for attempt in result.attempts)


async def test_b1_the_kept_keyword_is_still_checked_by_us() -> None:
    def refuse(request: GenerateRequest) -> Say | Exception:
        bad = "minItems" in json.dumps(request.json_schema)
        return SchemaRejectedError("unsupported: minItems") if bad else Say('{"goal": "x", "names": []}')

    result = await call(FakeEngine([refuse]))
    assert result.failure is FailureKind.SCHEMA_INVALID
    assert result.value is None


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ({"goal": "x", "names": ["a", "b", "c"]}, "/names: has 3 items, at most 2 are allowed"),
        ({"goal": "x" * 80, "names": ["a"]}, "/goal: has 80 characters, at most 60 are allowed; write it shorter"),
        ({"names": ["a"]}, "the answer: the field goal is missing"),
        ({"goal": "x", "names": ["a"], "z": 1}, 'the answer: has fields that are not asked for: "z"'),
    ],
)
async def test_b2_b16_an_answer_that_breaks_its_schema_gets_one_repair_that_names_path_and_rule(
    answer: dict[str, Any], problem: str
) -> None:
    bad = Say(json.dumps(answer))
    engine = FakeEngine([bad, VALID])
    result = await call(engine)
    assert result.require() == GOOD
    assert kinds(result) == [FailureKind.SCHEMA_INVALID, None]
    first, second = engine.requests
    assert list(second.messages[: len(first.messages)]) == list(first.messages)
    assistant, repair = second.messages[len(first.messages) :]
    assert (assistant.role, assistant.content) == ("assistant", bad.text)
    assert repair.role == "user"
    assert problem in repair.content
    assert second.json_schema == first.json_schema


async def test_b8_text_from_an_engine_that_ignored_the_schema_is_never_accepted() -> None:
    result = await call(FakeEngine([Say("Sure, the goal is to run."), Say("I said: to run.")]))
    assert kinds(result) == [FailureKind.NOT_JSON, FailureKind.NOT_JSON]
    assert result.value is None
    assert not result.usable
    with pytest.raises(OutputError, match="not_json"):
        result.require()


async def test_b17_an_engine_without_constrained_decoding_is_asked_in_words() -> None:
    engine = FakeEngine([Say(f"```json\n{VALID.text}\n```")], structured_output=False)
    result = await call(engine)
    assert result.require() == GOOD
    assert engine.requests[0].json_schema is None
    assert "one JSON object" in engine.requests[0].messages[-1].content


async def test_the_guide_is_not_repeated_when_the_prompt_holds_it() -> None:
    engine = FakeEngine([VALID], structured_output=False)
    guide = field_guide(SCHEMA)
    await call(engine, ask(f"Answer:\n{guide}"))
    assert engine.requests[0].messages[-1].content.count(guide) == 1


# C: thinking


async def test_c1_an_answer_in_the_field_for_thinking_is_taken_when_it_is_valid() -> None:
    result = await call(FakeEngine([Say(reasoning=VALID.text)]))
    assert result.require() == GOOD
    assert result.attempts[0].misrouted


async def test_c1_thinking_never_becomes_an_answer() -> None:
    result = await call(FakeEngine([Say(reasoning="I should run."), Say(reasoning='{"goal": 3}')]))
    assert kinds(result) == [FailureKind.EMPTY, FailureKind.EMPTY]
    assert result.value is None


async def test_c2_an_answer_without_content_is_a_typed_failure() -> None:
    result = await call(FakeEngine([Say(""), EmptyAnswerError("nothing", usage=USAGE)]))
    assert kinds(result) == [FailureKind.EMPTY, FailureKind.EMPTY]
    assert result.attempts[1].usage == USAGE


async def test_c1_an_engine_that_calls_a_misrouted_answer_empty() -> None:
    """Without a grammar the engine can not know that the JSON in the field for thinking is the answer."""
    for text in (VALID.text, f"{VALID.text}\n"):
        engine = FakeEngine([EmptyAnswerError("nothing", usage=USAGE, reasoning=text)], structured_output=False)
        result = await call(engine)
        assert result.require() == GOOD
        assert result.attempts[0].misrouted


async def test_c16_c17_thinking_beyond_its_reserve_is_stopped_before_it_eats_the_answers() -> None:
    endless = " ".join(f"thought {number}" for number in range(900))
    engine = FakeEngine([Say(reasoning=endless, piece=8), VALID])
    result = await call(engine, ask(cap=200, max_thinking_tokens=50, thinking=True))
    assert kinds(result) == [FailureKind.REASONING_EXHAUSTED, None]
    assert engine.sent < 60 * 8 + len(VALID.text)
    assert engine.closed_early == 1
    assert engine.requests[1].thinking is False
    assert engine.requests[1].cap == 400


async def test_c16_thinking_inside_its_reserve_is_left_alone() -> None:
    engine = FakeEngine([Say(VALID.text, reasoning="Ann wants to run.")])
    assert (await call(engine, ask(cap=200, max_thinking_tokens=50, thinking=True))).require() == GOOD


@pytest.mark.parametrize(
    "step",
    [
        Say(reasoning="Let me think about all of it, in every way.", finish=FinishReason.LENGTH),
        Say("  ", finish=FinishReason.LENGTH),
        ReasoningExhaustedError(usage=USAGE, cap=200),
    ],
)
async def test_c15_c16_thinking_that_ate_the_budget_is_named_and_asked_again_without_it(step: Step) -> None:
    engine = FakeEngine([step, VALID])
    result = await call(engine, ask(cap=200))
    assert kinds(result) == [FailureKind.REASONING_EXHAUSTED, None]
    assert "200 tokens" in (result.attempts[0].reason or "")
    assert engine.requests[1].thinking is False
    assert engine.requests[1].max_output_tokens == 400


# D: truncation


async def test_d4_a_cut_answer_is_asked_again_with_twice_the_cap() -> None:
    engine = FakeEngine([Say(VALID.text[:-3], finish=FinishReason.LENGTH), VALID])
    result = await call(engine, ask(cap=200))
    assert kinds(result) == [FailureKind.TRUNCATED, None]
    assert engine.requests[1].max_output_tokens == 400
    assert engine.requests[1].messages == engine.requests[0].messages


async def test_d4_the_cap_is_bounded_by_the_context() -> None:
    engine = FakeEngine([Say("{", finish=FinishReason.LENGTH), VALID], context_tokens=300)
    await call(engine, ask(cap=200))
    room = 300 - await engine.count_tokens(engine.requests[0].messages)
    assert engine.requests[1].max_output_tokens == room < 400


async def test_d4_without_room_for_a_longer_answer_nothing_is_sent_again() -> None:
    engine = FakeEngine([Say("{", finish=FinishReason.LENGTH), VALID], context_tokens=210)
    result = await call(engine, ask(cap=200))
    assert kinds(result) == [FailureKind.TRUNCATED]
    assert len(engine.requests) == 1


async def test_a_cut_answer_is_never_read_as_if_whole() -> None:
    result = await call(FakeEngine([Say(VALID.text, finish=FinishReason.LENGTH)]))
    assert kinds(result) == [FailureKind.TRUNCATED, FailureKind.TRUNCATED]
    assert result.value is None


async def test_d1_an_answer_that_stops_at_its_cap_and_does_not_parse_was_cut() -> None:
    engine = FakeEngine([Say('{"goal": "to r', output=200), VALID])
    result = await call(engine, ask(cap=200))
    assert kinds(result) == [FailureKind.TRUNCATED, None]


async def test_d2_only_the_repair_of_the_same_call_sees_a_broken_answer() -> None:
    request = ask()
    before = request.messages
    await call(FakeEngine([Say("garbage"), VALID]), request)
    assert request.messages == before


async def test_d5_two_unusable_answers_end_the_call() -> None:
    engine = FakeEngine([Say("garbage")])
    result = await call(engine)
    assert len(engine.requests) == 2
    assert result.failure is FailureKind.NOT_JSON
    assert result.problems


# The agent's own checks


async def test_a_failed_check_is_repaired_with_its_words() -> None:
    engine = FakeEngine([Say(json.dumps(GOOD | {"names": ["Bob"]})), VALID])
    result = await call(engine, check=lambda value: ["/names: Bob is not in the messages"] * ("Bob" in value["names"]))
    assert result.require() == GOOD
    assert kinds(result) == [FailureKind.CHECK_FAILED, None]
    assert "- /names: Bob is not in the messages" in engine.requests[1].messages[-1].content


async def test_the_last_valid_draft_is_kept_for_a_fallback() -> None:
    result = await call(FakeEngine([VALID, Say("garbage")]), check=lambda _: ["no"])
    assert result.value == GOOD
    assert not result.usable
    assert result.failure is FailureKind.NOT_JSON


async def test_an_answer_too_long_to_be_shown_again_is_left_out_of_the_repair() -> None:
    bad = Say(json.dumps(GOOD | {"goal": " ".join(str(number) for number in range(60))}))
    engine = FakeEngine([bad, VALID], context_tokens=130)
    result = await call(engine, ask("Say it.", cap=60))
    assert result.usable
    assert [message.role for message in engine.requests[1].messages] == ["system", "user", "user"]


# The engine


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (EngineUnavailableError("refused"), FailureKind.ENGINE_UNAVAILABLE),
        (EngineBusyError("busy", retry_after_s=0.1), FailureKind.ENGINE_UNAVAILABLE),
        (ContextExhaustedError("no room"), FailureKind.CONTEXT_EXHAUSTED),
        (StreamStalledError("silent"), FailureKind.STREAM_STALLED),
        (EngineTimeoutError("slow"), FailureKind.TIMEOUT),
    ],
)
async def test_a_passing_trouble_gets_the_same_request_once_more(error: Exception, kind: FailureKind) -> None:
    engine = FakeEngine([error, VALID])
    result = await call(engine)
    assert kinds(result) == [kind, None]
    assert engine.requests[0].json_schema == engine.requests[1].json_schema
    assert engine.requests[0].messages == engine.requests[1].messages


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (EngineRejectedError("no such model"), FailureKind.ENGINE_REJECTED),
        (TemplateRejectedError("roles must alternate"), FailureKind.ENGINE_REJECTED),
        (ContextBudgetError("too long"), FailureKind.CONTEXT_OVERFLOW),
        (SilentTruncationError("cut", usage=USAGE), FailureKind.SILENT_TRUNCATION),
    ],
)
async def test_what_can_not_help_is_not_sent_again(error: Exception, kind: FailureKind) -> None:
    engine = FakeEngine([error, VALID])
    result = await call(engine)
    assert kinds(result) == [kind]
    assert len(engine.requests) == 1
    assert result.reason == str(error).splitlines()[0]


async def test_g15_there_are_two_requests_at_most() -> None:
    engine = FakeEngine([EngineUnavailableError("refused")])
    result = await call(engine)
    assert len(engine.requests) == 2
    assert result.failure is FailureKind.ENGINE_UNAVAILABLE


async def test_an_error_that_is_not_the_engines_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        await call(FakeEngine([ZeroDivisionError()]))


# Time


async def test_no_retry_when_the_time_is_over() -> None:
    engine = FakeEngine([EngineUnavailableError("refused"), VALID])
    result = await call(engine, within_s=0.2)
    assert len(engine.requests) == 1
    assert result.failure is FailureKind.ENGINE_UNAVAILABLE


async def test_nothing_is_sent_after_the_deadline() -> None:
    engine = FakeEngine([VALID])
    result = await call(engine, within_s=-1.0)
    assert engine.requests == []
    assert result.failure is FailureKind.TIMEOUT


async def test_a_slow_stream_is_closed_at_the_deadline() -> None:
    engine = FakeEngine([Say(VALID.text, slow_s=0.2)])
    result = await call(engine, within_s=0.4)
    assert result.failure is FailureKind.TIMEOUT
    assert engine.closed_early == 1
    assert engine.requests[0].deadline_s is not None
    assert engine.requests[0].deadline_s <= 0.4


async def test_no_retry_when_nobody_wants_one() -> None:
    engine = FakeEngine([Say("garbage"), VALID])
    result = await call(engine, may_retry=lambda: False)
    assert len(engine.requests) == 1
    assert result.failure is FailureKind.NOT_JSON


async def test_cancelling_closes_the_stream() -> None:
    engine = FakeEngine([Say(VALID.text, slow_s=5)])
    with anyio.move_on_after(0.1) as scope:
        await call(engine)
    assert scope.cancelled_caught
    assert engine.closed_early == 1


async def test_a_listener_that_fails_closes_the_stream() -> None:
    def fail(_part: StreamPart, _attempt: int) -> None:
        raise RuntimeError

    engine = FakeEngine([VALID])
    with pytest.raises(RuntimeError):
        await call(engine, on_part=fail)
    assert engine.closed_early == 1


async def test_every_way_to_misbehave_ends_typed_and_nothing_invalid_is_accepted() -> None:
    steps: list[Step] = [
        Say("garbage"),
        Say('{"goal": 1}'),
        Say('{"goal":' + " " * 999),
        Say('{"goal": "' + "a b " * 900),
        Say(""),
        Say("{", finish=FinishReason.LENGTH),
        Say(VALID.text, finish=FinishReason.TOOL_CALLS),
        EngineFaultError("500", status=500),
        StreamIncompleteError("cut"),
        StreamStalledError("stalled"),
        EngineUnavailableError("gone"),
        SchemaRejectedError("no", keywords=("pattern",)),
        VALID,
    ]
    for first in steps:
        for second in steps:
            result = await call(FakeEngine([first, second], keywords=dict(GRAMMAR)))
            assert result.usable == (result.failure is None) == (not result.problems)
            if result.usable:
                assert result.value == GOOD
            else:
                assert result.reason
                assert result.value is None
