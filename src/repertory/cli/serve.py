"""`repertory serve`: the HTTP interface."""

import asyncio
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from repertory.cli.engine_choice import ApiKeyOption, ContextOption, SlotCacheOption
from repertory.cli.harness_choice import HarnessOption, needs_programs
from repertory.cli.output import JsonOption, emit_json, side
from repertory.cli.safe_text import printable
from repertory.errors import EngineError, UsageError
from repertory.home import locate_home
from repertory.runtime.harness.kinds import HarnessKind

if TYPE_CHECKING:
    from repertory.server.agents.served_agents import ServedAgents
    from repertory.server.casting import ServedTeam, StandingEngine
    from repertory.server.late_harness import LateHarness
    from repertory.server.panel.engines_in_use import EnginesInUse
    from repertory.server.turn_teams import RunnerTeams
    from repertory.serving.gateway.gateway import Gateway
    from repertory.storage.store import Store

__all__ = ("register",)


@dataclass(frozen=True)
class _Wish:
    """What the user asked for."""

    teams: tuple[str, ...]
    host: str
    port: int
    urls: tuple[str, ...]
    model: str | None
    engine_key: str | None
    concurrency: int | None
    context_tokens: int
    slot_cache_gib: float | None
    embedded: bool
    keys: bool
    hosts: tuple[str, ...]
    drain_s: float
    compact_after_s: float
    harness: HarnessKind | None
    as_json: bool


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("serve")
    def serve(
        team: Annotated[
            list[str], typer.Option("--team", metavar="TEAM", help="Teams to serve: built-in ones or team files.")
        ] = ["coaching"],  # noqa: B006 - Typer copies it
        host: Annotated[str, typer.Option("--host", metavar="H", help="Address to listen on.")] = "127.0.0.1",
        port: Annotated[
            int, typer.Option("--port", min=0, max=65535, metavar="P", help="Port; 0 lets the system choose.")
        ] = 8700,
        engine_url: Annotated[
            list[str],
            typer.Option(
                "--engine-url",
                metavar="URL",
                envvar="REPERTORY_ENGINE_URL",
                help="Serve on an engine that already runs; repeatable: engines with one model are replicas.",
            ),
        ] = [],  # noqa: B006 - as above
        model: Annotated[
            str | None,
            typer.Option(
                "--model", metavar="NAME", help="Model of the engine at --engine-url, or of the embedded one."
            ),
        ] = None,
        engine_key: ApiKeyOption = None,
        concurrency: Annotated[
            int | None,
            typer.Option(
                "--concurrency",
                min=1,
                metavar="N",
                help="How many requests each engine at --engine-url runs at once; more wait here. Default: what it "
                "tells, 64 for vLLM and SGLang, 8 for engines that are not known.",
            ),
        ] = None,
        context: ContextOption = 8192,
        slot_cache_gib: SlotCacheOption = None,
        embedded: Annotated[
            bool, typer.Option("--embedded", help="Start the embedded engine even if `up` has instances running.")
        ] = False,
        keys: Annotated[
            bool, typer.Option("--keys", help="Every request must carry a key of `repertory keys create`.")
        ] = False,
        allowed_host: Annotated[
            list[str],
            typer.Option(
                "--allowed-host",
                metavar="NAME",
                help="Host names that requests may name beside this machine's own; repeatable; `*` allows all.",
            ),
        ] = [],  # noqa: B006 - as above
        drain: Annotated[
            float, typer.Option("--drain", min=0, metavar="SECONDS", help="At the end, how long requests may go on.")
        ] = 30.0,
        compact_after: Annotated[
            float,
            typer.Option(
                "--compact-after",
                min=0,
                metavar="SECONDS",
                help="When nobody has asked for so long, sessions that are over are compacted at the lowest priority "
                "until somebody asks; 0 turns it off.",
            ),
        ] = 30.0,
        harness: HarnessOption = None,
        as_json: JsonOption = False,
    ) -> None:
        """Serve teams, agents and models over HTTP, in OpenAI's and Anthropic's APIs, and the dashboard.

        It serves on the engines of --engine-url, else on the instances of `repertory up`, else on the embedded engine.
        Turns and builds that a crash cut off are completed first, beside new ones. Without --keys it listens on this
        machine alone. With --json, one document tells where it listens.
        """
        wish = _Wish(
            teams=tuple(team),
            host=host,
            port=port,
            urls=tuple(engine_url),
            model=model,
            engine_key=engine_key,
            concurrency=concurrency,
            context_tokens=context,
            slot_cache_gib=slot_cache_gib,
            embedded=embedded,
            keys=keys,
            hosts=tuple(allowed_host),
            drain_s=drain,
            compact_after_s=compact_after,
            harness=harness,
            as_json=as_json,
        )
        asyncio.run(_serve(wish))


async def _serve(wish: _Wish) -> None:
    from repertory.registry.registry import Registry
    from repertory.runtime.harness.programs import require_programs, with_harness
    from repertory.server.agents.mount import mount_agents
    from repertory.server.alongside import alongside
    from repertory.server.app import create_app
    from repertory.server.casting import ServedTeam
    from repertory.server.idle_compaction import IdleCompaction
    from repertory.server.listen import GatewayServer, allow_many_connections, check_exposure, listening_socket
    from repertory.server.panel.mount import mount_panel
    from repertory.server.panel.panel import Panel
    from repertory.server.panel.settings_file import SettingsFile
    from repertory.server.unfinished_turns import UnfinishedTurns
    from repertory.storage.store import Store
    from repertory.teams import find_team
    from repertory.teams.coaching.rules import COUNTRY_VARIABLE

    allow_many_connections()
    check_exposure(wish.host, needs_keys=wish.keys)
    country = (await asyncio.to_thread(SettingsFile().read)).country
    if country is not None:
        os.environ.setdefault(COUNTRY_VARIABLE, country)  # what the operator said in the environment stands above it
    teams = [ServedTeam(*find_team(name)) for name in wish.teams]
    if wish.harness is not None:
        teams = [ServedTeam(with_harness(one.team, wish.harness), one.rules) for one in teams]
    for one in teams:
        require_programs(one.team)
    async with AsyncExitStack() as stack:
        store = stack.enter_context(Store.open())
        listening = listening_socket(wish.host, wish.port)  # before an engine is started for nothing
        stack.callback(listening.close)
        served = await _served(wish, teams, store, stack)
        gateway = served.gateway
        if any(needs_programs(team.team) for team in teams):
            from repertory.server.harness_door import opened_harness

            served.door.inner = await stack.enter_async_context(opened_harness(gateway, locate_home()))
        panel = Panel(
            gateway=gateway,
            store=store,
            teams={team.name: team for team in teams},
            talk=served.talk,
            engines=served.engines,
            registry=Registry(store),
            agents=served.agents,
        )
        unfinished = UnfinishedTurns(store, served.talk, panel.builds, lambda: gateway.draining)

        def busy() -> bool:
            return gateway.draining or gateway.busy or served.agents.busy

        compaction = IdleCompaction(store, served.talk, busy, after_s=wish.compact_after_s)
        served.talk.running.watch(compaction)
        work = [unfinished.run] if wish.compact_after_s == 0 else [unfinished.run, compaction.run]
        app = create_app(gateway, alongside=alongside(served.alongside, *work))
        mount_agents(app, gateway, served.agents)
        mount_panel(app, panel)  # the last: what nobody else answers, its pages do
        port = listening.getsockname()[1]
        shown = f"[{wish.host}]" if ":" in wish.host else wish.host
        url = f"http://{shown}:{port}"
        models = [*sorted(gateway.table.routes), *await served.agents.names()]
        if wish.as_json:
            emit_json({"url": url, "models": models, "keys": wish.keys})
        names = ", ".join(models) or "nothing yet"
        side().print(printable(f"serving {names} at {url}/v1"), markup=False, soft_wrap=True)
        side().print(f"the dashboard is at {url}", markup=False, soft_wrap=True)
        server = GatewayServer(app, gateway, drain_s=wish.drain_s, at_stop=panel.stop)
        await server.serve(sockets=[listening])


@dataclass(frozen=True)
class _Served:
    """What one server serves."""

    gateway: "Gateway"
    talk: "RunnerTeams"
    engines: "EnginesInUse"
    agents: "ServedAgents"
    door: "LateHarness"
    alongside: "AbstractAsyncContextManager[None]"


async def _served(wish: _Wish, teams: "Sequence[ServedTeam]", store: "Store", stack: AsyncExitStack) -> _Served:
    from repertory.registry.team_member import MemberHarness
    from repertory.server.agents.opening import open_agents, open_calls
    from repertory.server.late_harness import LateHarness
    from repertory.server.standing_engines import StandingEngines
    from repertory.server.supervised_instances import SupervisedInstances
    from repertory.server.turn_teams import RunnerTeams
    from repertory.serving.access import Access
    from repertory.serving.api_keys import KeyRing
    from repertory.serving.gateway.gateway import Gateway
    from repertory.serving.host_check import HostCheck
    from repertory.serving.instances.directory import InstanceDirectory

    access = Access(HostCheck((*wish.hosts, *_own_names(wish.host))), KeyRing(store.keys.all) if wish.keys else None)
    directory = InstanceDirectory()
    names = [team.name for team in teams]
    door = LateHarness()
    calls = stack.enter_context(open_calls(store))
    harness = MemberHarness(calls, door)
    if not wish.urls and not wish.embedded and directory.instances():
        supervised = SupervisedInstances(directory, teams, store, harness=harness, slot_cache_gib=wish.slot_cache_gib)
        upstreams = await supervised.upstreams()
        agents = open_agents(store, calls, supervised.standing)
        talk = RunnerTeams(names, supervised.runner_of)
        gateway = Gateway(upstreams, access=access, teams=talk, agents=agents)
        return _Served(gateway, talk, supervised, agents, door, supervised.follow(gateway))
    engines = await stack.enter_async_context(_engines(wish, teams))
    standing = StandingEngines(engines, teams, store, harness=harness)
    agents = open_agents(store, calls, standing.standing)
    talk = RunnerTeams(names, standing.runner_of)
    gateway = Gateway(standing.upstreams(), access=access, teams=talk, agents=agents)
    return _Served(gateway, talk, standing, agents, door, nullcontext())


def _own_names(host: str) -> tuple[str, ...]:
    """The address itself, when it is one that requests can name."""
    return () if host in {"0.0.0.0", "::", ""} else (host,)  # noqa: S104 - compared, not bound


@asynccontextmanager
async def _engines(wish: _Wish, teams: "Sequence[ServedTeam]") -> "AsyncGenerator[list[StandingEngine]]":
    async with AsyncExitStack() as stack:
        if not wish.urls:
            yield [await stack.enter_async_context(_embedded(wish, teams))]
            return
        from repertory.engines.connect import connect
        from repertory.server.casting import StandingEngine
        from repertory.serving.gateway.upstream import Address

        if wish.model is not None and len(wish.urls) > 1:
            raise UsageError("--model names the model of one engine", hint="leave it out, or give one --engine-url")
        found: list[StandingEngine] = []
        for number, url in enumerate(wish.urls):
            engine = await connect(url, model=wish.model, api_key=wish.engine_key)
            stack.push_async_callback(engine.aclose)
            name = engine.model if engine.model not in {one.name for one in found} else f"{engine.model}-{number}"
            found.append(StandingEngine(name, engine, Address(url, wish.engine_key), (), wish.concurrency))
            side().print(
                printable(f"using {engine.model} on {engine.profile.kind} at {url}"), style="dim", markup=False
            )
        yield found


@asynccontextmanager
async def _embedded(wish: _Wish, teams: "Sequence[ServedTeam]") -> "AsyncGenerator[StandingEngine]":
    from repertory.cli.model_download import fetch_model_async
    from repertory.engines.connect import connect
    from repertory.engines.embedded import EmbeddedEngine, choose_default_model, keep_prefixes, machine_size
    from repertory.engines.profile import EngineKind
    from repertory.server.casting import StandingEngine
    from repertory.serving.gateway.upstream import Address

    console = side()

    def say(words: str) -> None:
        console.print(printable(words), style="dim", markup=False)

    name = wish.model
    if name is None:
        default = choose_default_model(*machine_size())
        name = default.model
        say(default.reason)
    path = await fetch_model_async(name)
    shown = Path(name).name.removesuffix(".gguf")
    slots = max((len(team.team.agents) for team in teams), default=4)
    async with EmbeddedEngine.start(
        path, slots=slots, context_tokens=wish.context_tokens, model_name=shown, progress=say
    ) as running:
        try:
            kept = await asyncio.to_thread(keep_prefixes, running, wish.slot_cache_gib)
            engine = await connect(running.url, api_key=running.api_key, kind=EngineKind.LLAMACPP, kept_prefixes=kept)
        except EngineError:
            running.check()  # a dead process has the better reason in its log
            raise
        try:
            yield StandingEngine(shown, engine, Address(running.url, running.api_key))
        finally:
            await engine.aclose()
