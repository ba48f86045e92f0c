"""The panel on the embedded engine with a real model: a chat through `/api`, its words as events, and what is shown."""

import asyncio

import pytest
from tests.server.panel.conftest import serving
from tests.server.panel.duo import DUO, events, is_type

from repertory.engines.connect import connect
from repertory.engines.embedded import RunningEngine
from repertory.engines.profile import EngineKind
from repertory.registry.calls import AgentCalls
from repertory.registry.registry import Registry
from repertory.registry.runtime import AgentRuntime
from repertory.runtime.rules import TeamRules
from repertory.server.agents.opening import open_agents
from repertory.server.casting import ServedTeam, StandingEngine
from repertory.server.panel.panel import Panel
from repertory.server.standing_engines import StandingEngines
from repertory.server.turn_teams import RunnerTeams
from repertory.serving.access import Access
from repertory.serving.gateway.gateway import Gateway
from repertory.serving.gateway.upstream import Address
from repertory.serving.host_check import HostCheck
from repertory.storage.store import Store

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]


async def test_a_chat_through_the_panel(embedded_engine: RunningEngine) -> None:
    engine = await connect(embedded_engine.url, api_key=embedded_engine.api_key, kind=EngineKind.LLAMACPP)
    served = ServedTeam(DUO, TeamRules())
    standing = StandingEngine("embedded", engine, Address(embedded_engine.url, embedded_engine.api_key))
    with Store.open() as store, AgentRuntime(Registry(store)) as runtime:
        engines = StandingEngines([standing], [served], store)
        talk = RunnerTeams(["duo"], engines.runner_of)
        gateway = Gateway(engines.upstreams(), access=Access(HostCheck(), None), teams=talk)
        panel = Panel(
            gateway=gateway,
            store=store,
            teams={"duo": served},
            talk=talk,
            engines=engines,
            registry=Registry(store),
            agents=open_agents(store, AgentCalls(runtime), engines.standing),
        )
        async with serving(panel, timeout=300) as http:
            sent = {"message": "Tell me in three sentences what the sea is."}
            started = (await http.post("/api/chat/duo", json=sent)).json()
            overview = (await http.get("/api/overview")).json()
            assert overview["totals"]["turns_running"] == 1
            found = await events(http, is_type("turn_ended"), params={"turn": started["turn"]})
            words = "".join(one["text"] for one in found if one["type"] == "agent_delta" and one["agent"] == "quick")
            replies = {one["which"]: one["text"] for one in found if one["type"] == "reply_ready"}
            assert words.split() == replies["first"].split()
            assert words.strip()
            deltas = [one for one in found if one["type"] == "agent_delta"]
            assert len(deltas) > 1
            detail = (await http.get(f"/api/turns/{started['turn']}")).json()
            assert detail["status"] in {"complete", "partial"}
            assert detail["first_reply"] == replies["first"]
            (instance,) = (await http.get("/api/overview")).json()["instances"]
            assert instance["slots"] == embedded_engine.slots
            assert instance["decode_tok_s"] > 0
            assert instance["prefill_tok_s"] > 0
            assert 0 < instance["first_token_s"] < 300
            # A second turn, which is cancelled while the engine works: its slot is free soon after.
            long = {"message": "Count from one to one thousand in words.", "session": started["session"]}
            second = (await http.post("/api/chat/duo", json=long)).json()
            await events(http, is_type("agent_delta"), params={"turn": second["turn"]})
            assert (await http.post(f"/api/turns/{second['turn']}/cancel")).json()["status"] == "failed"
            async with asyncio.timeout(20):
                while (await http.get("/api/overview")).json()["instances"][0]["running"]:  # noqa: ASYNC110 - another process
                    await asyncio.sleep(0.1)
    await engine.aclose()
