"""Nobody reaches what is another user's, on any route; who runs the server sees the load and not the words."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from tests.server.panel.conftest import MakePanel, serving
from tests.server.panel.duo import FIRST, FULL, chat, events, is_type, read_events

from repertory.clock import system_clock
from repertory.server.openapi_document import openapi_document
from repertory.server.panel.panel import Panel
from repertory.storage.records import CommitmentChange
from repertory.storage.store import Store
from repertory.teams.coaching.person_acts import answer_questionnaire

SECRET = "I have told nobody about the lighthouse."
MakeKey = Callable[..., str]


@dataclass
class World:
    """A server with two people, somebody who runs it, and Ada's data."""

    http: httpx2.AsyncClient
    panel: Panel
    keys: dict[str, dict[str, str]]
    turn: str
    session: str


@pytest.fixture
async def world(make_panel: MakePanel, make_key: MakeKey, store: Store) -> AsyncGenerator[World]:
    named = {
        "ada": make_key("ada", user="ada"),
        "bob": make_key("bob", user="bob"),
        "app": make_key("app"),
        "other team": make_key("other team", "team:coaching", user="ada"),
        "admin": make_key("admin", "admin"),
        "trusted": make_key("trusted", "admin", "reads-user:ada"),
    }
    keys = {name: {"authorization": f"Bearer {key}"} for name, key in named.items()}
    panel = make_panel(keys=True)
    answer_questionnaire(store, "ada", [3] * 20, system_clock())
    async with serving(panel) as http:
        started = await chat(http, SECRET, headers=keys["ada"])
        yield World(http, panel, keys, started["turn"], started["session"])


ROUTES: tuple[tuple[str, str, Any], ...] = (
    ("GET", "/api/blackboard/{team}/ada", None),
    ("GET", "/api/blackboard/{team}/ada/history", None),
    ("GET", "/api/blackboard/{team}/ada/export", None),
    ("GET", "/api/blackboard/{team}/ada/why?what=c1", None),
    ("DELETE", "/api/blackboard/{team}/ada", {"confirm": "ada"}),
    ("POST", "/api/blackboard/{team}/ada/corrections", {"traits": {"openness": 70}}),
    ("POST", "/api/blackboard/{team}/ada/commitments/k1/outcome", {"outcome": "done"}),
    ("POST", "/api/blackboard/{team}/ada/forget", {"what": "lighthouse"}),
    ("POST", "/api/blackboard/{team}/ada/forget", {"what": "lighthouse", "confirm": True}),
    ("POST", "/api/blackboard/{team}/ada/questionnaire", {"answers": [1] * 20}),
    ("GET", "/api/turns/{turn}", None),
    ("POST", "/api/turns/{turn}/cancel", None),
    ("GET", "/api/turns?user=ada", None),
    ("GET", "/v1/events?turn={turn}", None),
    ("GET", "/v1/events?user=ada", None),
    ("GET", "/api/builds/{turn}", None),
    ("POST", "/api/builds/{turn}/cancel", None),
    ("POST", "/api/chat/duo", {"message": "Hi!", "user": "ada"}),
    ("POST", "/api/builds", {"request": "An agent.", "user": "ada"}),
)
"""Every route that names somebody, with Ada's names in it."""


@pytest.mark.parametrize("who", ["bob", "app"])
@pytest.mark.parametrize("team", ["duo", "coaching"])
async def test_no_route_leads_to_another_user(world: World, who: str, team: str) -> None:
    before = world.panel.store.export("ada")
    for method, path, body in ROUTES:
        url = path.format(team=team, turn=world.turn)
        answer = await world.http.request(method, url, json=body, headers=world.keys[who])
        assert answer.status_code in {403, 404}, (method, url, answer.text)
        assert "lighthouse" not in answer.text
    assert world.panel.store.export("ada") == before


async def test_these_routes_lead_to_ones_own_data(world: World) -> None:
    """Else the test above would hold for routes that do not work at all."""
    for method, path, body in ROUTES:
        if method == "GET" and "builds" not in path and "events" not in path:
            url = path.format(team="duo", turn=world.turn)
            answer = await world.http.request(method, url, json=body, headers=world.keys["ada"])
            assert answer.status_code == 200, (method, url, answer.text)


def test_every_route_that_names_somebody_is_in_the_list() -> None:
    of_people = {
        (method.upper(), path)
        for path, operations in openapi_document()["paths"].items()
        for method in operations
        if any(name in path for name in ("{user}", "{turn}", "{build}"))
    }
    names = {"ada": "{user}", "k1": "{commitment}"}
    listed = {
        (method, "/".join(names.get(part, part) for part in path.partition("?")[0].split("/")))
        for method, path, _ in ROUTES
    }
    listed |= {(method, path.replace("builds/{turn}", "builds/{build}")) for method, path in listed}
    assert of_people <= listed, of_people - listed


async def test_lists_hold_ones_own_alone(world: World) -> None:
    http, keys = world.http, world.keys
    assert (await http.get("/api/turns", headers=keys["bob"])).json()["turns"] == []
    assert (await http.get("/api/blackboard", headers=keys["bob"])).json()["blackboards"] == []
    assert [turn["id"] for turn in (await http.get("/api/turns", headers=keys["ada"])).json()["turns"]] == [world.turn]
    own = (await http.get("/api/blackboard", headers=keys["ada"])).json()["blackboards"]
    assert {(board["team"], board["user"]) for board in own} == {("duo", "ada"), ("coaching", "ada")}
    overview = (await http.get("/api/overview", headers=keys["bob"])).json()
    assert (overview["instances"], overview["working"], overview["totals"]["turns_finished"]) == ([], [], 0)
    assert (await http.get("/api/overview", headers=keys["ada"])).json()["totals"]["turns_finished"] == 1


async def test_a_key_of_another_team_sees_nothing_of_this_one(world: World) -> None:
    headers = world.keys["other team"]
    for path in (f"/api/turns/{world.turn}", "/api/blackboard/duo/ada", "/api/teams/duo", "/v1/events?team=duo"):
        assert (await world.http.get(path, headers=headers)).status_code in {403, 404}, path
    assert (await world.http.get("/api/turns", headers=headers)).json()["turns"] == []
    assert (await world.http.post("/api/chat/duo", json={"message": "x"}, headers=headers)).status_code == 404


async def test_who_runs_the_server_sees_the_load_and_not_the_words(world: World) -> None:
    detail = (await world.http.get(f"/api/turns/{world.turn}", headers=world.keys["admin"])).json()
    assert detail["withheld"]
    assert set(detail["agents"]) == {"quick", "closer"}
    assert detail["tokens"]["output"] > 0
    assert (detail["messages"], detail["result"], detail["why"], detail["reply"]) == ([], None, [], None)
    words = json.dumps(detail)
    assert not any(text in words for text in ("lighthouse", FIRST, FULL, "Hello there"))
    found = await events(world.http, is_type("turn_ended"), params={"turn": world.turn}, headers=world.keys["admin"])
    assert {"turn_started", "agent_finished", "turn_finished"} <= {event["type"] for event in found}
    assert not any("text" in event for event in found)
    for path in ("/api/blackboard/duo/ada", "/api/blackboard/duo/ada/export"):
        assert (await world.http.get(path, headers=world.keys["admin"])).status_code == 403
    erase = await world.http.request(
        "DELETE", "/api/blackboard/duo/ada", json={"confirm": "ada"}, headers=world.keys["admin"]
    )
    assert erase.status_code == 403


async def test_who_was_allowed_to_reads_the_words(world: World) -> None:
    detail = (await world.http.get(f"/api/turns/{world.turn}", headers=world.keys["trusted"])).json()
    assert not detail["withheld"]
    assert [message["text"] for message in detail["messages"]] == [SECRET, f"{FIRST}\n\n{FULL}"]
    assert (await world.http.get("/api/blackboard/duo/ada", headers=world.keys["trusted"])).status_code == 200
    assert (await world.http.get("/api/blackboard/duo/bob", headers=world.keys["trusted"])).status_code == 403


async def test_live_streams_carry_words_to_their_own_user_alone(world: World) -> None:
    http, keys = world.http, world.keys
    seen: dict[str, list[dict[str, Any]]] = {"ada": [], "bob": [], "app": [], "admin": []}
    ready = {name: asyncio.Event() for name in seen}

    async def listen(name: str) -> None:
        async with http.stream("GET", "/v1/events", headers=keys[name]) as answer:
            ready[name].set()
            async for event in read_events(answer):
                seen[name].append(event)

    tasks = [asyncio.create_task(listen(name)) for name in seen]
    await asyncio.gather(*(event.wait() for event in ready.values()))
    started = await chat(http, SECRET, headers=keys["ada"])
    await chat(http, "Ahoy!", headers=keys["bob"])
    await asyncio.sleep(0.2)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert "".join(event.get("text", "") for event in seen["ada"] if event["type"] == "agent_delta")
    assert {event["turn"] for event in seen["ada"]} == {started["turn"]}
    assert started["turn"] not in {event["turn"] for event in seen["bob"]}
    assert seen["app"] == []
    of_admin = [event for event in seen["admin"] if event.get("turn") == started["turn"]]
    assert of_admin
    assert not any(event.get("text") for event in of_admin)


async def test_what_is_the_operators_needs_an_admin_key(world: World) -> None:
    for method, path, body in (
        ("GET", "/api/keys", None),
        ("POST", "/api/keys", {"name": "mine", "admin": True}),
        ("DELETE", "/api/keys/x", None),
        ("PUT", "/api/settings", {"country": None, "language": None, "theme": "dark"}),
        ("POST", "/api/plan", {"team": "coaching"}),
        ("GET", "/api/plan/needs/coaching", None),
        ("POST", "/api/plan/start", {"plan": "p1"}),
        ("POST", "/api/models/pull", {"model": "smollm2-135m"}),
        ("DELETE", "/api/models/smollm2-135m", None),
        ("POST", "/api/agents/slug/promote", {"version": 1}),
        ("POST", "/api/agents/slug/rollback", None),
        ("DELETE", "/api/agents/slug", None),
    ):
        for who in ("ada", "app"):
            answer = await world.http.request(method, path, json=body, headers=world.keys[who])
            assert (answer.status_code, answer.json()["error"]["type"]) == (403, "admin_only"), (method, path)


async def test_an_administrator_can_not_allow_another_what_they_may_not_read(world: World) -> None:
    body = {"name": "spy", "admin": True, "reads_users": ["ada"]}
    assert (await world.http.post("/api/keys", json=body, headers=world.keys["admin"])).status_code == 403
    made = await world.http.post("/api/keys", json=body, headers=world.keys["trusted"])
    assert made.status_code == 201
    assert made.json()["about"]["scopes"] == ["admin", "reads-user:ada"]


async def test_what_was_erased_comes_back_nowhere(world: World, store: Store) -> None:
    http, headers = world.http, world.keys["ada"]
    body = {"confirm": "somebody"}
    refused = await http.request("DELETE", "/api/blackboard/duo/ada", json=body, headers=headers)
    assert (refused.status_code, refused.json()["error"]["type"]) == (409, "not_confirmed")
    place = f"{world.panel.hub.boot}-0"
    done = await http.request("DELETE", "/api/blackboard/duo/ada", json={"confirm": "ada"}, headers=headers)
    assert done.json()["erased"]["turns"] == 1
    assert store.teams_of_user("ada") == ["coaching"]
    assert (await http.get(f"/api/turns/{world.turn}", headers=headers)).status_code == 404
    assert (await http.get(f"/v1/events?turn={world.turn}", headers=headers)).status_code == 404
    assert (await http.get("/api/blackboard/duo/ada", headers=headers)).status_code == 404
    started = await chat(http, "Anew.", headers=headers)
    again = await events(http, is_type("turn_ended"), headers={**headers, "last-event-id": place})
    assert {event["turn"] for event in again} == {started["turn"]}


async def test_a_commitment_is_settled_by_its_own_person(world: World, store: Store) -> None:
    session = store.sessions.start("coaching", "ada", None, system_clock())
    turn = store.turns.begin_turn(session, at=system_clock())
    message = store.messages.append_message(session, "person", "I will walk.", turn.id, system_clock())
    change = CommitmentChange(what="walk", p=0.5, evidence=message.id)
    store.commitments.apply("coaching", "ada", [change], message=message.id, at=system_clock())
    url = "/api/blackboard/coaching/ada/commitments/k1/outcome"
    assert (await world.http.post(url, json={"outcome": "done"}, headers=world.keys["bob"])).status_code == 403
    done = await world.http.post(url, json={"outcome": "done"}, headers=world.keys["ada"])
    assert done.json()["outcome"] == "kept"
    missing = await world.http.post(url.replace("k1", "k9"), json={"outcome": "done"}, headers=world.keys["ada"])
    assert missing.status_code == 404
