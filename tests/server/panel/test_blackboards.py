"""A person's own data through the panel."""

import httpx2
from tests.server.panel.duo import FIRST, FULL, chat

from repertory.clock import system_clock
from repertory.storage.records import CommitmentChange
from repertory.storage.store import Store


async def test_a_blackboard_its_history_and_its_export(http: httpx2.AsyncClient, store: Store) -> None:
    started = await chat(http, user="ada")
    board = (await http.get("/api/blackboard/duo/ada")).json()
    assert {name: section["value"] for name, section in board["sections"].items()} == {"hello": FIRST, "ending": FULL}
    assert board["sections"]["hello"]["turn"] == started["turn"]
    assert [session["id"] for session in board["sessions"]] == [started["session"]]
    assert board["calibration"]["n"] == 0
    await chat(http, user="ada", session=started["session"])
    history = (await http.get("/api/blackboard/duo/ada/history", params={"section": "hello"})).json()["versions"]
    assert [version["version"] for version in history] == [1, 2]
    assert [one["version"] for one in (await http.get("/api/blackboard/duo/ada/history?limit=1")).json()["versions"]]
    assert (await http.get("/api/blackboard/duo/ada/export")).json() == store.export("ada", "duo")
    assert (await http.get("/api/blackboard")).json()["blackboards"] == [{"team": "duo", "user": "ada"}]
    assert (await http.get("/api/blackboard/duo/nobody")).status_code == 404


async def test_a_person_acts_on_their_own_data(http: httpx2.AsyncClient, store: Store) -> None:
    now = system_clock()
    session = store.sessions.start("coaching", "ada", None, now)
    turn = store.turns.begin_turn(session, at=now)
    message = store.messages.append_message(session, "person", "I will walk by the lighthouse.", turn.id, now)
    change = CommitmentChange(what="walk", p=0.5, evidence=message.id)
    store.commitments.apply("coaching", "ada", [change], message=message.id, at=now)
    base = "/api/blackboard/coaching/ada"
    traits = (await http.post(f"{base}/questionnaire", json={"answers": [3] * 20})).json()["ocean"]
    assert set(traits) == {"openness", "conscientiousness", "extraversion", "agreeableness", "neuroticism"}
    assert traits["openness"]["source"] == "questionnaire"
    assert (await http.post(f"{base}/questionnaire", json={"answers": [3] * 19})).status_code == 422
    corrected = await http.post(f"{base}/corrections", json={"traits": {"openness": 71}, "facts": {"goal": "Rest."}})
    assert corrected.status_code == 200
    persona = (await http.get(base)).json()["sections"]["persona"]["value"]
    assert persona["ocean"]["openness"]["score"] == 71
    unknown = await http.post(f"{base}/corrections", json={"traits": {"bravery": 71}})
    assert (unknown.status_code, unknown.json()["error"]["type"]) == (400, "usage")
    settled = (await http.post(f"{base}/commitments/k1/outcome", json={"outcome": "not"})).json()
    assert settled["outcome"] == "missed"
    assert (await http.get(base)).json()["calibration"]["n"] == 1
    meant = (await http.post(f"{base}/forget", json={"what": "LIGHTHOUSE"})).json()
    assert (list(meant["messages"]), meant["forgotten"]) == ([message.id], False)
    assert "lighthouse" in str(store.export("ada"))
    assert (await http.post(f"{base}/forget", json={"what": "k1", "confirm": True})).json()["forgotten"]
    assert "lighthouse" not in str(store.export("ada"))
    assert (await http.post(f"{base}/forget", json={"what": "k1", "confirm": True})).status_code == 404


async def test_what_only_the_coaching_team_has(http: httpx2.AsyncClient) -> None:
    await chat(http, user="ada")
    assert (await http.post("/api/blackboard/duo/ada/corrections", json={})).status_code == 404
    forgotten = await http.post("/api/blackboard/duo/ada/forget", json={"what": "m1", "confirm": True})
    assert forgotten.json()["forgotten"]
    listed = (await http.get("/api/questionnaire")).json()
    assert len(listed["items"]) == 20
    assert len(listed["answers"]) == 5


async def test_erasing_ends_the_turns_that_run(http: httpx2.AsyncClient, store: Store) -> None:
    await http.post("/api/chat/duo", json={"message": "Hi!", "user": "ada"})
    done = await http.request("DELETE", "/api/blackboard/duo/ada", json={"confirm": "ada"})
    assert done.status_code == 200
    assert store.teams_of_user("ada") == []
    assert (await http.get("/api/overview")).json()["totals"]["turns_running"] == 0


async def test_why_tells_what_a_trait_rests_on(http: httpx2.AsyncClient) -> None:
    await http.post("/api/blackboard/coaching/ada/questionnaire", json={"answers": [4] * 20})
    found = (await http.get("/api/blackboard/coaching/ada/why", params={"what": "openness"})).json()
    assert found["reasons"][0]["by"] == "person"
    assert (await http.get("/api/blackboard/coaching/bob/why", params={"what": "openness"})).status_code == 404
