"""`repertory demo`: the main job, shown as it happens."""

import asyncio
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import typer

from repertory.cli.engine_choice import ApiKeyOption, ContextOption, EngineChoice, EngineUrlOption, ModelOption
from repertory.cli.output import JsonOption, emit_json, side

if TYPE_CHECKING:
    from repertory.runtime.turn import TurnRunner
    from repertory.runtime.turn_result import TurnResult

__all__ = ("register",)

_USER = "demo"


@dataclass(frozen=True)
class _Session:
    name: str
    title: str
    days_ago: int
    messages: tuple[str, ...]


_GOAL = (
    "I want to finish the first draft of my novel by spring. It matters more to me than anything at work. "
    "I'll write 30 minutes on Tuesday and on Thursday evening."
)
_HARM = (
    "Last year I announced a 30-day writing challenge to all my colleagues. I fell behind on day 6, they joked "
    "about it, and I stopped writing for two months."
)
_WEEK = (
    "No writing this week. A client asked for a rush job on Tuesday and I said yes, it paid double. "
    "I'll write on Sunday morning, one hour. How likely do you think it is that I do it?"
)

_SESSIONS = (
    _Session(name="demo-1", title="Session 1, a week ago", days_ago=7, messages=(_GOAL, _HARM)),
    _Session(name="demo-2", title="Session 2, today", days_ago=0, messages=(_WEEK,)),
)


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("demo")
    def demo(
        engine_url: EngineUrlOption = None,
        model: ModelOption = None,
        engine_key: ApiKeyOption = None,
        context: ContextOption = 4096,
        as_json: JsonOption = False,
    ) -> None:
        """Two short coaching sessions with six agents on a real model, as they happen.

        The person is invented. In the second session Shadow works with what the first one left on the blackboard.
        Afterwards look around: `repertory blackboard show --user demo`, `repertory trace`.
        """
        choice = EngineChoice(url=engine_url, model=model, api_key=engine_key, context_tokens=context)
        asyncio.run(_demo(choice, as_json=as_json))


async def _demo(choice: EngineChoice, *, as_json: bool) -> None:
    from repertory.cli.team_runner import open_runner
    from repertory.clock import system_clock

    began = time.monotonic()
    turns: list[dict[str, Any]] = []
    async with open_runner("coaching", choice, system_clock) as runner:
        await asyncio.to_thread(runner.store.erase, _USER, runner.team.name)  # each demo starts with a blank page
        for session in _SESSIONS:
            side().print(f"\n[bold]{session.title}[/bold]")
            moment = system_clock() - timedelta(days=session.days_ago)
            runner.clock = lambda moment=moment: moment
            for message in session.messages:
                result = await _one(runner, message, session.name, as_json=as_json)
                turns.append(result.document())
    failed = [turn["reason"] for turn in turns if turn["status"] == "failed"]
    if as_json:
        emit_json({"turns": turns, "seconds": round(time.monotonic() - began, 1)})
    if failed:
        side().print(f"{len(failed)} of {len(turns)} turns failed: {failed[0]}", style="red", markup=False)
        side().print("`repertory doctor` looks for the cause")
        raise typer.Exit(1)
    side().print(
        f"\n{len(turns)} turns in {time.monotonic() - began:.0f} s. Look around: "
        "`repertory blackboard show --user demo`, `repertory trace`, or talk yourself: `repertory chat coaching`."
    )


async def _one(runner: "TurnRunner", message: str, session: str, *, as_json: bool) -> "TurnResult":
    from repertory.cli.output import screen
    from repertory.cli.timeline_view import render_timeline
    from repertory.cli.turn_view import TurnView
    from repertory.runtime.timeline import build_timeline

    out = screen()
    if not as_json:
        out.print(f"\n> {message}\n", style="bold cyan", markup=False)
    with TurnView(runner.team, quiet=as_json) as view:
        result = await runner.run(message, user=_USER, session=session, sinks=[view.see])
    if not as_json:
        out.print(render_timeline(build_timeline(result.events), out.width))
    view.summary(result)
    return result
