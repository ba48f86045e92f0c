"""A deployed agent with a real small model: tools chosen and called in the sandbox, through every way to reach it."""

import asyncio
import json
import shutil
from collections.abc import Iterator

import pytest
from tests.registry.temperature import temperature
from tests.server.agents_serving import deploy, serving_agents

from repertory.engines.connect import connect
from repertory.engines.embedded import RunningEngine
from repertory.engines.profile import EngineKind
from repertory.registry.calls import AgentCalls
from repertory.registry.conversation import Conversations, Message, ReplyDone, ReplyText, ToolUse
from repertory.registry.registry import Registry
from repertory.registry.runtime import AgentRuntime
from repertory.storage.store import Store

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]

QUESTIONS = {
    "How much is 100 degrees Celsius in Fahrenheit?": ("c_to_f", {"celsius": 100}, 212.0),
    "Convert 50 Fahrenheit to Celsius, please.": ("f_to_c", {"fahrenheit": 50}, 10.0),
}


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open() as opened:
        deploy(opened, temperature(instructions="You help cooks with temperatures. Be brief."))
        yield opened


async def test_a_small_model_uses_the_right_tool(embedded_engine: RunningEngine, store: Store) -> None:
    engine = await connect(embedded_engine.url, api_key=embedded_engine.api_key, kind=EngineKind.LLAMACPP)

    async def source() -> object:
        return engine

    with AgentRuntime(Registry(store)) as runtime:
        conversations = Conversations(AgentCalls(runtime), source)  # pyright: ignore[reportArgumentType] - one engine
        for question, (tool, arguments, result) in QUESTIONS.items():
            parts = [part async for part in conversations.reply("temperature", [Message("user", question)])]
            uses = [part for part in parts if isinstance(part, ToolUse)]
            assert (uses[0].tool, dict(uses[0].arguments), uses[0].result.result) == (tool, arguments, result)
            text = "".join(part.text for part in parts if isinstance(part, ReplyText))
            assert str(int(result)) in text
            done = parts[-1]
            assert isinstance(done, ReplyDone)
            assert done.status == "complete"
            # Each step adds to the end of the prompt, and the engine computes only what is new.
            assert done.cached_tokens > done.prompt_tokens / 2
    await engine.aclose()


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
async def test_curl_streams_a_reply(embedded_engine: RunningEngine, store: Store) -> None:
    engine = await connect(embedded_engine.url, api_key=embedded_engine.api_key, kind=EngineKind.LLAMACPP)
    async with serving_agents(store, engine) as http:
        question = next(iter(QUESTIONS))
        messages = [{"role": "user", "content": question}]
        body = json.dumps({"model": "agent:temperature", "messages": messages, "stream": True})
        made = await asyncio.create_subprocess_exec(
            "curl", "-sS", "-N", f"{http.base_url}/v1/chat/completions", "-d", body, stdout=asyncio.subprocess.PIPE
        )
        lines = [line for line in (await made.communicate())[0].decode().splitlines() if line.startswith("data: {")]
    chunks = [json.loads(line.removeprefix("data: ")) for line in lines]
    text = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
    assert "212" in text
    assert chunks[-1]["repertory"]["status"] == "complete"
    await engine.aclose()
