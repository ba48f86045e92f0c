"""`repertory serve`: the HTTP interface."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from repertory.cli.engine_choice import ApiKeyOption, ContextOption
from repertory.cli.output import JsonOption, emit_json, side
from repertory.cli.safe_text import printable
from repertory.errors import EngineError, UsageError

if TYPE_CHECKING:
    from repertory.server.casting import ServedTeam, StandingEngine
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
    embedded: bool
    keys: bool
    hosts: tuple[str, ...]
    drain_s: float
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
        as_json: JsonOption = False,
    ) -> None:
        """Serve teams, agents and models over HTTP, in OpenAI's and Anthropic's APIs, until it is stopped.

        It serves on the engines of --engine-url, else on the instances of `repertory up`, else on the embedded engine.
        Without --keys it listens on this machine alone. With --json, one document tells where it listens.
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
            embedded=embedded,
            keys=keys,
            hosts=tuple(allowed_host),
            drain_s=drain,
            as_json=as_json,
        )
        asyncio.run(_serve(wish))


async def _serve(wish: _Wish) -> None:
    from repertory.server.app import create_app
    from repertory.server.casting import ServedTeam
    from repertory.server.listen import GatewayServer, allow_many_connections, check_exposure, listening_socket
    from repertory.storage.store import Store
    from repertory.teams import find_team

    allow_many_connections()
    check_exposure(wish.host, needs_keys=wish.keys)
    teams = [ServedTeam(*find_team(name)) for name in wish.teams]
    async with AsyncExitStack() as stack:
        store = stack.enter_context(Store.open())
        listening = listening_socket(wish.host, wish.port)  # before an engine is started for nothing
        stack.callback(listening.close)
        gateway, alongside = await _gateway(wish, teams, store, stack)
        app = create_app(gateway, alongside=alongside)
        port = listening.getsockname()[1]
        shown = f"[{wish.host}]" if ":" in wish.host else wish.host
        url = f"http://{shown}:{port}"
        if wish.as_json:
            emit_json({"url": url, "models": sorted(gateway.table.routes), "keys": wish.keys})
        names = ", ".join(sorted(gateway.table.routes)) or "nothing yet"
        side().print(printable(f"serving {names} at {url}/v1"), markup=False, soft_wrap=True)
        await GatewayServer(app, gateway, drain_s=wish.drain_s).serve(sockets=[listening])


async def _gateway(
    wish: _Wish, teams: "Sequence[ServedTeam]", store: "Store", stack: AsyncExitStack
) -> "tuple[Gateway, AbstractAsyncContextManager[None]]":
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
    if not wish.urls and not wish.embedded and directory.instances():
        supervised = SupervisedInstances(directory, teams, store)
        upstreams = await supervised.upstreams()
        gateway = Gateway(upstreams, access=access, teams=RunnerTeams(names, supervised.runner_of))
        return gateway, supervised.follow(gateway)
    engines = await stack.enter_async_context(_engines(wish, teams))
    standing = StandingEngines(engines, teams, store)
    gateway = Gateway(standing.upstreams(), access=access, teams=RunnerTeams(names, standing.runner_of))
    return gateway, nullcontext()


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
    from repertory.engines.embedded import EmbeddedEngine, choose_default_model, machine_size
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
            engine = await connect(running.url, api_key=running.api_key, kind=EngineKind.LLAMACPP)
        except EngineError:
            running.check()  # a dead process has the better reason in its log
            raise
        try:
            yield StandingEngine(shown, engine, Address(running.url, running.api_key))
        finally:
            await engine.aclose()
