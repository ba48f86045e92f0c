"""`repertory run`: one turn of a team."""

import asyncio
import sys
from collections.abc import Callable
from typing import Annotated

import typer

from repertory.cli.engine_choice import (
    ApiKeyOption,
    ContextOption,
    EngineChoice,
    EngineUrlOption,
    ModelOption,
    SlotCacheOption,
)
from repertory.cli.harness_choice import HarnessOption
from repertory.cli.output import JsonOption, emit_json
from repertory.errors import UsageError
from repertory.runtime.harness.kinds import HarnessKind

__all__ = ("NowOption", "SessionOption", "TeamArgument", "UserOption", "register")


def _checked(kind: str) -> Callable[[str | None], str | None]:
    """An option's callback that refuses what is no id, before any model is loaded for it."""

    def check(value: str | None) -> str | None:
        from repertory.storage.ids import check_id

        return None if value is None else check_id(kind, value)

    return check


TeamArgument = Annotated[
    str,
    typer.Argument(
        metavar="TEAM",
        help="A built-in team (`coaching`) or a team file; `engineering` works through `repertory build`.",
    ),
]
UserOption = Annotated[
    str,
    typer.Option(
        "--user", metavar="U", help="Whose blackboard. Users never see each other's.", callback=_checked("user")
    ),
]
SessionOption = Annotated[
    str | None,
    typer.Option(
        "--session",
        metavar="S",
        help="Session to continue, or to start under this id.",
        callback=_checked("session"),
    ),
]
NowOption = Annotated[
    str | None, typer.Option("--now", metavar="TIME", help="Set the clock (ISO 8601), for replays and tests.")
]

_MAX_STDIN_BYTES = 4 * 1024 * 1024


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("run")
    def run(
        team: TeamArgument,
        message: Annotated[str, typer.Option("--message", "-m", help="The person's message; `-` reads it from stdin.")],
        user: UserOption = "me",
        session: SessionOption = None,
        now: NowOption = None,
        engine_url: EngineUrlOption = None,
        model: ModelOption = None,
        engine_key: ApiKeyOption = None,
        context: ContextOption = 8192,
        slot_cache_gib: SlotCacheOption = None,
        harness: HarnessOption = None,
        as_json: JsonOption = False,
    ) -> None:
        """Carry one message through a team: the first reply streams at once, the full reply follows.

        Exit code 0 when somebody replied (also when an agent failed: status `partial`), 1 when the turn failed.
        """
        text = _read_stdin() if message == "-" else message
        choice = EngineChoice(
            url=engine_url,
            model=model,
            api_key=engine_key,
            context_tokens=context,
            slot_cache_gib=slot_cache_gib,
        )
        failed = asyncio.run(_run(team, text, user, session, now, choice, harness, as_json=as_json))
        if failed:
            raise typer.Exit(1)


def _read_stdin() -> str:
    data = sys.stdin.buffer.read(_MAX_STDIN_BYTES + 1)
    if len(data) > _MAX_STDIN_BYTES:
        message = f"the message on stdin is over {_MAX_STDIN_BYTES // 1024} KiB"
        raise UsageError(message, hint="no context holds that much; shorten it")
    return data.decode("utf-8", "replace").removesuffix("\n")


async def _run(
    team_name: str,
    text: str,
    user: str,
    session: str | None,
    now: str | None,
    choice: EngineChoice,
    harness: HarnessKind | None,
    *,
    as_json: bool,
) -> bool:
    from repertory.cli.resume import complete_interrupted
    from repertory.cli.team_runner import clock_for, open_runner
    from repertory.cli.turn_view import TurnView

    async with open_runner(team_name, choice, clock_for(now), harness=harness) as runner:
        await complete_interrupted(runner, user)
        with TurnView(runner.team, quiet=as_json) as view:
            result = await runner.run(text, user=user, session=session, sinks=[view.see])
        if as_json:
            emit_json(result.document())
        else:
            view.summary(result)
    return result.status == "failed"
