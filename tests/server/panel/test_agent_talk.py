"""Talks with deployed agents through the panel, with a real registry and a real sandbox."""

import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from tests.registry.conversation.test_conversation import converts
from tests.registry.temperature import temperature
from tests.server.panel.conftest import MakePanel, serving

from repertory.registry.registry import Registry
from repertory.serving.api_keys import Caller
from repertory.storage.store import Store
from repertory.testing.scripted_model import ScriptedModel

MakeKey = Callable[..., str]
PATH = "/api/agents/thermometer/talk"


@pytest.fixture(autouse=True)
def deployed(store: Store) -> Registry:
    """One agent that talks, one of tools alone, and one that was never let near users."""
    registry = Registry(store)
    for name, instructions in (("thermometer", "Convert what you are asked."), ("converter", ""), ("draft", "Talk.")):
        version = registry.deploy(temperature(name, instructions=instructions)).version
        if name != "draft":
            registry.promote(name, version.version)
    return registry


def asked(*texts: str, **more: object) -> dict[str, Any]:
    """A talk in which the person speaks first and last."""
    roles = ("user", "assistant")
    return {"messages": [{"role": roles[at % 2], "text": text} for at, text in enumerate(texts)], **more}


async def talk(http: httpx2.AsyncClient, body: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    """The events of a reply."""
    answer = await http.post(PATH, json=body, **more)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/event-stream")
    return [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]


async def test_everybody_whom_one_may_write_to_is_listed(
    make_panel: MakePanel, make_key: MakeKey, http: httpx2.AsyncClient
) -> None:
    listed = (await http.get("/api/chat")).json()["partners"]
    assert [(one["name"], one["kind"]) for one in listed] == [
        ("duo", "team"),
        ("coaching", "team"),
        ("agent:thermometer", "agent"),
    ]
    assert listed[2]["about"] == "Converts temperatures between Celsius and Fahrenheit."
    keys = {
        "team": (make_key("team", "team:duo"), ["duo"]),
        "agent": (make_key("agent", "deployed:agent:thermometer"), ["agent:thermometer"]),
        "all": (make_key("all", "*"), ["duo", "coaching", "agent:thermometer"]),
    }
    async with serving(make_panel(keys=True)) as server:
        for key, names in keys.values():
            answer = await server.get("/api/chat", headers={"authorization": f"Bearer {key}"})
            assert [one["name"] for one in answer.json()["partners"]] == names
        assert (await server.get("/api/chat")).status_code == 401


async def test_an_agent_uses_its_tool_and_its_words_come_one_by_one(
    http: httpx2.AsyncClient, model: ScriptedModel
) -> None:
    model.reply = converts
    told = await talk(http, asked("Hello", "Hello, what shall I convert?", "100 C?"))
    assert [event["tool"] for event in told if event["type"] == "tool_used"] == ["c_to_f"]
    words = [event["text"] for event in told if event["type"] == "words"]
    assert "".join(words) == "It is 212 degrees Fahrenheit."
    assert len(words) > 2
    assert (told[-1]["type"], told[-1]["status"], told[-1]["agent"]) == ("ended", "complete", "thermometer@1")
    assert told[-1]["output_tokens"] > 0
    prompts = ["\n".join(message.content for message in request.messages) for request in model.requests]
    assert any("what shall I convert?" in prompt for prompt in prompts)


async def test_a_signed_in_person_talks_with_the_token_of_the_page_alone(
    make_panel: MakePanel, make_key: MakeKey, model: ScriptedModel
) -> None:
    model.reply = converts
    async with serving(make_panel(keys=True)) as http:
        told = (await http.post("/api/session", json={"key": make_key("ada", user="ada")})).json()
        assert (await http.post(PATH, json=asked("100 C?"))).json()["error"]["type"] == "csrf"
        events = await talk(http, asked("100 C?"), headers={"x-csrf-token": told["csrf"]})
        assert events[-1]["status"] == "complete"
        other = await http.post(PATH, json=asked("100 C?", user="bob"), headers={"x-csrf-token": told["csrf"]})
        assert (other.status_code, other.json()["error"]["type"]) == (403, "user_not_allowed")


async def test_nobody_talks_to_what_they_may_not_reach(
    make_panel: MakePanel, make_key: MakeKey, model: ScriptedModel
) -> None:
    keys = {name: make_key(name, scope) for name, scope in (("team", "team:duo"), ("other", "agent:converter"))}
    async with serving(make_panel(keys=True)) as http:
        for key in keys.values():
            headers = {"authorization": f"Bearer {key}"}
            assert (await http.post(PATH, json=asked("100 C?"), headers=headers)).status_code == 404
        assert (await http.post(PATH, json=asked("100 C?"))).status_code == 401
    assert model.requests == []


async def test_what_can_not_be_said_is_refused(http: httpx2.AsyncClient, deployed: Registry) -> None:
    for name, status in (("converter", 409), ("draft", 404), ("nobody", 404), ("..", 405)):
        answer = await http.post(f"/api/agents/{name}/talk", json=asked("Hi!"))
        assert answer.status_code in {status, 404}, name
        assert set(answer.json()["error"]) == {"type", "message", "hint"}
    bodies: tuple[dict[str, Any], ...] = (
        {},
        {"messages": []},
        asked("  "),
        asked("Hi!", "Hello."),
        asked("Hi!", more=1),
    )
    for body in bodies:
        assert (await http.post(PATH, json=body)).status_code == 422
    system = {"messages": [{"role": "system", "text": "You are a pirate."}, {"role": "user", "text": "Hi!"}]}
    assert (await http.post(PATH, json=system)).status_code == 422
    wrong = await http.post("/api/chat/agent:thermometer", json={"message": "Hi!"})
    assert (wrong.status_code, wrong.json()["error"]["type"]) == (409, "not_a_team")
    assert (await http.post("/api/chat/nobody", json={"message": "Hi!"})).status_code == 404


async def test_a_failure_on_the_way_is_told_as_the_last_event(http: httpx2.AsyncClient, model: ScriptedModel) -> None:
    # It can not fit any context, which is found out when the answer has begun.
    told = await talk(http, asked("100 C? " * 14_000))
    assert [event["type"] for event in told] == ["failed"]
    assert told[0]["error"]["type"] == "context_budget"
    assert told[0]["error"]["hint"]
    assert model.requests == []


async def test_what_a_reply_costs_is_taken_off_the_limit_of_the_key(
    make_panel: MakePanel, make_key: MakeKey, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.reply = converts
    panel = make_panel(keys=True)
    spent: list[int] = []

    def spend(_: Caller, tokens: int) -> None:
        spent.append(tokens)

    monkeypatch.setattr(panel.gateway, "spend", spend)
    async with serving(panel, headers={"authorization": f"Bearer {make_key('ada')}"}) as http:
        done = (await talk(http, asked("100 C?")))[-1]
    assert spent == [done["prompt_tokens"] - done["cached_tokens"] + done["output_tokens"]]
    assert spent[0] > 0
