"""What the operator sees and does: the load, turns, teams, keys, settings, models, devices and plans."""

import asyncio
import hashlib
import json
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.server.panel.conftest import MakePanel, serving
from tests.server.panel.duo import FULL, chat, events, is_type

from repertory.errors import ModelStoreError
from repertory.runtime.schedule import derive_schedule
from repertory.runtime.team_document import team_document
from repertory.runtime.trace import read_trace
from repertory.server.panel import plan_desk
from repertory.server.panel.panel import Panel
from repertory.serving.instances.records import WantedInstances
from repertory.storage.store import Store
from repertory.teams import find_team
from repertory.testing.scripted_model import ScriptedModel


async def test_the_overview_shows_who_is_at_work(http: httpx2.AsyncClient, model: ScriptedModel) -> None:
    model.hold["quick"] = asyncio.Event()
    started = (await http.post("/api/chat/duo", json={"message": "Hi!"})).json()
    told = (await http.get("/api/overview")).json()
    states = {(agent["agent"], agent["state"], agent["instance"]) for agent in told["working"]}
    assert states == {("quick", "reading", "one"), ("closer", "waiting", None)}
    assert {agent["turn"] for agent in told["working"]} == {started["turn"]}
    (instance,) = told["instances"]
    assert (instance["id"], instance["model"], instance["state"], instance["slots"]) == ("one", "scripted", "ready", 8)
    assert {"duo/quick", "coaching/shadow"} <= set(instance["agents"])
    assert instance["first_token_s"] is instance["decode_tok_s"] is instance["measured_gib"] is None
    model.hold["quick"].set()
    await events(http, is_type("turn_ended"), params={"turn": started["turn"]})
    after = (await http.get("/api/overview")).json()
    assert after["working"] == []
    assert after["instances"][0]["first_token_s"] > 0
    assert after["instances"][0]["cache_hit_share"] == 0
    assert after["totals"] | {"prompt_tokens": 0, "output_tokens": 0} == {
        "turns_running": 0, "agents_working": 0, "agents_waiting": 0, "turns_finished": 1, "prompt_tokens": 0,
        "cached_tokens": 0, "output_tokens": 0, "requests_running": 0, "requests_waiting": 0,
    }  # fmt: skip
    assert after["totals"]["output_tokens"] == 10


async def test_turns_page_by_page_and_one_as_its_trace(http: httpx2.AsyncClient, store: Store) -> None:
    made = [(await chat(http))["turn"] for _ in range(3)]
    first = (await http.get("/api/turns", params={"limit": 2, "team": "duo"})).json()
    assert [turn["id"] for turn in first["turns"]] == made[:0:-1]
    rest = (await http.get("/api/turns", params={"limit": 2, "before": first["before"]})).json()
    assert ([turn["id"] for turn in rest["turns"]], rest["before"]) == (made[:1], None)
    session = first["turns"][0]["session"]
    assert len((await http.get("/api/turns", params={"session": session})).json()["turns"]) == 1
    detail = (await http.get(f"/api/turns/{made[0]}")).json()
    turn = store.turns.get(made[0])
    assert turn is not None
    trace: dict[str, Any] = json.loads(json.dumps(read_trace(store, turn).document()))
    for name in ("agents", "prefix", "tokens", "timing", "first_reply_s", "reply_s", "claims", "code_sections", "user"):
        assert detail[name] == trace[name], name
    assert [event["type"] for event in detail["events"]] == [event["type"] for event in trace["events"]]
    assert (detail["reply"], detail["withheld"], detail["result"]["status"]) == (FULL, False, "complete")
    assert [message["role"] for message in detail["messages"]] == ["person", "team"]


async def test_teams_as_the_command_line_tells_them(http: httpx2.AsyncClient) -> None:
    assert [team["team"] for team in (await http.get("/api/teams")).json()["teams"]] == ["duo", "coaching"]
    team = (await http.get("/api/teams/coaching")).json()
    found, rules = find_team("coaching")
    told = team_document(found, derive_schedule(found, rules.code_sections), rules.code_sections)
    assert team == json.loads(json.dumps(told))
    assert team["agents"]["synth"]["reads"]["shadow"] == {"mode": "fresh", "within_s": None, "on_missing": "fail"}
    assert team["schedule"]["critical_path"][-1] == "synth"
    assert (await http.get("/api/teams/nobody")).status_code == 404


async def test_keys_are_made_shown_once_and_revoked(http: httpx2.AsyncClient) -> None:
    body = {"name": "app", "teams": ["duo"], "user": "ada", "days": 3, "requests_per_minute": 5}
    made = (await http.post("/api/keys", json=body)).json()
    assert made["key"].startswith(f"rep_{made['about']['id']}_")
    assert (made["about"]["scopes"], made["about"]["state"]) == (["team:duo"], "in use")
    again = await http.post("/api/keys", json=body)
    assert (again.status_code, again.json()["error"]["type"]) == (409, "name_taken")
    listed = await http.get("/api/keys")
    assert made["key"] not in listed.text
    assert "digest" not in listed.text
    assert (await http.delete(f"/api/keys/{made['about']['id']}")).json()["state"] == "revoked"
    assert (await http.delete("/api/keys/app")).status_code == 404
    assert (await http.post("/api/keys", json={"name": "all"})).json()["about"]["scopes"] == ["*"]


async def test_settings_are_kept(http: httpx2.AsyncClient, make_panel: MakePanel) -> None:
    wanted = {"country": "DE", "language": "de-AT", "theme": "dark"}
    assert (await http.put("/api/settings", json=wanted)).json() == wanted
    assert make_panel().settings.read().model_dump() == wanted
    for wrong in ({**wanted, "country": "Germany"}, {**wanted, "theme": "pink"}, {"theme": "dark"}):
        assert (await http.put("/api/settings", json=wrong)).status_code == 422
    assert (await http.get("/api/settings")).json() == wanted


async def test_models_are_listed_pulled_and_removed(
    http: httpx2.AsyncClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = (await http.get("/api/models")).json()
    known = next(file for file in listed["files"] if file["name"] == "smollm2-135m")
    assert known["state"] == "available"
    assert known["bytes"] > 10**7
    assert any(model["planned"] and model["checkpoints"] for model in listed["catalog"])
    for name in ("/etc/passwd", "../x.gguf", "no-such-model", "~/model.gguf"):
        assert (await http.post("/api/models/pull", json={"model": name})).status_code in {404, 422}, name

    def refuse(*_: object, **__: object) -> None:
        raise ModelStoreError("nobody answers")

    monkeypatch.setattr("repertory.engines.model_store.ModelStore.pull", refuse)
    async with http.stream("GET", "/v1/events") as answer:
        assert (await http.post("/api/models/pull", json={"model": "smollm2-135m"})).status_code == 202
        async for line in answer.aiter_lines():
            if line.startswith("data: ") and "pull_progress" in line:
                told = json.loads(line[6:])
                assert (told["model"], told["state"], told["message"]) == ("smollm2-135m", "failed", "nobody answers")
                break
    assert (await http.delete("/api/models/smollm2-135m")).status_code == 404
    assert (await http.delete("/api/models/no-such-model")).status_code == 404


async def test_a_pull_tells_how_far_it_is_and_the_file_is_there(
    make_panel: MakePanel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, make_gguf: Any
) -> None:
    data = make_gguf(padding=100)
    file = tmp_path / "tiny.gguf"
    file.write_bytes(data)
    panel = make_panel()
    panel.models.pull(str(file), as_name="tiny")
    async with serving(panel) as http:
        files = (await http.get("/api/models")).json()["files"]
        (tiny,) = [one for one in files if one["name"] == "tiny"]
        assert (tiny["state"], tiny["bytes"]) == ("present", len(data))
        assert tiny["sha256"] == hashlib.sha256(data).hexdigest()
        assert (await http.delete("/api/models/tiny")).json() == {"removed": "tiny", "freed_bytes": len(data)}
        assert "tiny" not in {one["name"] for one in (await http.get("/api/models")).json()["files"]}


async def test_devices(http: httpx2.AsyncClient) -> None:
    told = (await http.get("/api/devices")).json()
    assert told["detected"][0]["memory_gib"] > 0
    assert {"rtx4090", "2xrtx4090"} & {profile["name"] for profile in told["profiles"]}


def as_it_is(wanted: WantedInstances, *_: object) -> WantedInstances:
    return wanted


async def test_a_plan_is_made_and_started(make_panel: MakePanel, monkeypatch: pytest.MonkeyPatch) -> None:
    panel = make_panel()
    async with serving(panel) as http:
        await plan_and_start(http, panel, monkeypatch)


async def plan_and_start(http: httpx2.AsyncClient, panel: Panel, monkeypatch: pytest.MonkeyPatch) -> None:
    needs = (await http.get("/api/plan/needs/coaching")).json()
    assert "ifeval" in needs["benchmarks"]
    coach = needs["needs"]["coach"] | {"importance": 3.0}
    body = {"team": "coaching", "devices": "rtx4090", "limit_s": 5, "needs": {"coach": coach}}
    answer = await http.post("/api/plan", json=body, timeout=100)
    plan = answer.json()
    assert answer.status_code == 200, plan
    # The worker's document is that of `repertory plan --json`: nothing of it is left out.
    (kept,) = panel.plans._plans.values()
    assert {name: value for name, value in plan.items() if name != "plan"} == kept
    assert plan["status"] in {"optimal", "feasible"}
    assert set(plan["agents"]) == {"coach", "shadow", "persona", "plasticity", "stability", "synth"}
    assert all(instance["memory"]["total_gib"] <= 24 for instance in plan["instances"])
    started: list[WantedInstances] = []

    async def bring_up(wanted: WantedInstances) -> None:
        started.append(wanted)

    monkeypatch.setattr(plan_desk, "bring_up", bring_up)
    monkeypatch.setattr(plan_desk, "resolve_instances", as_it_is)
    async with http.stream("GET", "/v1/events") as stream:
        answer = await http.post("/api/plan/start", json={"plan": plan["plan"]})
        assert (answer.status_code, answer.json()["serves_at_once"]) == (202, False)
        async for line in stream.aiter_lines():
            if line.startswith("data: ") and "plan_start_ended" in line:
                assert json.loads(line[6:])["started"]
                break
    assert [spec.id for spec in started[0].instances] == answer.json()["instances"]


async def test_plans_that_can_not_be(http: httpx2.AsyncClient) -> None:
    for body, status in (
        ({"team": "nobody"}, 404),
        ({"team": "duo"}, 400),
        ({"team": "coaching", "devices": "../secret.yaml"}, 400),
        ({"team": "coaching", "devices": "rtx4090", "min_instances": 7}, 400),
        ({"team": "coaching", "limit_s": 1e9}, 422),
    ):
        answer = await http.post("/api/plan", json=body, timeout=100)
        assert answer.status_code == status, answer.text
    assert (await http.post("/api/plan/start", json={"plan": "p1"})).status_code == 404


async def test_a_planner_that_hangs_is_ended(http: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_desk, "_BESIDE_SOLVER_S", -0.4)
    answer = await http.post("/api/plan", json={"team": "coaching", "devices": "rtx4090", "limit_s": 0.5})
    assert (answer.status_code, answer.json()["error"]["type"]) == (504, "plan_too_slow")
