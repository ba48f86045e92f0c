"""A deployed agent with a real small model: tools chosen and called in the sandbox, through every way to reach it."""

import asyncio
import json
import re
import shutil
from collections.abc import Iterator, Mapping
from typing import Any

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

QUESTIONS = ("How much is 100 degrees Celsius in Fahrenheit?", "Convert 50 Fahrenheit to Celsius, please.")


def truth(tool: str, arguments: Mapping[str, Any]) -> float:
    """What the agent's tools compute. A model this small may take the wrong one; it is still told the truth."""
    if tool == "c_to_f":
        return round(arguments["celsius"] * 9 / 5 + 32, 2)
    return round((arguments["fahrenheit"] - 32) * 5 / 9, 2)


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open() as opened:
        deploy(opened, temperature(instructions="You help cooks with temperatures. Be brief."))
        yield opened


async def test_a_small_model_calls_a_tool_and_says_its_result(embedded_engine: RunningEngine, store: Store) -> None:
    engine = await connect(embedded_engine.url, api_key=embedded_engine.api_key, kind=EngineKind.LLAMACPP)

    async def source() -> object:
        return engine

    with AgentRuntime(Registry(store)) as runtime:
        conversations = Conversations(AgentCalls(runtime), source)  # pyright: ignore[reportArgumentType] - one engine
        said = 0
        for question in QUESTIONS:
            parts = [part async for part in conversations.reply("temperature", [Message("user", question)])]
            uses = [part for part in parts if isinstance(part, ToolUse)]
            assert uses[0].result.result == truth(uses[0].tool, uses[0].arguments)
            text = "".join(part.text for part in parts if isinstance(part, ReplyText))
            said += re.search(rf"\b{int(truth(uses[0].tool, uses[0].arguments))}\b", text) is not None
            done = parts[-1]
            assert isinstance(done, ReplyDone)
            assert done.status == "complete"
            # Each step adds to the end of the prompt, and the engine computes only what is new.
            assert done.cached_tokens > done.prompt_tokens / 2
        assert said >= 1  # it repeats the second question rather than the result
    await engine.aclose()


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
async def test_curl_streams_a_reply(embedded_engine: RunningEngine, store: Store) -> None:
    engine = await connect(embedded_engine.url, api_key=embedded_engine.api_key, kind=EngineKind.LLAMACPP)
    async with serving_agents(store, engine) as http:
        question = QUESTIONS[0]
        messages = [{"role": "user", "content": question}]
        body = json.dumps({"model": "agent:temperature", "messages": messages, "stream": True})
        made = await asyncio.create_subprocess_exec(
            "curl", "-sS", "-N", f"{http.base_url}/v1/chat/completions", "-d", body, stdout=asyncio.subprocess.PIPE
        )
        lines = [line for line in (await made.communicate())[0].decode().splitlines() if line.startswith("data: {")]
    chunks = [json.loads(line.removeprefix("data: ")) for line in lines]
    text = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
    assert re.search(r"\d", text)
    assert chunks[-1]["repertory"]["status"] == "complete"
    await engine.aclose()
