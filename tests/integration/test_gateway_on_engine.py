"""The gateway in front of the embedded engine with a real model: pass-through, Anthropic's API, cancel, metrics."""

import asyncio
import json

import anthropic
import openai
import pytest
from tests.serving.gateway.running import gateway_for, serving

from repertory.engines.connect import connect
from repertory.engines.embedded import RunningEngine
from repertory.engines.llamacpp import LlamaCppEngine
from repertory.engines.profile import EngineKind
from repertory.engines.protocol import Engine
from repertory.server.casting import StandingEngine, upstream_of
from repertory.serving.gateway.gateway import GatewayLimits
from repertory.serving.gateway.upstream import Address

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]


async def test_the_sdks_on_a_real_engine(embedded_engine: RunningEngine) -> None:
    engine = await connect(embedded_engine.url, api_key=embedded_engine.api_key, kind=EngineKind.LLAMACPP)
    standing = StandingEngine("embedded", engine, Address(embedded_engine.url, embedded_engine.api_key))
    upstream = upstream_of(standing, (("coaching/shadow", 0),))
    assert upstream.concurrency == embedded_engine.slots
    gateway = gateway_for(upstream, limits=GatewayLimits())
    async with (
        serving(gateway) as http,
        openai.AsyncOpenAI(base_url=f"{http.base_url}/v1", api_key="x", max_retries=0) as chat,
        anthropic.AsyncAnthropic(base_url=str(http.base_url), api_key="x", max_retries=0) as messages,
    ):
        stream = await chat.chat.completions.create(
            model="coaching/shadow",
            messages=[{"role": "user", "content": "Say hello."}],
            max_tokens=8,
            temperature=0,
            stream=True,
        )
        chunks = [chunk async for chunk in stream]
        assert all(chunk.choices for chunk in chunks)  # the counts, which only we asked for, are kept back
        streamed = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
        whole = await chat.chat.completions.create(
            model="coaching/shadow",
            messages=[{"role": "user", "content": "Say hello."}],
            max_tokens=8,
            temperature=0,
        )
        assert streamed == whole.choices[0].message.content
        assert streamed
        assert whole.usage is not None
        counted = await messages.messages.count_tokens(
            model=engine.model, messages=[{"role": "user", "content": "Say hello."}]
        )
        assert counted.input_tokens == whole.usage.prompt_tokens
        async with messages.messages.stream(
            model=engine.model,
            max_tokens=8,
            messages=[{"role": "user", "content": "Say hello."}],
            extra_body={"temperature": 0},
        ) as told:
            assert "".join([text async for text in told.text_stream]) == streamed
        metrics = (await http.get("/metrics")).text
        assert (
            f'repertory_prompt_tokens_total{{instance="embedded",name="coaching/shadow"}} {2.0 * counted.input_tokens}'
            in metrics
        )
        leaving = await chat.chat.completions.create(
            model=engine.model, messages=[{"role": "user", "content": "Count to 1000."}], max_tokens=2000, stream=True
        )
        await anext(aiter(leaving))
        await leaving.close()
        async with asyncio.timeout(20):
            while (await _busy_slots(engine)) > 0:  # noqa: ASYNC110 - another process's state
                await asyncio.sleep(0.1)
    await engine.aclose()


async def _busy_slots(engine: Engine) -> int:
    assert isinstance(engine, LlamaCppEngine)
    slots = (await engine.client.get("/slots")).json()
    assert isinstance(slots, list)
    return json.dumps(slots).count('"is_processing": true')
