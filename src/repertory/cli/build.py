"""`repertory build`: the engineering team makes a new agent."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from repertory.cli.build_wish import BuildWish, improvement_of, open_repair, similar_agent
from repertory.cli.engine_choice import ApiKeyOption, EngineChoice, EngineUrlOption, ModelOption
from repertory.cli.output import JsonOption, emit_json, screen, side
from repertory.cli.run import UserOption
from repertory.cli.safe_text import printable
from repertory.errors import UsageError
from repertory.runtime.events import AgentFinished, AgentStarted, TurnEvent
from repertory.teams.engineering.build_result import BuildResult

if TYPE_CHECKING:
    from repertory.teams.engineering.runner import BuildRunner

__all__ = ("open_build_runner", "register", "show_build", "show_progress")

_LONGEST_REQUEST = 8000
_AT_ONCE = 4
"""Slots of the embedded engine: as many drafts are written at the same time."""
_CONTEXT_TOKENS = 6144


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("build")
    def build(
        request: Annotated[
            str | None,
            typer.Argument(metavar="REQUEST", help="What the agent is for, or what must be better, in your words."),
        ] = None,
        contract: Annotated[
            str | None,
            typer.Option(
                "--contract",
                metavar="TEXT",
                help="What others may rely on, such as `tool: slug(text: string, max_len: int = 60) -> string; empty "
                "text stays empty`. Without it the team writes one.",
            ),
        ] = None,
        budget_minutes: Annotated[
            float, typer.Option("--budget-minutes", min=0.1, max=600, metavar="N", help="When it must be over.")
        ] = 20.0,
        improve: Annotated[
            str | None,
            typer.Option(
                "--improve",
                metavar="AGENT",
                help="Build the next version of this agent: its contract stays, and so do the tests that it passes.",
            ),
        ] = None,
        repair: Annotated[
            bool, typer.Option("--repair", help="Take the oldest request for repair of an agent that failed.")
        ] = False,
        anew: Annotated[bool, typer.Option("--anew", help="Build even where an agent serves this already.")] = False,
        user: UserOption = "me",
        engine_url: EngineUrlOption = None,
        model: ModelOption = None,
        engine_key: ApiKeyOption = None,
        as_json: JsonOption = False,
    ) -> None:
        """Let the nine agents specify, write, test, review and release a new agent.

        Code that a model wrote runs only in the sandbox. An agent is released only when tests that were written without
        seeing its code pass, and what it does was replayed; else the answer is `not_built` with the reason. Exit code 0
        when there is an agent, 1 when not.

        Example: repertory build "Turn blog titles into url slugs" --contract "tool: slugify(text: string) -> string"
        """
        choice = EngineChoice(url=engine_url, model=model, api_key=engine_key, context_tokens=_CONTEXT_TOKENS)
        build = _Build(choice, budget_minutes, user, quiet=as_json)
        if repair:
            if request is not None or improve is not None or contract is not None:
                raise UsageError("--repair takes its request from what failed", hint="leave REQUEST and the others out")
            result = build.repair()
        else:
            result = build.make(_checked(request), contract, improve, anew=anew)
        if as_json:
            emit_json(result.document())
        else:
            show_build(result)
        if result.status != "built":
            raise typer.Exit(1)


def _checked(request: str | None) -> str:
    """The request.

    Raises:
        UsageError: It is empty or too long.
    """
    text = request or ""
    if not text.strip() or len(text) > _LONGEST_REQUEST:
        message = f"a request has 1 to {_LONGEST_REQUEST} characters; this one has {len(text.strip())}"
        raise UsageError(message, hint="say in a few sentences what the agent is to do")
    return text


@dataclass(frozen=True)
class _Build:
    """How a build is carried out."""

    choice: EngineChoice
    minutes: float
    user: str
    quiet: bool

    def make(self, request: str, contract: str | None, improve: str | None, *, anew: bool) -> BuildResult:
        """Build an agent, or the next version of one."""
        if improve is not None:
            if contract is not None:
                raise UsageError("the contract stays when an agent is improved", hint="leave --contract out")
            return asyncio.run(self._run(BuildWish(request, None, improvement_of(improve))))
        near = None if anew else similar_agent(request, contract)
        if near is not None and near.serves:
            why = (
                f"{near.label} serves this already (likeness {near.likeness}), so nothing new was built; "
                f"--improve {near.label.split('@')[0]} builds a better version of it, --anew another agent"
            )
            return BuildResult(build="", status="built", agent=near.label, why=why)
        if near is not None:
            words = f"{near.label} is near to this (likeness {near.likeness}); --improve makes a better version of it"
            side().print(printable(words), style="dim", markup=False)
        return asyncio.run(self._run(BuildWish(request, contract)))

    def repair(self) -> BuildResult:
        """Carry out the oldest request for repair."""
        from repertory.teams.engineering.improvement import repair_wish

        with open_repair() as taken:
            repair = taken.repair
            words = f"repair {repair.id} of {repair.agent}@{repair.version}: {repair.reason}"
            side().print(printable(words), markup=False)
            improves = improvement_of(f"{repair.agent}@{repair.version}")
            taken.result = asyncio.run(self._run(BuildWish(repair_wish(repair), None, improves)))
            return taken.result

    async def _run(self, wish: BuildWish) -> BuildResult:
        async with open_build_runner(self.choice) as runner:
            return await runner.run(
                wish.request,
                wish.contract,
                user=self.user,
                improves=wish.improves,
                budget_minutes=self.minutes,
                sinks=() if self.quiet else (show_progress,),
            )


@asynccontextmanager
async def open_build_runner(choice: EngineChoice) -> AsyncGenerator["BuildRunner"]:
    """Open the engine, the store, the registry and the sandbox for builds; say on stderr what happens meanwhile.

    Raises:
        RepertoryError: One of them can not be had.
    """
    from repertory.cli.engine_choice import open_engine
    from repertory.registry.registry import Registry
    from repertory.runtime.cast import cast_on_one
    from repertory.sandbox import Sandbox
    from repertory.storage.store import Store
    from repertory.teams.engineering.release import Releaser
    from repertory.teams.engineering.runner import BuildRunner
    from repertory.teams.engineering.team import engineering_team

    console = side()

    def say(words: str) -> None:
        console.print(printable(words), style="dim", markup=False)

    sandbox, team = Sandbox(), engineering_team()
    sandbox.isolation()  # said before a model is fetched and loaded for nothing
    with Store.open() as store:
        registry = Registry(store)
        async with open_engine(choice, agents=_AT_ONCE, say=say) as engine:
            yield BuildRunner(
                cast_on_one(team, engine),
                store,
                Releaser(registry, sandbox).release,
                taken=registry.names,
                improvement_of=improvement_of,
                sandbox=sandbox,
                team=team,
            )


def show_progress(event: TurnEvent) -> None:
    """Tell on stderr who works on what."""
    if words := _progress(event):
        side().print(printable(f"[{event.elapsed_s:6.1f} s] {words}"), markup=False)


def _progress(event: TurnEvent) -> str | None:
    if isinstance(event, AgentStarted) and event.attempt == 1:
        return f"{event.agent}: works ({event.prompt_tokens} tokens to read)"
    if isinstance(event, AgentFinished):
        many = f", {event.attempts} answers" if event.attempts > 1 else ""
        return f"{event.agent}: {event.status}, {event.output_tokens} tokens{many}" + (
            f" ({event.reason})" if event.reason else ""
        )
    return None


def show_build(result: BuildResult) -> None:
    """Print what a build came to."""
    out = screen()
    style = {"built": "bold green", "not_built": "bold yellow", "refused": "bold red"}[result.status]
    head = f"{result.status.replace('_', ' ')}: {result.agent}" if result.agent else result.status.replace("_", " ")
    out.print(Text(head, style=style))
    out.print(Text(printable(result.why)))
    if result.tools:
        table = Table("tool", "takes", "gives", box=None, header_style="dim")
        for tool in result.tools:
            takes = ", ".join(tool["input_schema"].get("properties", {}))
            table.add_row(tool["name"], printable(takes), str(tool["output_schema"].get("type", "any")))
        out.print(table)
    out.print(
        Text(
            f"{result.tests_passed} of {result.tests_written} tests, {result.candidates} drafts, "
            f"{result.tokens:,} tokens, {result.seconds:.0f} s; build {result.build}",
            style="dim",
        )
    )
    if result.agent and result.tools:
        name = result.agent.split("@")[0]
        out.print(Text(f"try it: repertory agents call {name} {result.tools[0]['name']} --args '{{...}}'", style="dim"))
