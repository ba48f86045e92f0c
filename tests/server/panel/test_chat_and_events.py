"""Writing to a team, its events as they come, and what a broken connection gets again."""

import asyncio

import httpx2
from tests.server.panel.conftest import MakePanel, serving
from tests.server.panel.duo import ANSWERS, FIRST, FULL, chat, events, is_type, read_events

from repertory.storage.store import Store
from repertory.testing.scripted_model import ScriptedModel


async def test_a_turn_comes_as_events_from_its_beginning(http: httpx2.AsyncClient, store: Store) -> None:
    started = (await http.post("/api/chat/duo", json={"message": "Hi!", "user": "ada"})).json()
    found = await events(http, is_type("turn_ended"), params={"turn": started["turn"]})
    kinds = [event["type"] for event in found]
    assert kinds[0] == "turn_started"
    assert kinds[-2:] == ["turn_finished", "turn_ended"]
    turn = [event for event in found if "seq" in event]
    assert [event["seq"] for event in turn] == sorted({event["seq"] for event in turn})
    words = "".join(event["text"] for event in found if event["type"] == "agent_delta" and event["agent"] == "quick")
    assert words == FIRST
    assert [event["text"] for event in found if event["type"] == "reply_ready"] == [FIRST, FULL]
    assert found[-1]["status"] == "complete"
    assert store.teams_of_user("ada") == ["duo"]
    assert started["user"] == "ada"


async def test_a_connection_goes_on_where_it_was(http: httpx2.AsyncClient, model: ScriptedModel) -> None:
    model.hold["closer"] = asyncio.Event()
    started = (await http.post("/api/chat/duo", json={"message": "Hi!"})).json()
    before = await events(http, is_type("reply_ready"), params={"turn": started["turn"]})
    model.hold["closer"].set()
    after = await events(
        http, is_type("turn_ended"), params={"turn": started["turn"]}, headers={"last-event-id": before[-1]["id"]}
    )
    seqs = [event["seq"] for event in before + after if "seq" in event]
    assert seqs == sorted(set(seqs))
    again = await events(http, is_type("turn_ended"), params={"turn": started["turn"]})
    assert [event["seq"] for event in again if "seq" in event] == seqs


async def test_events_outlive_the_server(make_panel: MakePanel) -> None:
    async with serving(make_panel()) as http:
        started = await chat(http)
        all_of_it = await events(http, is_type("turn_ended"), params={"turn": started["turn"]})
    middle = next(event for event in all_of_it if event["type"] == "section_written")
    async with serving(make_panel()) as http:
        again = await events(
            http, is_type("turn_ended"), params={"turn": started["turn"]}, headers={"last-event-id": middle["id"]}
        )
        assert again[0]["seq"] == middle["seq"] + 1
        assert [event["text"] for event in again if event["type"] == "reply_ready"][-1] == FULL
        told = await events(http, is_type("reset"), headers={"last-event-id": middle["id"]})
        assert told[0]["reason"] == "server_restarted"


async def test_a_wide_stream_gets_what_it_missed_or_is_told_to_fetch_again(
    make_panel: MakePanel, model: ScriptedModel
) -> None:
    panel = make_panel()
    async with serving(panel) as http:
        async with http.stream("GET", "/v1/events", params={"team": "duo"}) as answer:
            stream = read_events(answer)
            first = await chat(http)
            seen = [await anext(stream) for _ in range(3)]
        second = await chat(http)
        missed = await events(
            http,
            lambda event: event["type"] == "turn_ended" and event["turn"] == second["turn"],
            params={"team": "duo"},
            headers={"last-event-id": seen[-1]["id"]},
        )
        assert {event["turn"] for event in missed} == {first["turn"], second["turn"]}
        assert missed[0]["seq"] == seen[-1]["seq"] + 1
        ahead = f"{panel.hub.boot}-999999"
        assert (await events(http, is_type("reset"), headers={"last-event-id": ahead}))[0]["reason"] == "gap"


async def test_an_id_that_is_none_of_ours_is_no_place(http: httpx2.AsyncClient) -> None:
    started = await chat(http)
    for strange in ("", "1", "x-y", "a-1-b-c", "-1", "é-1", "a-" + "9" * 50):
        params = {"turn": started["turn"]}
        headers = {"last-event-id": strange.encode("latin-1")}
        found = await events(http, is_type("turn_ended"), params=params, headers=headers)  # pyright: ignore[reportArgumentType] - bytes go as they are
        assert found[0]["type"] == "turn_started", strange


async def test_the_same_key_is_carried_out_once(http: httpx2.AsyncClient, store: Store) -> None:
    headers = {"idempotency-key": "one"}
    body = {"message": "Hi!"}
    answers = await asyncio.gather(*(http.post("/api/chat/duo", json=body, headers=headers) for _ in range(5)))
    assert len({answer.json()["turn"] for answer in answers}) == 1
    other = await http.post("/api/chat/duo", json={"message": "Ho!"}, headers=headers)
    assert (other.status_code, other.json()["error"]["type"]) == (422, "idempotency_key_reused")
    await http.post("/api/chat/duo", json=body, headers={"idempotency-key": "two"})
    assert len(store.turns.turns("duo", "me")) == 2


async def test_a_turn_is_cancelled(http: httpx2.AsyncClient, model: ScriptedModel) -> None:
    model.hold["quick"] = asyncio.Event()
    started = (await http.post("/api/chat/duo", json={"message": "Hi!"})).json()
    detail = (await http.get(f"/api/turns/{started['turn']}")).json()
    assert (detail["status"], detail["cancellable"]) == ("running", True)
    answer = await http.post(f"/api/turns/{started['turn']}/cancel")
    assert (answer.status_code, answer.json()["status"]) == (202, "failed")
    found = await events(http, is_type("turn_ended"), params={"turn": started["turn"]})
    assert found[-1]["status"] == "failed"
    assert model.cancelled == ["quick"]
    again = await http.post(f"/api/turns/{started['turn']}/cancel")
    assert (again.status_code, again.json()["error"]["type"]) == (409, "not_running")


async def test_a_turn_of_the_gateway_is_seen_too(http: httpx2.AsyncClient) -> None:
    async with http.stream("GET", "/v1/events", params={"team": "duo"}) as answer:
        asked = {"model": "duo", "messages": [{"role": "user", "content": "Hi!"}], "user": "bob"}
        done = await http.post("/v1/chat/completions", json=asked)
        assert done.json()["choices"][0]["message"]["content"] == f"{FIRST}\n\n{FULL}"
        async for event in read_events(answer):
            if event["type"] == "turn_ended":
                assert event["turn"] == done.json()["repertory"]["turn"]
                break


async def test_a_turn_of_the_gateway_that_is_cancelled_is_told_to_its_client(
    http: httpx2.AsyncClient, model: ScriptedModel
) -> None:
    model.hold["quick"] = asyncio.Event()
    asked = {"model": "duo", "messages": [{"role": "user", "content": "Hi!"}]}
    async with http.stream("GET", "/v1/events", params={"team": "duo"}) as answer:
        waiting = asyncio.create_task(http.post("/v1/chat/completions", json=asked))
        first = await anext(read_events(answer))
    assert (await http.post(f"/api/turns/{first['turn']}/cancel")).status_code == 202
    told = await waiting
    assert (told.status_code, told.json()["error"]["code"]) == (409, "turn_cancelled")


async def test_messages_that_can_not_be_sent(http: httpx2.AsyncClient) -> None:
    for path, body, status, kind in (
        ("nobody", {"message": "Hi!"}, 404, "not_found"),
        ("engineering", {"message": "Hi!"}, 409, "team_builds"),
        ("duo", {"message": " \n "}, 422, "invalid_request"),
        ("duo", {"message": ""}, 422, "invalid_request"),
        ("duo", {"message": "Hi!", "colour": "red"}, 422, "invalid_request"),
        ("duo", {"message": "Hi!", "user": "a\u0000b"}, 400, "usage"),
    ):
        answer = await http.post(f"/api/chat/{path}", json=body)
        assert (answer.status_code, answer.json()["error"]["type"]) == (status, kind), body


async def test_the_engine_being_away_fails_the_turn_and_not_the_server(
    http: httpx2.AsyncClient, model: ScriptedModel
) -> None:
    model.reply = lambda _: ConnectionError("a mistake in the adapter")
    answer = await http.post("/api/chat/duo", json={"message": "Hi!"})
    assert answer.status_code == 202
    found = await events(http, is_type("turn_ended"), params={"turn": answer.json()["turn"]})
    assert found[-1]["status"] in {"failed", "interrupted"}
    model.reply = lambda _: ANSWERS["quick"]
    assert (await http.get("/api/overview")).json()["totals"]["turns_running"] == 0
