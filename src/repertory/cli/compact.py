"""`repertory compact`: the talk of earlier sessions becomes a bounded memory."""

import asyncio
from dataclasses import asdict

import typer

from repertory.cli.engine_choice import (
    ApiKeyOption,
    ContextOption,
    EngineChoice,
    EngineUrlOption,
    ModelOption,
)
from repertory.cli.output import JsonOption, emit_json, side
from repertory.cli.run import TeamArgument, UserOption

__all__ = ("register",)


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("compact")
    def compact(
        team: TeamArgument,
        user: UserOption = "me",
        engine_url: EngineUrlOption = None,
        model: ModelOption = None,
        engine_key: ApiKeyOption = None,
        context: ContextOption = 8192,
        as_json: JsonOption = False,
    ) -> None:
        """Keep what was said in sessions that are over as a few facts, so that prompts stay as short as they are.

        The messages themselves stay. It can be ended at any moment (Ctrl-C) and goes on the next time. Exit code 1
        when the model gave nothing usable for some session.
        """
        choice = EngineChoice(url=engine_url, model=model, api_key=engine_key, context_tokens=context)
        if asyncio.run(_compact(team, user, choice, as_json=as_json)):
            raise typer.Exit(1)


async def _compact(team_name: str, user: str, choice: EngineChoice, *, as_json: bool) -> bool:
    from repertory.cli.team_runner import open_runner
    from repertory.clock import system_clock

    async with open_runner(team_name, choice, system_clock) as runner:
        report = await runner.compact(user)
    if as_json:
        emit_json(asdict(report))
    else:
        left = f"; {report.left} sessions could not be read and are left for later" if report.left else ""
        side().print(f"{report.sessions} sessions compacted, {report.facts} facts kept{left}")
    return report.left > 0
