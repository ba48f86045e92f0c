"""The clients that people use, against a gateway that listens: the SDKs of OpenAI and Anthropic, and curl."""

import asyncio
import json
import shutil

import anthropic
import openai
import pytest
from tests.serving.gateway.running import gateway_for, serving, upstream

from repertory.engines.profile import EngineKind
from repertory.testing import Answer, Broken, ScriptedEngine, cut

ASK = [{"role": "user", "content": "Hello."}]


async def test_the_openai_sdk() -> None:
    async with (
        ScriptedEngine(Answer("one two three"), kind=EngineKind.VLLM) as engine,
        serving(gateway_for(upstream(engine))) as http,
        openai.AsyncOpenAI(base_url=f"{http.base_url}/v1", api_key="unused", max_retries=0) as client,
    ):
        whole = await client.chat.completions.create(model="scripted", messages=[{"role": "user", "content": "x"}])
        assert whole.choices[0].message.content == "one two three"
        stream = await client.chat.completions.create(
            model="coaching/shadow",
            messages=[{"role": "user", "content": "Hello."}],
            stream=True,
            stream_options={"include_usage": True},
        )
        chunks = [chunk async for chunk in stream]
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
        assert text == "one two three"
        assert chunks[-1].usage is not None
        assert {model.id async for model in client.models.list()} == {"scripted", "coaching/shadow"}
        with pytest.raises(openai.NotFoundError, match="there is no model"):
            await client.chat.completions.create(model="nothing", messages=[{"role": "user", "content": "x"}])
        engine._reply = Broken("one two three four", lambda script: cut(script, 700))
        broken = await client.chat.completions.create(
            model="scripted", messages=[{"role": "user", "content": "x"}], stream=True
        )
        with pytest.raises(openai.APIError, match="broke off"):
            _ = [chunk async for chunk in broken]


async def test_the_anthropic_sdk() -> None:
    async with (
        ScriptedEngine(Answer("one two three"), kind=EngineKind.VLLM) as engine,
        serving(gateway_for(upstream(engine))) as http,
        anthropic.AsyncAnthropic(base_url=str(http.base_url), api_key="unused", max_retries=0) as client,
    ):
        whole = await client.messages.create(
            model="scripted", max_tokens=20, messages=[{"role": "user", "content": "Hello."}]
        )
        assert [block.text for block in whole.content if block.type == "text"] == ["one two three"]
        async with client.messages.stream(
            model="coaching/shadow", max_tokens=20, messages=[{"role": "user", "content": "Hello."}]
        ) as stream:
            assert "".join([text async for text in stream.text_stream]) == "one two three"
            final = await stream.get_final_message()
        assert final.usage.output_tokens == whole.usage.output_tokens
        counted = await client.messages.count_tokens(model="scripted", messages=[{"role": "user", "content": "Hello."}])
        assert counted.input_tokens > 0
        assert {model.id async for model in client.models.list()} == {"scripted", "coaching/shadow"}
        with pytest.raises(anthropic.NotFoundError, match="there is no model"):
            await client.messages.create(model="nothing", max_tokens=1, messages=[{"role": "user", "content": "x"}])
        engine._reply = Broken("one two three four", lambda script: cut(script, 700))
        async with client.messages.stream(
            model="scripted", max_tokens=20, messages=[{"role": "user", "content": "Hello."}]
        ) as broken:
            with pytest.raises(anthropic.APIError, match="broke off"):
                _ = [text async for text in broken.text_stream]


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
async def test_curl() -> None:
    async with ScriptedEngine("one two three") as engine, serving(gateway_for(upstream(engine))) as http:

        async def curl(*arguments: str) -> str:
            made = await asyncio.create_subprocess_exec(
                "curl", "--silent", "--show-error", *arguments, stdout=asyncio.subprocess.PIPE
            )
            return (await made.communicate())[0].decode()

        body = json.dumps({"model": "scripted", "messages": ASK})
        whole = await curl(f"{http.base_url}/v1/chat/completions", "--data", body)
        assert json.loads(whole)["choices"][0]["message"]["content"] == "one two three"
        streamed = body.replace("{", '{"stream": true, ', 1)
        stream = await curl("--no-buffer", f"{http.base_url}/v1/chat/completions", "--data", streamed)
        assert stream.rstrip().endswith("data: [DONE]")
        large = [part for name in "abc" for part in ("--header", f"X-{name}: {'x' * 60_000}")]
        refused = await curl("--write-out", "%{http_code}", f"{http.base_url}/v1/models", *large)
        assert refused.endswith("400")
