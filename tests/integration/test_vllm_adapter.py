"""The vLLM adapter against the real server (its CPU build) with a small model."""

import json
from collections.abc import AsyncIterator

import anyio
import pytest

from repertory.engines.connect import connect
from repertory.engines.failures import SchemaRejectedError
from repertory.engines.probe import probe_engine
from repertory.engines.profile import FanOut
from repertory.engines.protocol import ChatMessage, GenerateRequest
from repertory.engines.vllm import VllmEngine
from repertory.errors import ContextBudgetError
from repertory.testing import ask

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(600)]


@pytest.fixture
async def engine(vllm_url: str) -> AsyncIterator[VllmEngine]:
    connected = await connect(vllm_url)
    assert isinstance(connected, VllmEngine)
    yield connected
    await connected.aclose()


@pytest.mark.parametrize("thinking", [None, False])
async def test_e12_the_count_is_exactly_the_usage(engine: VllmEngine, thinking: bool | None) -> None:
    messages = [ChatMessage("system", "Be brief."), ChatMessage("user", "Höre: 漢字 🙂 \0 <|im_end|>")]
    counted = await engine.count_request(GenerateRequest(messages, 4, thinking=thinking))
    usage = (await ask(engine, messages, max_output_tokens=4, thinking=thinking, deadline_s=120)).usage
    assert counted == usage.prompt


async def test_the_keywords_of_the_profile_are_enforced(engine: VllmEngine) -> None:
    schema: dict[str, object] = {
        "type": "object",
        "properties": {
            "number": {"type": "number", "minimum": 700, "maximum": 709.5},
            "integer": {"type": "integer", "exclusiveMinimum": 3, "maximum": 9},
            "pattern": {"type": "string", "pattern": "^[a-c]{2,4}$"},
            "list": {"type": "array", "items": {"type": "string", "maxLength": 5}, "minItems": 2, "maxItems": 2},
            "pair": {
                "type": "array",
                "prefixItems": [{"type": "boolean"}, {"type": "string", "enum": ["a", "b"]}],
                "minItems": 2,
                "maxItems": 2,
            },
        },
        "required": ["number", "integer", "pattern", "list", "pair"],
        "additionalProperties": False,
    }
    generation = await ask(
        engine, "Tell me about the sea.", json_schema=schema, max_output_tokens=120, priority=3, deadline_s=300
    )
    value = json.loads(generation.text)
    assert 700 <= value["number"] <= 709.5
    assert 3 < value["integer"] <= 9
    assert set(value["pattern"]) <= set("abc")
    assert [len(text) <= 5 for text in value["list"]] == [True, True]
    assert isinstance(value["pair"][0], bool)
    assert value["pair"][1:] in (["a"], ["b"])


async def test_b1_what_it_refuses_is_told_apart(engine: VllmEngine) -> None:
    schema: dict[str, object] = {
        "type": "object",
        "properties": {"a": {"type": "array", "items": {"type": "string"}, "uniqueItems": True}},
    }
    with pytest.raises(SchemaRejectedError) as caught:
        await ask(engine, json_schema=schema, deadline_s=120)
    assert caught.value.keywords == ()  # xgrammar says that something is not supported, and not what
    assert "not supported" in caught.value.message


async def test_e1_a_prompt_beyond_the_context(engine: VllmEngine) -> None:
    with pytest.raises(ContextBudgetError, match="does not fit"):
        await ask(engine, "word " * (engine.context_tokens + 10), deadline_s=120)


async def test_g13_a_cancel_reaches_the_engine(engine: VllmEngine) -> None:
    async def victim() -> None:
        with anyio.move_on_after(2):
            await ask(engine, "Write a long story.", max_output_tokens=1500, deadline_s=120)

    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(victim)
    with anyio.fail_after(60):
        while await _running(engine):  # noqa: ASYNC110 - the server's own state
            await anyio.sleep(0.2)


async def test_the_probe_confirms_that_a_prefix_is_shared_while_it_is_computed(engine: VllmEngine) -> None:
    result = await probe_engine(engine, within_s=300)
    assert result.profile.fan_out is FanOut.ALL_AT_ONCE
    assert result.profile.structured_output
    assert result.profile.counts_tokens


async def _running(engine: VllmEngine) -> float:
    lines = (await engine.client.get("/metrics")).text.splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith("vllm:num_requests_running"))
