"""Deployed agents and builds through the panel, with a real registry and a real sandbox."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from tests.registry.packages import package
from tests.registry.temperature import temperature
from tests.server.panel.conftest import MakePanel, serving
from tests.server.panel.duo import events, is_type
from tests.teams.engineering.test_runner import ANSWERS, CONTRACT

from repertory.clock import parse_time
from repertory.errors import UsageError
from repertory.registry.documents import agent_document
from repertory.registry.registry import Registry
from repertory.server.panel import build_desk
from repertory.server.unfinished_turns import UnfinishedTurns
from repertory.storage.store import Store
from repertory.teams.engineering.build_result import BuildResult
from repertory.teams.engineering.runner import BuildRunner
from repertory.testing.scripted_model import ScriptedModel, agent_of


def as_times(document: dict[str, Any]) -> dict[str, Any]:
    """The document with its times read, which are written with `Z` and with `+00:00`."""
    rows = [{**row, "created_at": parse_time(row["created_at"])} for row in document["versions"]]
    return {**document, "created_at": parse_time(document["created_at"]), "versions": rows}


async def test_an_agent_is_seen_called_promoted_rolled_back_and_removed(http: httpx2.AsyncClient, store: Store) -> None:
    registry = Registry(store)
    first = registry.deploy(package()).version
    assert (await http.get("/api/agents")).json()["agents"][0]["live"] is None
    call = {"tool": "count", "args": {"text": "a b c"}}
    assert (await http.post("/api/agents/counter/call", json=call)).status_code == 409
    assert (await http.post("/api/agents/counter/promote", json={"version": 1})).json() == {
        "agent": "counter@1", "state": "live",
    }  # fmt: skip
    shown = (await http.get("/api/agents/counter")).json()
    assert (shown["agent"], shown["digest"], shown["state"]) == ("counter@1", first.digest, "live")
    assert "tools.py" in shown["files"]
    told = agent_document(registry.load(registry.resolve("counter")), registry.versions("counter"))
    assert as_times(shown) == as_times(json.loads(json.dumps(told)))
    source = (await http.get("/api/agents/counter/file", params={"path": "tools.py"})).json()["text"]
    assert "def count" in source
    for path in ("../../secret", "/etc/passwd", "nothing.py"):
        assert (await http.get("/api/agents/counter/file", params={"path": path})).status_code == 404
    done = (await http.post("/api/agents/counter/call", json=call)).json()
    assert (done["agent"], done["error"]) == ("counter@1", None)
    assert done["result"] is not None
    wrong = (await http.post("/api/agents/counter/call", json={"tool": "count", "args": {"text": 1}})).json()
    assert wrong["error"]["type"] == "InvalidArguments"
    assert (await http.post("/api/agents/counter/call", json={"tool": "nothing"})).status_code == 400
    nothing_before = await http.post("/api/agents/counter/rollback")
    assert nothing_before.json()["error"]["type"] == "nothing_to_roll_back"
    assert (await http.post("/api/agents/counter/promote", json={"version": 9})).status_code == 404
    history = (await http.get("/api/agents/counter/history")).json()["events"]
    assert [event["what"] for event in history] == ["deployed", "promoted"]
    assert (await http.delete("/api/agents/counter")).json() == {"removed": "counter", "versions": [1]}
    for path in ("/api/agents/counter", "/api/agents/Not%20One", "/api/agents/counter?version=2"):
        assert (await http.get(path)).status_code == 404


async def test_a_key_sees_and_calls_the_agents_that_it_may_use(
    make_panel: MakePanel, make_key: Callable[..., str], store: Store
) -> None:
    registry = Registry(store)
    registry.deploy(package())
    registry.promote("counter", 1)
    may, may_not = make_key("may", "deployed:agent:counter"), make_key("may not", "team:duo")
    call = {"tool": "count", "args": {"text": "a b"}}
    async with serving(make_panel(keys=True)) as http:
        headers = {"authorization": f"Bearer {may}"}
        assert len((await http.get("/api/agents", headers=headers)).json()["agents"]) == 1
        assert (await http.post("/api/agents/counter/call", json=call, headers=headers)).status_code == 200
        headers = {"authorization": f"Bearer {may_not}"}
        assert (await http.get("/api/agents", headers=headers)).json()["agents"] == []
        for path in ("", "/file?path=tools.py", "/history"):
            assert (await http.get(f"/api/agents/counter{path}", headers=headers)).status_code == 404
        assert (await http.post("/api/agents/counter/call", json=call, headers=headers)).status_code == 404
        assert (await http.get("/api/builds", headers=headers)).status_code == 403


async def test_a_build_from_its_request_to_a_called_agent(http: httpx2.AsyncClient, model: ScriptedModel) -> None:
    model.reply = lambda request: ANSWERS[agent_of(request)]
    assert (await http.get("/api/builds")).json()["available"]
    body = {"request": "Double a number.", "contract": CONTRACT, "user": "ada"}
    answer = await http.post("/api/builds", json=body)
    assert answer.status_code == 202, answer.text
    build = answer.json()["build"]
    found = await events(http, is_type("turn_ended"), params={"build": build})
    assert {"builder", "tester"} <= {event["agent"] for event in found if event["type"] == "agent_finished"}
    done = (await http.get(f"/api/builds/{build}")).json()
    assert (done["status"], done["user"]) == ("built", "ada"), done["why"]
    assert done["tests"]["passed"] == done["tests"]["written"] > 0
    assert {"code", "specification"} <= set(done["sections"])
    assert done["request"].startswith("Double a number.")
    assert [step["agent"] for step in done["steps"]]
    name = done["agent"].split("@")[0]
    called = await http.post(f"/api/agents/{name}/call", json={"tool": "double", "args": {"n": 21}})
    assert called.json()["result"] == 42
    listed = (await http.get("/api/builds")).json()
    assert [(one["build"], one["status"], one["agent"]) for one in listed["builds"]] == [
        (build, "built", done["agent"])
    ]
    assert (await http.get(f"/api/turns/{build}")).json()["result"]["status"] == "built"


async def test_what_was_asked_for_is_read_by_who_asked_and_administrators_alone(
    make_panel: MakePanel, make_key: Callable[..., str], model: ScriptedModel, store: Store
) -> None:
    model.reply = lambda request: ANSWERS[agent_of(request)]
    keys = {
        name: {"authorization": f"Bearer {key}"}
        for name, key in (
            ("ada", make_key("ada", user="ada")),
            ("bob", make_key("bob", user="bob")),
            ("admin", make_key("admin", "admin")),
        )
    }
    async with serving(make_panel(keys=True)) as http:
        body = {"request": "Double the fee of my secret lighthouse.", "contract": CONTRACT}
        build = (await http.post("/api/builds", json=body, headers=keys["ada"])).json()["build"]
        await events(http, is_type("turn_ended"), params={"build": build}, headers=keys["ada"])
        made = (await http.get(f"/api/builds/{build}", headers=keys["ada"])).json()["agent"]
        path = f"/api/agents/{made.split('@')[0]}"
        file = f"{path}/file?path=evidence.json"
        for who in ("ada", "admin"):
            detail = (await http.get(path, headers=keys[who])).json()
            assert "lighthouse" in detail["evidence"]["request"], who
            assert "evidence.json" in detail["files"]
            assert "lighthouse" in (await http.get(file, headers=keys[who])).json()["text"]
        detail = (await http.get(path, headers=keys["bob"])).json()
        assert (detail["evidence"], detail["tools"][0]["name"]) == (None, "double")
        assert "tools.py" in detail["files"]
        assert "evidence.json" not in detail["files"]
        for hidden in ("evidence.json", "./evidence.json", "EVIDENCE.json"):
            answer = await http.get(f"{path}/file", params={"path": hidden}, headers=keys["bob"])
            assert answer.status_code == 404, hidden
        told = (await http.get(f"{path}/history", headers=keys["bob"])).json()["events"]
        assert [(event["what"], event["detail"]) for event in told][:1] == [("deployed", {})]
        history = (await http.get(f"{path}/history", headers=keys["admin"])).json()["events"]
        assert history[0]["detail"]["build"] == build
        store.erase("ada")
        assert (await http.get(path, headers=keys["ada"])).json()["evidence"] is None


async def test_one_build_at_a_time_and_a_cancelled_one_is_over(
    http: httpx2.AsyncClient, model: ScriptedModel, store: Store
) -> None:
    model.hold["builder"] = asyncio.Event()
    model.reply = lambda request: ANSWERS[agent_of(request)]
    build = (await http.post("/api/builds", json={"request": "Double.", "contract": CONTRACT})).json()["build"]
    second = await http.post("/api/builds", json={"request": "Double.", "contract": CONTRACT})
    assert (second.status_code, second.json()["error"]["type"]) == (409, "build_runs")
    assert (await http.get("/api/builds")).json()["running"] == build
    assert (await http.get(f"/api/builds/{build}")).json()["cancellable"]
    async with http.stream("GET", "/v1/events", params={"build": build}) as stream:
        answer = await http.post(f"/api/builds/{build}/cancel")
        assert (answer.status_code, answer.json()["status"]) == (202, "not_built")
        async for line in stream.aiter_lines():
            if line.startswith("data: ") and "build_ended" in line:
                assert json.loads(line[6:])["status"] == "not_built"
                break
    assert store.taking_up.resumable("engineering", "me") == []
    assert (await http.post(f"/api/builds/{build}/cancel")).status_code == 409
    model.hold["builder"].set()
    again = await http.post("/api/builds", json={"request": "Double.", "contract": CONTRACT})
    assert again.status_code == 202


async def test_a_contract_that_promises_nothing_is_refused(http: httpx2.AsyncClient) -> None:
    answer = await http.post("/api/builds", json={"request": "Double.", "contract": "whatever"})
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "usage")
    assert (await http.get("/api/builds")).json()["running"] is None


async def test_a_build_is_cut_off_when_the_server_stops_and_can_be_resumed(
    make_panel: MakePanel, model: ScriptedModel, store: Store
) -> None:
    model.hold["builder"] = asyncio.Event()
    model.reply = lambda request: ANSWERS[agent_of(request)]
    async with serving(make_panel()) as http:
        body = {"request": "Double.", "contract": CONTRACT}
        build = (await http.post("/api/builds", json=body)).json()["build"]
        await events(http, lambda event: event.get("agent") == "builder", params={"build": build})
    assert [turn.id for turn in store.taking_up.resumable("engineering", "me")] == [build]
    # The next server goes on with it by itself.
    asked = model.started.count("tester")
    model.hold["builder"].set()
    panel = make_panel()
    await UnfinishedTurns(store, panel.talk, panel.builds, lambda: False).complete()
    async with serving(panel) as http:
        done = (await http.get(f"/api/builds/{build}")).json()
        assert (done["status"], done["agent"] is not None) == ("built", True)
    assert model.started.count("tester") == asked  # what was answered is not asked for again


async def test_a_build_here_can_read_what_it_improves(
    make_panel: MakePanel, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An improvement that was cut off asks for it by its label."""
    evidence = {"request": "Double a number.", "built_by": "a test", "contract": {"text": CONTRACT}}
    registry = Registry(store)
    version = registry.deploy({**temperature(), "evidence.json": json.dumps(evidence).encode()}).version
    registry.promote(version.agent, version.version)
    made: list[BuildRunner] = []

    class Runner(BuildRunner):
        async def run(self, request: str, contract: str | None = None, **_: object) -> BuildResult:
            made.append(self)
            raise UsageError("enough")

    monkeypatch.setattr(build_desk, "BuildRunner", Runner)
    with pytest.raises(UsageError, match="enough"):
        await make_panel().builds.begin("Better.", None, user="me", budget_minutes=1)
    assert made[0].improvement_of is not None
    found = made[0].improvement_of(version.label)
    assert (found.label, found.contract) == (version.label, CONTRACT.strip())
    with pytest.raises(UsageError, match="no temperature@9"):
        made[0].improvement_of("temperature@9")
