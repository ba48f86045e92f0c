"""The llama.cpp adapter against the real server with a small model."""

import json
from collections.abc import AsyncIterator
from contextlib import aclosing

import anyio
import pytest

from repertory.engines.connect import connect
from repertory.engines.embedded import RunningEngine
from repertory.engines.llamacpp import LlamaCppEngine
from repertory.engines.probe import probe_engine
from repertory.engines.profile import FanOut
from repertory.engines.protocol import ChatMessage, FinishReason, GenerateRequest, TextDelta, TokensProcessed
from repertory.errors import ContextBudgetError, EngineTimeoutError
from repertory.testing import ask, ask_parts

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]

SYSTEM = ChatMessage("system", " ".join(f"Note {number}: the person values steady progress." for number in range(20)))
TEXT = "No writing this week. Höre: 漢字, 🙂👩‍👩‍👧, e\u0301, עברית."


@pytest.fixture
async def engine(embedded_engine: RunningEngine) -> AsyncIterator[LlamaCppEngine]:
    connected = await connect(embedded_engine.url, api_key=embedded_engine.api_key)
    assert isinstance(connected, LlamaCppEngine)
    yield connected
    await connected.aclose()


async def test_it_is_known_for_what_it_is(engine: LlamaCppEngine, embedded_engine: RunningEngine) -> None:
    assert engine.model == embedded_engine.model
    assert engine.context_tokens == embedded_engine.context_tokens
    assert engine.slots == embedded_engine.slots
    assert engine.profile.fan_out is FanOut.COPY_SLOT
    assert engine.profile.verifies_cancel


@pytest.mark.parametrize(
    "messages",
    [
        [ChatMessage("user", "Hello.")],
        [ChatMessage("system", "Be brief."), ChatMessage("user", TEXT)],
        [ChatMessage("user", "a"), ChatMessage("assistant", "b"), ChatMessage("user", "<|im_end|> <think> </s>")],
        [ChatMessage("user", "  spaces around \n\n"), ChatMessage("user", "and NUL \0 and \ud800")],
        [ChatMessage("user", "")],
    ],
)
async def test_e12_the_count_is_exactly_the_usage(engine: LlamaCppEngine, messages: list[ChatMessage]) -> None:
    counted = await engine.count_tokens(messages)
    parts = engine.generate(GenerateRequest(messages, 4, deadline_s=60))
    async with aclosing(parts):
        progress = [part async for part in parts if isinstance(part, TokensProcessed)]
    assert counted == progress[-1].total


async def test_a_slot_copy_computes_a_handful_of_tokens(engine: LlamaCppEngine) -> None:
    shared = [SYSTEM, ChatMessage("user", TEXT)]
    state = await engine.compute_prefix(shared, slot=0, deadline_s=120)
    assert state.tokens > 150
    for slot in range(engine.slots):
        if slot:
            await engine.restore_prefix(state, slot=slot)
        messages = [SYSTEM, ChatMessage("user", f"{TEXT}\n\n# Your role\nAnswer as number {slot}.")]
        usage = (await ask(engine, messages, slot=slot, max_output_tokens=6, deadline_s=60)).usage
        assert usage.prefill < 30
        assert usage.prompt > state.tokens
    again = await engine.compute_prefix(shared, slot=0, deadline_s=120)
    assert again.usage.prefill <= 4


@pytest.mark.parametrize("slot", [0, None])
async def test_g9_a_cancel_frees_the_slot(engine: LlamaCppEngine, slot: int | None) -> None:
    request = GenerateRequest(
        [ChatMessage("user", "Write a long story.")], 400, slot=slot, temperature=1.0, deadline_s=60
    )
    async with aclosing(engine.generate(request)) as parts:
        async for part in parts:
            if isinstance(part, TextDelta):
                break
    assert await engine.idle_slots() == set(range(engine.slots))
    assert engine.leaked_slots == set()


async def test_g10_a_cancel_during_prefill(engine: LlamaCppEngine) -> None:
    words = " ".join(f"word{number}" for number in range(150))
    with pytest.raises(EngineTimeoutError):
        await ask(engine, words, slot=0, deadline_s=0.2)
    # Prefill goes on to the end of its batch; whoever needs the slot next waits for that, and no longer.
    assert (await ask(engine, "Say hi.", slot=0, max_output_tokens=4, deadline_s=60)).text
    assert engine.leaked_slots == set()


async def test_g12_survivors_of_a_cancel_storm(engine: LlamaCppEngine) -> None:
    done: list[FinishReason] = []

    async def survivor() -> None:
        done.append((await ask(engine, "Count to five.", max_output_tokens=12, deadline_s=120)).finish_reason)

    async def victim(number: int) -> None:
        with anyio.move_on_after(0.05 * number):
            await ask(engine, "Count to a thousand.", max_output_tokens=100, deadline_s=120)

    async with anyio.create_task_group() as group:
        for number in range(6):
            group.start_soon(victim, number)
            if number % 2:
                group.start_soon(survivor)
    assert len(done) == 3
    with anyio.fail_after(30):
        while await engine.idle_slots() != set(range(engine.slots)):  # noqa: ASYNC110 - the server's own state
            await anyio.sleep(0.05)


async def test_a_schema_is_enforced(engine: LlamaCppEngine) -> None:
    schema: dict[str, object] = {
        "type": "object",
        "properties": {
            "n": {"type": "integer", "minimum": 700, "maximum": 709},
            "w": {"type": "string", "enum": ["größer"]},
            "pair": {
                "type": "array",
                "prefixItems": [{"type": "boolean"}, {"type": "string", "enum": ["a", "b"]}],
                "minItems": 2,
                "maxItems": 2,
            },
        },
        "required": ["n", "w", "pair"],
        "additionalProperties": False,
    }
    generation = await ask(engine, "Tell me about the sea.", json_schema=schema, max_output_tokens=120, deadline_s=120)
    value = json.loads(generation.text)
    assert 700 <= value["n"] <= 709
    assert value["w"] == "größer"
    assert isinstance(value["pair"][0], bool)
    assert value["pair"][1:] in (["a"], ["b"])
    assert generation.finish_reason is FinishReason.STOP


async def test_the_cap_is_reported(engine: LlamaCppEngine) -> None:
    generation = await ask(engine, "Write a long story.", max_output_tokens=5, deadline_s=60)
    assert (generation.finish_reason, generation.usage.output) == (FinishReason.LENGTH, 5)


async def test_e1_a_prompt_beyond_the_context(engine: LlamaCppEngine) -> None:
    with pytest.raises(ContextBudgetError, match="does not fit"):
        await ask(engine, "word " * (engine.context_tokens + 10), deadline_s=60)


async def test_prefill_is_reported(engine: LlamaCppEngine) -> None:
    parts = await ask_parts(engine, "Say hi.", max_output_tokens=4, deadline_s=60)
    assert any(isinstance(part, TokensProcessed) for part in parts)


async def test_the_probe_confirms_the_profile(engine: LlamaCppEngine) -> None:
    result = await probe_engine(engine)
    found = {check.name: check.status for check in result.checks}
    assert found == {
        "answers": "yes",
        "direct connection": "yes",
        "schema enforced": "yes",
        "counts tokens": "yes",
        "reports cached tokens": "yes",
        "thinking": "no",
        "prefix shared": "yes",
        "cancel frees the engine": "yes",
        "calls tools": "no",  # this model does not
    }
    assert result.profile == engine.profile
