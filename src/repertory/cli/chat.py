"""`repertory chat`: a conversation in the terminal."""

import asyncio
import sys
from typing import TYPE_CHECKING

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
from repertory.cli.output import JsonOption, emit_json, screen, side
from repertory.cli.run import NowOption, SessionOption, TeamArgument, UserOption
from repertory.runtime.harness.kinds import HarnessKind

if TYPE_CHECKING:
    from repertory.runtime.turn import TurnRunner

__all__ = ("register",)

_HELP = "Commands: /sections shows the blackboard, /help this line, /quit (or Ctrl-D) ends."


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("chat")
    def chat(
        team: TeamArgument,
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
        """Talk to a team in the terminal, streaming; one message a line.

        With a pipe as input every line is a message. With `--json` the turns are printed at the end as one document.
        """
        choice = EngineChoice(
            url=engine_url,
            model=model,
            api_key=engine_key,
            context_tokens=context,
            slot_cache_gib=slot_cache_gib,
        )
        asyncio.run(_chat(team, user, session, now, choice, harness, as_json=as_json))


async def _chat(
    team_name: str,
    user: str,
    session: str | None,
    now: str | None,
    choice: EngineChoice,
    harness: HarnessKind | None,
    *,
    as_json: bool,
) -> None:
    from repertory.cli.resume import complete_interrupted
    from repertory.cli.team_runner import clock_for, open_runner
    from repertory.cli.turn_view import TurnView

    documents: list[dict[str, object]] = []
    async with open_runner(team_name, choice, clock_for(now), harness=harness) as runner:
        await complete_interrupted(runner, user)
        if sys.stdin.isatty():
            side().print(_HELP, style="dim")
        while (text := await asyncio.to_thread(_next_line)) is not None:
            if text in {"/quit", "/exit"}:
                break
            if text in {"/help", "/sections"}:
                _command(text, runner, user)
                continue
            if not text:
                continue
            with TurnView(runner.team, quiet=as_json) as view:
                result = await runner.run(text, user=user, session=session, sinks=[view.see])
            session = result.session
            view.summary(result)
            documents.append(result.document())
    if as_json:
        emit_json({"turns": documents})


def _command(text: str, runner: "TurnRunner", user: str) -> None:
    if text == "/help":
        side().print(_HELP, style="dim")
        return
    from repertory.cli.blackboard import print_blackboard

    print_blackboard(runner.store, user, runner.team.name, screen())


def _next_line() -> str | None:
    """The next message, or None at the end of input."""
    if sys.stdin.isatty():
        sys.stderr.write("\nyou> ")
        sys.stderr.flush()
    line = sys.stdin.buffer.readline()
    return line.decode("utf-8", "replace").strip() if line else None
