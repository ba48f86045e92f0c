"""`repertory resume`: completes turns that were cut off."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from repertory.cli.engine_choice import (
    ApiKeyOption,
    ContextOption,
    EngineChoice,
    EngineUrlOption,
    ModelOption,
    SlotCacheOption,
)
from repertory.cli.output import JsonOption, emit_json, side
from repertory.cli.safe_text import printable
from repertory.errors import RepertoryError, UsageError

if TYPE_CHECKING:
    from repertory.runtime.turn import TurnRunner
    from repertory.storage.records import Turn

__all__ = ("complete_interrupted", "register")

_BUILDERS = "engineering"
"""The team whose turns are builds, carried by a runner of their own."""

TurnArgument = Annotated[
    str | None, typer.Argument(metavar="[TURN]", help="A turn's id or the beginning of it; all that can be by default.")
]
TeamOption = Annotated[
    str | None,
    typer.Option("--team", metavar="TEAM", help="Its team: needed for a team file; built-in teams are found."),
]
UserFilter = Annotated[str | None, typer.Option("--user", metavar="U", help="Only turns of this user.")]


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("resume")
    def resume(
        turn: TurnArgument = None,
        team: TeamOption = None,
        user: UserFilter = None,
        engine_url: EngineUrlOption = None,
        model: ModelOption = None,
        engine_key: ApiKeyOption = None,
        context: ContextOption = 8192,
        slot_cache_gib: SlotCacheOption = None,
        as_json: JsonOption = False,
    ) -> None:
        """Complete turns that were cut off: by a crash, a full disk, or an engine that went away.

        What their agents had finished is not done again. `run` and `chat` do this at their start for the user who
        writes. Exit code 1 when a turn failed again.
        """
        choice = EngineChoice(
            url=engine_url,
            model=model,
            api_key=engine_key,
            context_tokens=context,
            slot_cache_gib=slot_cache_gib,
        )
        if asyncio.run(_resume(turn, team, user, choice, as_json=as_json)):
            raise typer.Exit(1)


async def _resume(
    prefix: str | None, team_name: str | None, user: str | None, choice: EngineChoice, *, as_json: bool
) -> bool:
    from repertory.cli.team_runner import open_runner
    from repertory.cli.turn_view import TurnView
    from repertory.clock import system_clock

    documents: list[dict[str, object]] = []
    failed = False
    for name, turns in _by_team(_find(prefix, user), team_name, named=prefix is not None).items():
        if name == _BUILDERS:
            builds = await _resume_builds(turns, choice, as_json=as_json)
            documents += builds
            failed = failed or any(build["status"] != "built" for build in builds)
            continue
        async with open_runner(name, choice, system_clock) as runner:
            for turn in turns:
                with TurnView(runner.team, quiet=as_json) as view:
                    result = await runner.resume(turn.id, sinks=[view.see])
                view.summary(result)
                documents.append(result.document())
                failed = failed or result.status == "failed"
    if as_json:
        emit_json({"turns": documents})
    elif not documents:
        side().print("there is nothing to resume")
    return failed


async def _resume_builds(turns: "list[Turn]", choice: EngineChoice, *, as_json: bool) -> list[dict[str, object]]:
    from repertory.cli.build import open_build_runner, show_build, show_progress

    documents: list[dict[str, object]] = []
    async with open_build_runner(choice) as runner:
        for turn in turns:
            result = await runner.resume(turn.id, sinks=() if as_json else (show_progress,))
            if not as_json:
                show_build(result)
            documents.append(result.document())
    return documents


def _find(prefix: str | None, user: str | None) -> "list[Turn]":
    from repertory.storage.store import Store

    store = Store.open_existing()
    found: Turn | None = None
    if store is not None:
        with store:
            if prefix is None:
                return store.taking_up.resumable(user=user)
            found = store.turns.find_turn(prefix, user=user)
    if prefix is None:
        return []
    if found is None:
        message = f"there is no turn {prefix!r}"
        raise UsageError(message, hint="`repertory trace` shows the last one")
    return [found]


def _by_team(turns: "list[Turn]", team_name: str | None, *, named: bool) -> "dict[str, list[Turn]]":
    """The turns under the name or file by which their team can be opened; others are passed over, unless `named`."""
    from repertory.teams import built_in_teams, find_team

    wanted = find_team(team_name)[0].name if team_name is not None else None
    groups: dict[str, list[Turn]] = {}
    for turn in turns:
        if team_name is not None and turn.team == wanted:
            groups.setdefault(team_name, []).append(turn)
        elif turn.team in built_in_teams():
            groups.setdefault(turn.team, []).append(turn)
        else:
            message, hint = f"turn {turn.id} is of team {turn.team!r}, which is not built in", "`--team FILE` names it"
            if named:
                raise UsageError(message, hint=hint)
            side().print(printable(f"{message}; {hint}"), style="yellow", markup=False)
    return groups


async def complete_interrupted(runner: "TurnRunner", user: str) -> None:
    """Complete what a user's earlier turns left open, before a new one begins; says so on stderr."""
    from repertory.runtime.turn import MOST_RESUMES

    console = side()
    for turn in await asyncio.to_thread(runner.resumable, user):
        if turn.resumes >= MOST_RESUMES:
            words = f"turn {turn.id} was cut off {turn.resumes} times; `repertory resume {turn.id}` tries once more"
            console.print(words, style="yellow", markup=False)
            continue
        console.print(f"completing turn {turn.id}, which was cut off", style="dim", markup=False)
        try:
            result = await runner.resume(turn.id)
        except RepertoryError as error:  # another process may have been quicker
            console.print(printable(f"turn {turn.id}: {error.message}"), style="yellow", markup=False)
            continue
        reason = f" ({result.reason})" if result.reason else ""
        console.print(printable(f"turn {turn.id} is {result.status}{reason}"), style="dim", markup=False)
        if result.reply or result.first_reply:
            console.print(
                printable("\n\n".join(part for part in (result.first_reply, result.reply) if part)), markup=False
            )
