"""Structured calls over HTTP against a scripted engine: what reaches the server, and what happens to its slots."""

import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from random import Random
from typing import Any

import anyio
import pytest

from repertory.engines.connect import connect
from repertory.engines.http import EngineTimeouts
from repertory.engines.profile import EngineKind
from repertory.engines.protocol import ChatMessage, Engine, GenerateRequest
from repertory.runtime.structured import FailureKind, GrammarHealth, StructuredResult, structured_call
from repertory.testing import ScriptedEngine, ScriptedRequest, cut, failing, in_order, looping
from repertory.testing.dialects import Answer
from repertory.testing.faults import Broken, chaotic

pytestmark = pytest.mark.virtual_time

QUICK = EngineTimeouts(connect_s=2, control_s=2, first_part_s=3, stall_s=0.3, ending_s=0.2, idle_check_s=1)
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"mood": {"enum": ["good", "bad"]}, "why": {"type": "string", "maxLength": 60}},
    "required": ["mood", "why"],
}
GOOD = {"mood": "good", "why": "She ran on Monday."}
MESSAGES = (ChatMessage("system", "You are an agent."), ChatMessage("user", "How was it?"))

Start = Callable[[ScriptedEngine], Awaitable[Engine]]


@pytest.fixture
async def start() -> AsyncGenerator[Start]:
    async with AsyncExitStack() as stack:

        async def start_one(server: ScriptedEngine) -> Engine:
            await stack.enter_async_context(server)
            engine = await connect(server.url, timeouts=QUICK)
            stack.push_async_callback(engine.aclose)
            return engine

        yield start_one


async def call(engine: Engine, within_s: float = 10.0, health: GrammarHealth | None = None) -> StructuredResult:
    request = GenerateRequest(MESSAGES, max_output_tokens=200)
    return await structured_call(engine, request, SCHEMA, deadline=time.monotonic() + within_s, health=health)


def kinds(result: StructuredResult) -> list[FailureKind | None]:
    return [attempt.kind for attempt in result.attempts]


@pytest.mark.parametrize("kind", [EngineKind.LLAMACPP, EngineKind.VLLM, EngineKind.OPENAI])
async def test_an_answer_comes_back_from_every_dialect(start: Start, kind: EngineKind) -> None:
    server = ScriptedEngine(GOOD, kind=kind)
    result = await call(await start(server))
    assert result.require() == GOOD
    assert server.requests[0].json_schema is not None


async def test_a1_a_white_space_loop_is_closed_and_leaves_the_server(start: Start) -> None:
    server = ScriptedEngine(in_order(looping(" \n", times=900, pause_s=0.002, opening='{"mood":'), GOOD))
    result = await call(await start(server))
    assert kinds(result) == [FailureKind.GRAMMAR_WHITESPACE_LOOP, None]
    with anyio.fail_after(5):
        while server.open_streams:  # noqa: ASYNC110 - the server has no event for it
            await anyio.sleep(0.01)
    assert server.disconnects == 1
    assert server.requests[1].json_schema is None


async def test_a9_a_500_is_asked_again_in_words(start: Start) -> None:
    server = ScriptedEngine(in_order(failing(500), GOOD))
    result = await call(await start(server))
    assert kinds(result) == [FailureKind.ENGINE_ERROR, None]
    assert [request.json_schema is None for request in server.requests] == [False, True]


async def test_b1_a_400_about_the_schema_is_met_with_a_simpler_one(start: Start) -> None:
    def reply(request: ScriptedRequest) -> Any:
        if "maxLength" in json.dumps(request.json_schema):
            return failing(400, "The provided JSON schema contains features not supported by xgrammar: maxLength")
        return GOOD

    health = GrammarHealth()
    server = ScriptedEngine(reply, kind=EngineKind.VLLM)
    result = await call(await start(server), health=health)
    assert kinds(result) == [FailureKind.SCHEMA_UNSUPPORTED, None]
    assert health.refused == {"maxLength"}
    assert server.requests[1].json_schema is not None


async def test_c1_an_answer_in_the_reasoning_field_is_taken(start: Start) -> None:
    server = ScriptedEngine(lambda _: Answer("", reasoning=json.dumps(GOOD)), kind=EngineKind.VLLM)
    result = await call(await start(server))
    assert result.require() == GOOD


async def test_d4_a_cut_answer_is_asked_again_with_twice_the_cap(start: Start) -> None:
    server = ScriptedEngine(in_order(Answer('{"mood": "go', finish_reason="length"), GOOD))
    result = await call(await start(server))
    assert kinds(result) == [FailureKind.TRUNCATED, None]
    assert [request.max_tokens for request in server.requests] == [200, 400]


async def test_a_repair_keeps_the_prompt_and_appends_to_it(start: Start) -> None:
    server = ScriptedEngine(in_order({"mood": "fine", "why": "x"}, GOOD))
    result = await call(await start(server))
    assert kinds(result) == [FailureKind.SCHEMA_INVALID, None]
    first, second = server.requests
    assert second.messages[: len(first.messages)] == first.messages
    assert [message["role"] for message in second.messages[len(first.messages) :]] == ["assistant", "user"]


async def test_g15_a_server_that_is_gone_is_tried_twice_and_no_more(start: Start) -> None:
    server = ScriptedEngine(Broken(GOOD, partial(cut, after_bytes=0)))
    result = await call(await start(server))
    assert not result.usable
    assert len(server.requests) == 2


async def test_chaos_every_call_ends_inside_its_deadline_typed_and_valid(start: Start) -> None:
    random = Random(7)

    def reply(_: ScriptedRequest) -> Any:
        return chaotic(GOOD, random)

    server = ScriptedEngine(reply, slots=4)
    engine = await start(server)
    results: list[tuple[StructuredResult, float]] = []
    numbers = iter(range(60))

    async def work() -> None:
        for _ in numbers:
            began = time.monotonic()
            results.append((await call(engine, within_s=4.0), time.monotonic() - began))

    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(work)
    assert len(results) == 60
    for result, seconds in results:
        assert result.value in (GOOD, None)
        assert result.usable == (result.value == GOOD) == (result.failure is None)
        assert seconds < 4.0 + 2.0
    assert sum(result.usable for result, _ in results) > 45
