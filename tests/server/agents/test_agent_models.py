"""Deployed agents as models of OpenAI's and Anthropic's APIs, and their HTTP routes."""

import json
from collections.abc import Iterator

import anthropic
import openai
import pytest
from tests.registry.conversation.test_conversation import converts
from tests.registry.temperature import temperature
from tests.server.agents_serving import deploy, key_for, serving_agents

from repertory.registry.registry import Registry
from repertory.registry.runtime import AgentRuntime
from repertory.storage.store import Store
from repertory.testing.scripted_model import ScriptedModel

CHAT = "/v1/chat/completions"
CALL = '{"tool": "c_to_f", "arguments": {"celsius": 20}}'


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open() as opened:
        deploy(opened, temperature(routes=True))
        yield opened


def ask(text: str, model: str = "agent:temperature", **more: object) -> dict[str, object]:
    return {"model": model, "messages": [{"role": "user", "content": text}], **more}


async def test_both_apis_whole_and_streamed(store: Store) -> None:
    async with (
        serving_agents(store, ScriptedModel(converts)) as http,
        openai.AsyncOpenAI(base_url=f"{http.base_url}/v1", api_key="unused", max_retries=0) as client,
        anthropic.AsyncAnthropic(base_url=str(http.base_url), api_key="unused", max_retries=0) as claude,
    ):
        assert {model.id async for model in client.models.list()} == {"agent:temperature"}
        whole = await client.chat.completions.create(
            model="agent:temperature", messages=[{"role": "user", "content": "100 C?"}]
        )
        assert whole.choices[0].message.content == "It is 212 degrees Fahrenheit."
        assert whole.usage is not None
        assert whole.usage.completion_tokens > 0
        stream = await client.chat.completions.create(
            model="agent:temperature", messages=[{"role": "user", "content": "100 C?"}], stream=True
        )
        pieces = [chunk.choices[0].delta.content async for chunk in stream if chunk.choices[0].delta.content]
        assert "".join(pieces) == "It is 212 degrees Fahrenheit."
        assert len(pieces) > 2
        message = await claude.messages.create(
            model="agent:temperature", max_tokens=50, messages=[{"role": "user", "content": CALL}]
        )
        assert [block.text for block in message.content if block.type == "text"] == ["68.0"]
        async with claude.messages.stream(
            model="agent:temperature", max_tokens=50, messages=[{"role": "user", "content": "100 C?"}]
        ) as events:
            assert "".join([text async for text in events.text_stream]) == "It is 212 degrees Fahrenheit."


async def test_a_written_call_needs_no_engine_and_a_question_says_that_there_is_none(store: Store) -> None:
    async with serving_agents(store) as http:
        answer = await http.post(CHAT, json=ask(CALL))
        assert answer.json()["choices"][0]["message"]["content"] == "68.0"
        assert (await http.post(CHAT, json=ask("100 C?"))).status_code == 503
        assert (await http.post("/v1/completions", json={"model": "agent:temperature", "prompt": "x"})).json()["error"][
            "code"
        ] == "endpoint_not_for_teams"


async def test_the_client_does_not_replace_the_instructions(store: Store) -> None:
    model = ScriptedModel(converts)
    async with serving_agents(store, model) as http:
        messages = [{"role": "system", "content": "You are a pirate."}, {"role": "user", "content": "100 C?"}]
        await http.post(CHAT, json={"model": "agent:temperature", "messages": messages})
    system = [message.content for message in model.requests[0].messages if message.role == "system"]
    assert len(system) == 1
    assert "pirate" not in system[0]


async def test_a_promoted_agent_is_there_and_a_retired_one_is_gone(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("repertory.server.agents.served_agents._FRESH_S", 0.0)
    async with serving_agents(store) as http:
        assert (await http.post(CHAT, json=ask(CALL, "agent:other"))).status_code == 404
        deploy(store, temperature("other"))
        assert (await http.post(CHAT, json=ask(CALL, "agent:other"))).status_code == 200
        Registry(store).retire("other", 1)
        gone = await http.post(CHAT, json=ask(CALL, "agent:other"))
        assert (gone.status_code, gone.json()["error"]["code"]) == (404, "model_not_found")


async def test_keys_are_scoped_to_agents_and_limited(store: Store) -> None:
    deploy(store, temperature("other", routes=True))
    key = key_for(store, "one", ["agent:temperature"], requests_per_minute=4)
    bearer = {"authorization": f"Bearer {key}"}
    async with serving_agents(store, keys=True) as http:
        assert (await http.post(CHAT, json=ask(CALL))).status_code == 401
        assert (await http.get("/agents/temperature/celsius/20")).status_code == 401
        listed = (await http.get("/v1/models", headers=bearer)).json()["data"]
        assert [model["id"] for model in listed] == ["agent:temperature"]
        # A key that may not use an agent is not told that it is there.
        assert (await http.post(CHAT, json=ask(CALL, "agent:other"), headers=bearer)).status_code == 404
        assert (await http.get("/agents/other/celsius/20", headers=bearer)).status_code == 403
        codes = [(await http.post(CHAT, json=ask(CALL), headers=bearer)).status_code for _ in range(2)]
        codes += [(await http.get("/agents/temperature/celsius/1", headers=bearer)).status_code for _ in range(3)]
        assert codes == [200, 200, 200, 200, 429]


async def test_http_routes(store: Store) -> None:
    async with serving_agents(store) as http:
        answer = await http.get("/agents/temperature/celsius/100")
        assert (answer.status_code, answer.json()) == (200, {"fahrenheit": 212.0})
        assert answer.headers["content-security-policy"].startswith("sandbox")
        assert (await http.post("/agents/temperature/celsius/100")).status_code == 405
        assert (await http.get("/agents/temperature/nothing")).status_code == 404
        assert (await http.get("/agents/nobody/celsius/1")).status_code == 404
        assert (await http.post("/agents/temperature/fails", content=b"x")).status_code == 500
        large = await http.post("/agents/temperature/fails", content=b"x" * (1024 * 1024 + 1))
        assert (large.status_code, large.json()["error"]["code"]) == (413, "body_too_large")
        other_host = await http.get("/agents/temperature/celsius/1", headers={"host": "evil.example"})
        assert other_host.status_code == 403
        other_page = await http.get("/agents/temperature/celsius/1", headers={"origin": "https://evil.example"})
        assert other_page.status_code == 403


async def test_a_package_that_was_changed_answers_nobody(store: Store) -> None:
    from sqlalchemy import text

    with store._database.engine.begin() as connection:
        changed = temperature(routes=True)["tools.py"] + b"\n# changed"
        original = temperature(routes=True)["tools.py"]
        connection.execute(
            text("UPDATE agent_files SET content = :new WHERE content = :old"), {"new": changed, "old": original}
        )
    async with serving_agents(store) as http:
        answer = await http.post(CHAT, json=ask(CALL))
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "agent_unavailable")
        assert "not the one that was signed" in json.dumps(answer.json())
        assert (await http.get("/agents/temperature/celsius/1")).status_code == 503


async def test_what_was_seen_is_written_when_the_server_stops(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AgentRuntime, "close", _nothing)  # a signal may end the process before
    async with serving_agents(store, ScriptedModel(converts)) as http:
        await http.post(CHAT, json=ask("100 C?"))
        await http.get("/agents/temperature/celsius/100")
    calls = store.agent_watch.recent("temperature", 1)
    assert [(call.what, call.outcome) for call in calls] == [("GET by convert", "ok"), ("tool c_to_f", "ok")]


def _nothing(_: object) -> None:
    pass
