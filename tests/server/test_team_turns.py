"""Turns of a team through the HTTP interface: words as they come, whose blackboard, which session."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import anthropic
import openai
import pytest
from opentelemetry import trace
from tests.server.served_team import served
from tests.serving.gateway.running import gateway_for, serving

from repertory.errors import EngineUnavailableError
from repertory.runtime.team import Agent, Read, ReadMode, Replies, Section, Team
from repertory.server.conversations import Conversations
from repertory.server.turn_teams import RunnerTeams
from repertory.serving.access import Access
from repertory.serving.api_keys import KeyRing, new_key
from repertory.serving.gateway.gateway import Gateway
from repertory.serving.host_check import HostCheck
from repertory.storage.store import Store
from repertory.testing.scripted_model import Answer, ScriptedModel, agent_of

pytestmark = pytest.mark.virtual_time

CHAT = "/v1/chat/completions"
TEAM = Team(
    name="duo",
    preamble="You are two.",
    sections={"hello": Section(text=True), "ending": Section(text=True)},
    agents={
        "quick": Agent(instructions="Greet.", writes="hello"),
        "closer": Agent(instructions="Close.", writes="ending", reads={"hello": Read(mode=ReadMode.FRESH)}),
    },
    replies=Replies(first="hello", full="ending"),
)
ANSWERS: dict[str, Answer] = {"quick": "Hello there. What now?", "closer": "All in all you seem calm."}
WHOLE = "Hello there. What now?\n\nAll in all you seem calm."


def ask(*texts: str, **more: Any) -> dict[str, Any]:
    messages = [{"role": role, "content": text} for role, text in zip(("user", "assistant") * 9, texts, strict=False)]
    return {"model": "duo", "messages": messages, **more}


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open() as opened:
        yield opened


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel(reply=lambda request: ANSWERS[agent_of(request)])


@pytest.fixture
def teams(store: Store, model: ScriptedModel) -> RunnerTeams:
    return served(TEAM, model, store)


@pytest.fixture
def gateway(teams: RunnerTeams) -> Gateway:
    return gateway_for(teams=teams)


async def test_the_first_reply_comes_before_the_rest_is_written(gateway: Gateway, model: ScriptedModel) -> None:
    model.hold["closer"] = asyncio.Event()
    async with (
        serving(gateway) as http,
        openai.AsyncOpenAI(base_url=f"{http.base_url}/v1", api_key="unused", max_retries=0) as client,
    ):
        stream = await client.chat.completions.create(
            model="duo",
            messages=[{"role": "user", "content": "Hi!"}],
            stream=True,
            stream_options={"include_usage": True},
        )
        text, pieces, tokens = "", 0, 0
        async for chunk in stream:
            if chunk.choices and chunk.choices[0].delta.content:
                text += chunk.choices[0].delta.content
                pieces += 1
            tokens = chunk.usage.completion_tokens if chunk.usage is not None else tokens
            if text == "Hello there. What now?":
                model.hold["closer"].set()
    assert text == WHOLE
    assert pieces > 3
    assert tokens > 0


async def test_both_apis_whole_and_streamed(gateway: Gateway) -> None:
    async with (
        serving(gateway) as http,
        anthropic.AsyncAnthropic(base_url=str(http.base_url), api_key="unused", max_retries=0) as client,
    ):
        answer = (await http.post(CHAT, json=ask("Hi!"))).json()
        assert answer["choices"][0]["message"]["content"] == WHOLE
        assert answer["repertory"]["status"] == "complete"
        whole = await client.messages.create(
            model="duo", max_tokens=10, messages=[{"role": "user", "content": [{"type": "text", "text": "Hi!"}]}]
        )
        assert [block.text for block in whole.content if block.type == "text"] == [WHOLE]
        async with client.messages.stream(
            model="duo", max_tokens=10, messages=[{"role": "user", "content": "Hi!"}]
        ) as stream:
            assert "".join([text async for text in stream.text_stream]) == WHOLE


async def test_the_user_selects_the_blackboard(gateway: Gateway, store: Store) -> None:
    async with serving(gateway) as http:
        await http.post(CHAT, json=ask("Hi!", user="ada"))
        await http.post(CHAT, json=ask("Hi!"))
    assert store.teams_of_user("ada") == store.teams_of_user("me") == ["duo"]


async def test_a_key_without_a_user_has_a_blackboard_of_its_own(teams: RunnerTeams, store: Store) -> None:
    key, kept = new_key("app", ["team:duo"])
    store.keys.add(kept)
    gateway = gateway_for(teams=teams, access=Access(HostCheck(), KeyRing(store.keys.all)))
    async with serving(gateway) as http:
        answer = await http.post(CHAT, json=ask("Hi!"), headers={"authorization": f"Bearer {key}"})
    assert answer.status_code == 200
    assert store.teams_of_user(f"key:{kept.id}") == ["duo"]
    assert store.teams_of_user("me") == []


async def test_a_conversation_stays_in_its_session(gateway: Gateway, store: Store) -> None:
    async with serving(gateway) as http:
        first = await http.post(CHAT, json=ask("Hi!"))
        second = await http.post(CHAT, json=ask("Hi!", WHOLE, "And now?"))
        other = await http.post(CHAT, json=ask("Hi!"))
        named = await http.post(CHAT, json=ask("Hi!"), headers={"x-repertory-session": "mine"})
    sessions = [answer.json()["repertory"]["session"] for answer in (first, second, other, named)]
    assert sessions[0] == sessions[1] != sessions[2]
    assert sessions[3] == "mine"
    assert [answer.headers["x-repertory-session"] for answer in (first, named)] == [sessions[0], "mine"]
    session = store.sessions.find("duo", "me", sessions[0])
    assert session is not None
    assert [message.text for message in store.messages.messages(session)] == ["Hi!", WHOLE, "And now?", WHOLE]


def test_conversations_of_two_people_are_two() -> None:
    conversations = Conversations()
    messages = [("system", "x"), ("user", "Hi!"), ("assistant", "Ho. "), ("user", "And?")]
    assert conversations.session_of("duo", "ada", messages[:2]) is None
    conversations.began("duo", "ada", "Hi!", "Ho.", "s1")
    assert conversations.session_of("duo", "ada", messages) == "s1"
    unknown = conversations.session_of("duo", "bob", messages)
    assert unknown not in {None, "s1"}
    assert Conversations().session_of("duo", "bob", messages) == unknown


async def test_a_client_that_leaves_costs_no_section(gateway: Gateway, model: ScriptedModel, store: Store) -> None:
    model.hold["closer"] = asyncio.Event()
    async with serving(gateway, drain_s=5) as http:
        async with http.stream("POST", CHAT, json=ask("Hi!", stream=True, user="ada")) as answer:
            await anext(answer.aiter_bytes())
        model.hold["closer"].set()
        async with asyncio.timeout(10):
            while store.turns.turns("duo", "ada")[0].status == "running":  # noqa: ASYNC110 - a row of the database
                await asyncio.sleep(0.02)
    assert store.blackboard("duo", "ada").all_latest()["hello"].value == "Hello there. What now?"


async def test_what_is_no_turn_is_told(gateway: Gateway, model: ScriptedModel) -> None:
    async with serving(gateway) as http:
        for body, code in (
            (ask("Hi!") | {"messages": [{"role": "assistant", "content": "x"}]}, "invalid_value"),
            (ask() | {"messages": "Hi!"}, "invalid_value"),
            (ask() | {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "invalid_value"),
        ):
            answer = await http.post(CHAT, json=body)
            assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)
        answer = await http.post("/v1/embeddings", json=ask("Hi!"))
        assert answer.json()["error"]["code"] == "endpoint_not_for_teams"
        answer = await http.post(CHAT, json=ask("Hi!"), headers={"x-repertory-session": "../x"})
        assert answer.status_code == 400
        model.reply = lambda _: EngineUnavailableError("nothing answers")
        answer = await http.post(CHAT, json=ask("Hi!", stream=True))
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "turn_failed")


async def test_a_turn_and_its_agents_are_spans(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))

    def get_tracer(name: str) -> trace.Tracer:
        return provider.get_tracer(name)

    monkeypatch.setattr(trace, "get_tracer", get_tracer)
    async with serving(gateway) as http:
        answer = (await http.post(CHAT, json=ask("Hi!"))).json()
    spans = {span.name: span for span in exporter.get_finished_spans()}
    assert set(spans) == {"turn", "invoke_agent quick", "invoke_agent closer"}
    turn = spans["turn"]
    assert turn.context is not None
    assert dict(turn.attributes or {}) | {"repertory.status": "complete"} == {
        "repertory.turn": answer["repertory"]["turn"],
        "repertory.team": "duo",
        "repertory.status": "complete",
    }
    for name in ("quick", "closer"):
        span = spans[f"invoke_agent {name}"]
        attributes = dict(span.attributes or {})
        assert span.parent is not None
        assert span.parent.span_id == turn.context.span_id
        assert attributes["gen_ai.agent.name"] == name
        assert attributes["repertory.status"] == "done"
    assert "Hello" not in json.dumps([dict(span.attributes or {}) for span in spans.values()], default=str)
