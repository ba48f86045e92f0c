"""A server with its panel that listens on a real port, on a scripted model."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx2
import pytest
from tests.server.panel.duo import ANSWERS, DUO

from repertory.registry.calls import AgentCalls
from repertory.registry.registry import Registry
from repertory.registry.runtime import AgentRuntime
from repertory.runtime.rules import TeamRules
from repertory.server.agents.opening import open_agents
from repertory.server.app import create_app
from repertory.server.casting import ServedTeam, StandingEngine
from repertory.server.listen import GatewayServer, listening_socket
from repertory.server.panel.mount import mount_panel
from repertory.server.panel.panel import Panel
from repertory.server.standing_engines import StandingEngines
from repertory.server.turn_teams import RunnerTeams
from repertory.serving.access import Access
from repertory.serving.api_keys import KeyRing, new_key
from repertory.serving.gateway.gateway import Gateway
from repertory.serving.gateway.upstream import Address
from repertory.serving.host_check import HostCheck
from repertory.storage.store import Store
from repertory.teams import find_team
from repertory.testing.scripted_model import ScriptedModel, agent_of

MakePanel = Callable[..., Panel]
Serve = Callable[..., AbstractAsyncContextManager[httpx2.AsyncClient]]


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open() as opened:
        yield opened


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel(reply=lambda request: ANSWERS.get(agent_of(request), "Not now."))


@pytest.fixture
def make_panel(store: Store, model: ScriptedModel) -> Iterator[MakePanel]:
    """Makes the panel of a server with the teams `duo` and `coaching`; with `keys` it asks for them."""
    registry = Registry(store)
    with AgentRuntime(registry) as runtime:

        def make(*, keys: bool = False) -> Panel:
            teams = [ServedTeam(DUO, TeamRules()), ServedTeam(*find_team("coaching"))]
            engines = StandingEngines([StandingEngine("one", model, Address("http://127.0.0.1:9"))], teams, store)
            talk = RunnerTeams([team.name for team in teams], engines.runner_of)
            access = Access(HostCheck(), KeyRing(store.keys.all, fresh_s=0.0) if keys else None)
            gateway = Gateway(engines.upstreams(), access=access, teams=talk)
            return Panel(
                gateway=gateway,
                store=store,
                teams={team.name: team for team in teams},
                talk=talk,
                engines=engines,
                registry=registry,
                agents=open_agents(store, AgentCalls(runtime), engines.standing),
            )

        yield make


@pytest.fixture
def make_key(store: Store) -> Callable[..., str]:
    def make(name: str, *scopes: str, user: str | None = None) -> str:
        key, kept = new_key(name, scopes or ("*",), user=user)
        store.keys.add(kept)
        return key

    return make


@asynccontextmanager
async def serving(panel: Panel, **client: object) -> AsyncGenerator[httpx2.AsyncClient]:
    """A client of a panel that listens; without keys it sends the token of the page."""
    listening = listening_socket("127.0.0.1", 0)
    app = create_app(panel.gateway)
    mount_panel(app, panel)
    server = GatewayServer(app, panel.gateway, drain_s=0.2, at_stop=panel.stop)
    running = asyncio.create_task(server._serve(sockets=[listening]))
    try:
        while not server.started:
            await asyncio.sleep(0.01)
            if running.done():
                running.result()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        options: dict[str, Any] = {"timeout": 20, "trust_env": False, **client}
        async with httpx2.AsyncClient(base_url=url, **options) as http:
            if not panel.access.needs_keys:
                http.headers["x-csrf-token"] = (await http.get("/api/session")).json()["csrf"]
            yield http
    finally:
        server.should_exit = True
        with contextlib.suppress(asyncio.CancelledError):
            await running
        listening.close()


@pytest.fixture
async def http(make_panel: MakePanel) -> AsyncGenerator[httpx2.AsyncClient]:
    """A client of a server without keys."""
    async with serving(make_panel()) as client:
        yield client
