"""What each adapter sends and counts, in its own dialect."""

from collections.abc import Awaitable, Callable

import anyio
import pytest

from repertory.engines.connect import connect
from repertory.engines.llamacpp import LlamaCppEngine
from repertory.engines.openai_compatible import OpenAIEngine
from repertory.engines.profile import EngineKind
from repertory.engines.protocol import ChatMessage, GenerateRequest, PrefixCopier, TokensProcessed
from repertory.engines.sglang import SglangEngine
from repertory.errors import ContextBudgetError, EngineRejectedError, EngineUnavailableError
from repertory.testing import Answer, Script, ScriptedEngine, Send, ask, ask_parts, failing, sse

pytestmark = pytest.mark.virtual_time

Start = Callable[[ScriptedEngine], Awaitable[OpenAIEngine]]
SCHEMA: dict[str, object] = {"type": "object", "properties": {"a": {"type": "string"}}}
MESSAGES = [ChatMessage("system", "Be brief."), ChatMessage("user", "Hello there, how are you?")]


async def sent(start: Start, kind: EngineKind, request: GenerateRequest) -> dict[str, object]:
    scripted = ScriptedEngine(Answer('{"a":"b"}'), kind=kind)
    engine = await start(scripted)
    async for _ in engine.generate(request):
        pass
    return scripted.requests[0].fields


@pytest.mark.parametrize("kind", [kind for kind in EngineKind if kind is not EngineKind.OLLAMA])
async def test_the_openai_dialect(start: Start, kind: EngineKind) -> None:
    fields = await sent(start, kind, GenerateRequest(MESSAGES, 50, json_schema=SCHEMA, temperature=0.5, seed=7))
    assert fields["max_tokens"] == 50
    assert (fields["temperature"], fields["seed"]) == (0.5, 7)
    assert fields["stream_options"] == {"include_usage": True}
    wanted = {"name": "answer", "schema": SCHEMA, "strict": True}
    assert fields["response_format"] == {"type": "json_schema", "json_schema": wanted}
    assert fields["messages"] == [{"role": message.role, "content": message.content} for message in MESSAGES]


async def test_a_plain_server_gets_nothing_it_may_not_know(start: Start) -> None:
    request = GenerateRequest(MESSAGES, 50, priority=3, slot=2, thinking=False, request_id="r")
    fields = await sent(start, EngineKind.OPENAI, request)
    assert set(fields) == {"model", "messages", "max_tokens", "temperature", "stream", "stream_options"}


@pytest.mark.parametrize("kind", [kind for kind in EngineKind if kind is not EngineKind.OLLAMA])
async def test_c5_structured_calls_are_chat_completions(start: Start, kind: EngineKind) -> None:
    """Never the Responses API, which some servers do not constrain."""
    scripted = ScriptedEngine('{"a": 1}', kind=kind)
    await ask(await start(scripted), json_schema={"type": "object"})
    assert [request.path for request in scripted.requests] == ["/v1/chat/completions"]


async def test_llamacpp_pins_the_slot_and_keeps_the_prompt(start: Start) -> None:
    fields = await sent(start, EngineKind.LLAMACPP, GenerateRequest(MESSAGES, 50, slot=3, thinking=False))
    assert fields["id_slot"] == 3
    assert fields["cache_prompt"] is True
    assert fields["return_progress"] is True
    assert fields["chat_template_kwargs"] == {"enable_thinking": False}


@pytest.mark.parametrize("thinking", [None, True, False])
async def test_c7_llamacpp_does_not_think_under_a_grammar(start: Start, thinking: bool | None) -> None:
    request = GenerateRequest(MESSAGES, 50, json_schema=SCHEMA, thinking=thinking)
    fields = await sent(start, EngineKind.LLAMACPP, request)
    assert fields["chat_template_kwargs"] == {"enable_thinking": False}


async def test_vllm_gets_the_priority(start: Start) -> None:
    fields = await sent(
        start, EngineKind.VLLM, GenerateRequest(MESSAGES, 50, priority=3, request_id="r", thinking=True)
    )
    assert fields["priority"] == 3
    assert fields["request_id"] == "r"
    assert fields["chat_template_kwargs"] == {"enable_thinking": True}


@pytest.mark.parametrize(("low_first", "sent_priority"), [(True, 3), (False, -3)])
async def test_sglangs_priorities_run_the_other_way_unless_told(low_first: bool, sent_priority: int) -> None:
    info = f'{{"enable_priority_scheduling":true,"schedule_low_priority_values_first":{str(low_first).lower()}}}'
    routes = {"/get_server_info": Script([Send(info.encode())], content_type="application/json")}
    async with ScriptedEngine("hi", kind=EngineKind.SGLANG, routes=routes) as scripted:
        engine = await connect(scripted.url)
        assert isinstance(engine, SglangEngine)
        await ask(engine, priority=3)
        assert scripted.requests[0].fields["priority"] == sent_priority
        await engine.aclose()


async def test_sglang_without_priority_scheduling_gets_none(start: Start) -> None:
    fields = await sent(start, EngineKind.SGLANG, GenerateRequest(MESSAGES, 50, priority=3, request_id="r"))
    assert "priority" not in fields
    assert fields["rid"] == "r"


async def test_e6_ollama_is_asked_by_its_own_api_with_its_context(start: Start) -> None:
    scripted = ScriptedEngine({"a": "b"}, kind=EngineKind.OLLAMA, context_tokens=6000)
    engine = await start(scripted)
    await ask(engine, json_schema=SCHEMA, thinking=False, max_output_tokens=70)
    asked = scripted.requests[0]
    assert asked.path == "/api/chat"
    assert asked.fields["options"] == {"num_ctx": 6000, "num_predict": 70, "temperature": 0.0}
    assert asked.fields["format"] == SCHEMA
    assert asked.fields["think"] is False


async def test_ollama_models_that_can_not_think_are_not_told_to(start: Start) -> None:
    shown = Script([Send(b'{"capabilities":["completion"]}')], content_type="application/json")
    scripted = ScriptedEngine("hi", kind=EngineKind.OLLAMA, routes={"/api/show": shown})
    await ask(await start(scripted), thinking=False)
    assert "think" not in scripted.requests[0].fields


async def test_ollama_errors_as_lines(start: Start) -> None:
    scripted = ScriptedEngine(failing(404, "model 'x' not found, try pulling it first"), kind=EngineKind.OLLAMA)
    with pytest.raises(EngineRejectedError, match="try pulling it first"):
        await ask(await start(scripted))


@pytest.mark.parametrize("kind", [EngineKind.LLAMACPP, EngineKind.VLLM])
async def test_e12_counts_are_the_engines_own_and_exact(start: Start, kind: EngineKind) -> None:
    engine = await start(ScriptedEngine("hi", kind=kind))
    assert engine.profile.counts_tokens
    assert await engine.count_tokens(MESSAGES) == (await ask(engine, MESSAGES)).usage.prompt


@pytest.mark.parametrize("kind", [EngineKind.SGLANG, EngineKind.OLLAMA, EngineKind.OPENAI])
async def test_e12_where_the_engine_can_not_count_the_bound_is_never_low(start: Start, kind: EngineKind) -> None:
    engine = await start(ScriptedEngine("hi", kind=kind))
    assert not engine.profile.counts_tokens
    assert await engine.count_tokens(MESSAGES) >= (await ask(engine, MESSAGES)).usage.prompt


@pytest.mark.parametrize("kind", list(EngineKind))
async def test_e2_tools_are_counted(start: Start, kind: EngineKind) -> None:
    engine = await start(ScriptedEngine("hi", kind=kind))
    bare = await engine.count_request(GenerateRequest(MESSAGES, 1))
    tools = [{"name": "look", "description": "look around " * 20, "parameters": {"type": "object"}}]
    counted = await engine.count_request(GenerateRequest(MESSAGES, 1, tools=tools))
    # The scripted template writes no tools; engines that count are asked with them and say what they say.
    assert counted >= bare if engine.profile.counts_tokens else counted > bare


async def test_counts_when_the_endpoint_is_missing(start: Start) -> None:
    missing = failing(404, "Not Found")
    engine = await start(ScriptedEngine("hi", kind=EngineKind.SGLANG, routes={"/v1/tokenize": missing}))
    assert await engine.count_tokens(MESSAGES) > 0


async def test_prefill_progress_is_passed_on(start: Start) -> None:
    first = {
        "choices": [{"index": 0, "delta": {"role": "assistant"}}],
        "prompt_progress": {"total": 90, "cache": 0, "processed": 40},
    }
    last = {"choices": [{"index": 0, "delta": {"content": "hi"}, "finish_reason": "stop"}]}
    engine = await start(ScriptedEngine(Script([Send(sse(first, last))]), kind=EngineKind.LLAMACPP))
    assert TokensProcessed(processed=40, total=90) in await ask_parts(engine)


async def test_cached_tokens_are_passed_on(start: Start) -> None:
    engine = await start(ScriptedEngine("hi", kind=EngineKind.VLLM))
    await ask(engine, MESSAGES)
    usage = (await ask(engine, MESSAGES)).usage
    assert usage.cached == usage.prompt - 1
    assert usage.prefill == 1


# Slots of llama.cpp


@pytest.fixture
async def llamacpp(start: Start) -> tuple[ScriptedEngine, LlamaCppEngine]:
    scripted = ScriptedEngine("one two three", kind=EngineKind.LLAMACPP, slots=4, token_delay_s=0.005)
    engine = await start(scripted)
    assert isinstance(engine, LlamaCppEngine)
    return scripted, engine


SHARED = [ChatMessage("system", "Notes. " * 50), ChatMessage("user", "This is the message")]


async def test_a_prefix_is_computed_once_and_copied(llamacpp: tuple[ScriptedEngine, LlamaCppEngine]) -> None:
    _, engine = llamacpp
    assert isinstance(engine, PrefixCopier)
    state = await engine.compute_prefix(SHARED, slot=0)
    assert state.usage.cached == 0
    for slot in range(1, 4):
        await engine.restore_prefix(state, slot=slot)
    for slot in range(4):
        messages = [SHARED[0], ChatMessage("user", f"{SHARED[1].content}\n\n# Role {slot}")]
        usage = (await ask(engine, messages, slot=slot)).usage
        assert usage.prefill < 20
    again = await engine.compute_prefix(SHARED, slot=0)
    assert (again.usage.cached or 0) > 40


async def test_the_prefix_ends_right_after_the_last_text(llamacpp: tuple[ScriptedEngine, LlamaCppEngine]) -> None:
    scripted, engine = llamacpp
    await engine.compute_prefix(SHARED, slot=0)
    assert str(scripted.requests[0].fields["prompt"]).endswith("\nThis is the message")
    assert scripted.requests[0].fields["n_predict"] == 0


async def test_state_files_have_names_of_ours_and_are_few(llamacpp: tuple[ScriptedEngine, LlamaCppEngine]) -> None:
    scripted, engine = llamacpp
    for number in range(10):
        await engine.compute_prefix([ChatMessage("user", f"text {number}")], slot=number % 4)
    names = set(scripted.memory.saved)
    assert len(names) == 4
    assert all(name.startswith("repertory-") and "/" not in name for name in names)


async def test_restoring_what_is_gone_is_refused(llamacpp: tuple[ScriptedEngine, LlamaCppEngine]) -> None:
    scripted, engine = llamacpp
    state = await engine.compute_prefix(SHARED, slot=0)
    scripted.memory.saved.clear()
    with pytest.raises(EngineRejectedError, match="restore"):
        await engine.restore_prefix(state, slot=1)


@pytest.mark.parametrize("slot", [-1, 4, 99])
async def test_a_slot_that_does_not_exist(llamacpp: tuple[ScriptedEngine, LlamaCppEngine], slot: int) -> None:
    _, engine = llamacpp
    with pytest.raises(EngineRejectedError, match="there is no slot"):
        await ask(engine, slot=slot)
    with pytest.raises(EngineRejectedError, match="there is no slot"):
        await engine.compute_prefix(SHARED, slot=slot)


async def test_a_prefix_beyond_the_context(start: Start) -> None:
    engine = await start(ScriptedEngine(kind=EngineKind.LLAMACPP, context_tokens=40))
    assert isinstance(engine, LlamaCppEngine)
    with pytest.raises(ContextBudgetError):
        await engine.compute_prefix(SHARED, slot=0)


async def test_two_requests_in_one_slot_go_one_after_the_other(llamacpp: tuple[ScriptedEngine, LlamaCppEngine]) -> None:
    scripted, engine = llamacpp
    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(lambda: ask(engine, slot=2))
    assert scripted.peak_streams == 1


async def test_g9_after_a_cancel_the_slot_is_seen_to_be_idle(llamacpp: tuple[ScriptedEngine, LlamaCppEngine]) -> None:
    scripted, engine = llamacpp
    with anyio.move_on_after(0.01):
        await ask(engine, slot=1)
    assert 1 not in scripted.busy_slots
    assert engine.leaked_slots == set()


def never_idle(busy: list[bool]) -> Script:
    return Script(
        [Send(f'[{{"id":0,"is_processing":{str(busy[0]).lower()}}}]'.encode())], content_type="application/json"
    )


async def test_g9_a_slot_that_goes_on_working_is_leaked_and_refused(start: Start) -> None:
    busy = [True]
    scripted = ScriptedEngine(
        "one two three four",
        kind=EngineKind.LLAMACPP,
        slots=1,
        token_delay_s=0.02,
        routes={"/slots": lambda _: never_idle(busy)},
    )
    engine = await start(scripted)
    assert isinstance(engine, LlamaCppEngine)
    with anyio.move_on_after(0.03):
        await ask(engine, slot=0)
    assert engine.leaked_slots == {0}
    with pytest.raises(EngineUnavailableError, match="slot 0 still works on a request that was cancelled"):
        await ask(engine, slot=0, deadline_s=0.2)
    busy[0] = False
    assert (await ask(engine, slot=0)).text == "one two three four"
    assert engine.leaked_slots == set()


async def test_a_server_that_hides_its_slots_is_believed(start: Start) -> None:
    hidden = failing(501, "This server does not support slots endpoint.")
    engine = await start(
        ScriptedEngine("one two", kind=EngineKind.LLAMACPP, token_delay_s=0.05, routes={"/slots": hidden})
    )
    assert not engine.profile.verifies_cancel
    with anyio.move_on_after(0.03):
        await ask(engine, slot=0)
    assert (await ask(engine, slot=0)).text == "one two"
