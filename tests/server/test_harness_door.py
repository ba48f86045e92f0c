"""The socket that agents' programs are given, and a server whose teams are run by programs."""

from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest
from tests.runtime.harness.place import fake, team_of
from tests.runtime.harness.test_program_agents import scripted

from repertory.engines.connect import connect
from repertory.home import locate_home
from repertory.runtime.harness.place import ProgramHarness
from repertory.runtime.harness.settings import HarnessSettings
from repertory.runtime.rules import TeamRules
from repertory.server.casting import ServedTeam, StandingEngine
from repertory.server.harness_door import opened_harness
from repertory.server.late_harness import LateHarness
from repertory.server.standing_engines import StandingEngines
from repertory.serving.access import Access
from repertory.serving.api_keys import KeyRing
from repertory.serving.gateway.gateway import Gateway
from repertory.serving.gateway.harness_runs import HarnessRuns, RunTerms
from repertory.serving.gateway.upstream import Address
from repertory.serving.gateway.wire_errors import GatewayError
from repertory.serving.host_check import HostCheck
from repertory.storage.store import Store


async def test_the_agents_of_a_served_team_are_run_by_programs_on_the_servers_own_gateway() -> None:
    async with scripted() as engine:
        connected = await connect(engine.url, kind=engine.kind)
        door = LateHarness()
        served = ServedTeam(team_of(fake("answer")), TeamRules())
        with Store.open() as store:
            standing = StandingEngines(
                [StandingEngine("one", connected, Address(engine.url))], [served], store, harness=door
            )
            # A server with keys: the programs need none but their token.
            access = Access(HostCheck(), KeyRing(store.keys.all))
            gateway = Gateway(standing.upstreams(), access=access)
            runner = await standing.runner_of("pair")
            closed = await runner.run("Hello.", user="ada")
            async with opened_harness(gateway, locate_home()) as door.inner:
                result = await runner.run("Hello.", user="ada")
        counted = gateway.metrics.render().decode()
        await gateway.aclose()
        await connected.aclose()
    assert result.status == "complete", result.reason
    assert result.sections["mood"].value == {"mood": "glad"}
    assert "pair/reader" in counted
    assert closed.status == "partial"
    assert "no place for programs" in (closed.reason or "")


def client_of(socket: Path, token: str | None) -> httpx2.AsyncClient:
    headers = {} if token is None else {"x-api-key": token}
    transport = httpx2.AsyncHTTPTransport(uds=str(socket))
    return httpx2.AsyncClient(transport=transport, base_url="http://gateway", headers=headers)


@pytest.mark.parametrize("token", [None, "run_" + "x" * 43, ""])
async def test_without_a_runs_token_nothing_is_told(token: str | None) -> None:
    gateway = Gateway([], access=Access(HostCheck(), None))
    async with opened_harness(gateway, locate_home()) as harness, client_of(socket_of(harness), token) as client:
        for path in ("/v1/models", "/v1/messages", "/v1/chat/completions", "/metrics", "/openapi.json"):
            assert (await client.get(path)).status_code == 401
            assert (await client.post(path, json={"model": "m"})).status_code == 401
    assert not socket_of(harness).exists()


async def test_a_token_is_good_for_its_own_call_and_until_its_end() -> None:
    async with scripted() as engine:
        connected = await connect(engine.url, kind=engine.kind)
        standing = StandingEngine("one", connected, Address(engine.url))
        with Store.open() as store:
            engines = StandingEngines([standing], [ServedTeam(team_of(HarnessSettings()), TeamRules())], store)
            gateway = Gateway(engines.upstreams(), access=Access(HostCheck(), None))
            async with opened_harness(gateway, locate_home()) as harness:
                runs = harness.place.runs
                token, run = runs.open(terms())
                async with client_of(socket_of(harness), token) as client:
                    body = {"model": "pair/clerk", "messages": [{"role": "user", "content": "Anything"}]}
                    answer = await client.post("/v1/chat/completions", json={**body, "priority": -5, "user": "eve"})
                    choice = answer.json()["choices"][0]
                    assert (choice["message"]["content"], choice["finish_reason"]) == ('{"mood": "glad', "length")
                    assert [model["id"] for model in (await client.get("/v1/models")).json()["data"]] == ["reader"]
                    assert (await client.get("/metrics")).status_code == 404
                    assert (await client.post("/v1/embeddings", json=body)).status_code == 404
                    assert (await client.post("/v1/chat/completions", content=b"{")).status_code == 400
                    await runs.close(token)
                    assert (await client.post("/v1/chat/completions", json=body)).status_code == 401
        await gateway.aclose()
        await connected.aclose()
    assert (run.requests, run.finish) == (1, "length")
    assert engine.requests[0].fields["max_tokens"] == 7
    assert engine.requests[0].messages[-1]["content"] == "# Your role: reader"


def terms() -> RunTerms:
    return RunTerms(
        team="pair",
        agent="reader",
        turn="t1",
        user="ada",
        instance="one",
        priority=3,
        messages=(("user", "# Your role: reader"),),
        asked="# Your role: reader",
        system="",
        members={"max_tokens": 7},
    )


def socket_of(harness: ProgramHarness) -> Path:
    return harness.place.socket


async def test_a_run_holds_so_many_requests_at_once_and_none_when_it_is_over() -> None:
    run = HarnessRuns().open(terms())[1]
    with ExitStack() as stack:
        for _ in range(16):
            stack.enter_context(run.serving(lambda _: None))
        with pytest.raises(GatewayError, match="16 requests at once"), run.serving(lambda _: None):
            pass
    with run.serving(lambda _: None):
        pass
    await run.end()
    with pytest.raises(GatewayError, match="is over"), run.serving(lambda _: None):
        pass
