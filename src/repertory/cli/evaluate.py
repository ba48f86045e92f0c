"""`repertory evaluate`: measure a team on scenarios, on any engine."""

import asyncio
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from repertory.cli.engine_choice import ApiKeyOption, ContextOption, EngineChoice, EngineUrlOption, ModelOption
from repertory.cli.output import JsonOption, emit_json, screen, side
from repertory.cli.safe_text import printable
from repertory.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from repertory.runtime.turn_result import TurnResult
    from repertory.teams.coaching.evaluation import Scenario, ScenarioReport

__all__ = ("register",)

_TEAMS = ("coaching",)


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("evaluate")
    def evaluate(
        target: Annotated[str, typer.Argument(metavar="TARGET", help="What is measured: the team `coaching`.")],
        scenarios: Annotated[
            Path | None,
            typer.Option("--scenarios", metavar="FILE", help="A scenario file; the built-in ones by default."),
        ] = None,
        only: Annotated[
            list[str] | None, typer.Option("--only", metavar="ID", help="Only this scenario; may be given again.")
        ] = None,
        resume: Annotated[
            Path | None,
            typer.Option(
                "--resume", metavar="FILE", help="Keep finished scenarios in this file, and skip those it has."
            ),
        ] = None,
        engine_url: EngineUrlOption = None,
        model: ModelOption = None,
        engine_key: ApiKeyOption = None,
        context: ContextOption = 8192,
        as_json: JsonOption = False,
    ) -> None:
        """Play scenarios with a whole team and check what comes out.

        Every scenario is an invented person in a database of its own; nothing of it is kept but the report.
        Exit code 1 when a check that must hold does not.
        """
        if target not in _TEAMS:
            message = f"{target!r} can not be measured"
            raise UsageError(message, hint=f"there are scenarios for: {', '.join(_TEAMS)}")
        chosen = _chosen(scenarios, only or [])
        choice = EngineChoice(url=engine_url, model=model, api_key=engine_key, context_tokens=context)
        played, reports = asyncio.run(_evaluate(target, chosen, resume, choice))
        _tell(target, played, reports, as_json=as_json)
        if any(report.failed_musts for report in reports):
            raise typer.Exit(1)


def _chosen(path: Path | None, only: "Sequence[str]") -> "list[Scenario]":
    from repertory.teams.coaching.evaluation import built_in_scenarios, load_scenarios

    found = (built_in_scenarios() if path is None else load_scenarios(path)).scenarios
    known = {scenario.id for scenario in found}
    if unknown := [name for name in only if name not in known]:
        message = f"no scenario is called {unknown[0]!r}"
        raise UsageError(message, hint=f"there are: {', '.join(sorted(known))}")
    return [scenario for scenario in found if not only or scenario.id in only]


async def _evaluate(
    target: str, scenarios: "Sequence[Scenario]", resume: Path | None, choice: EngineChoice
) -> "tuple[str, list[ScenarioReport]]":
    from repertory.cli.engine_choice import open_engine
    from repertory.runtime.cast import cast_on_one
    from repertory.storage.store import Store
    from repertory.teams import find_team
    from repertory.teams.coaching.evaluation.play import play_scenario
    from repertory.teams.coaching.evaluation.progress_file import ProgressFile

    team, rules = find_team(target)
    reports: list[ScenarioReport] = []
    async with open_engine(choice, agents=len(team.agents), say=_say) as engine:
        progress = ProgressFile(resume, engine.model)
        for number, scenario in enumerate(scenarios, start=1):
            title = f"{number}/{len(scenarios)} {scenario.id} {scenario.title}"
            if (known := progress.finished(scenario)) is not None:
                _say(f"{title}: played before")
                reports.append(known)
                continue
            _say(title)
            with (
                tempfile.TemporaryDirectory(prefix="repertory-evaluate-") as folder,
                Store.open(Path(folder) / "evaluation.sqlite") as store,
            ):
                report = await play_scenario(
                    scenario, team=team, rules=rules, cast=cast_on_one(team, engine), store=store, on_turn=_turn
                )
            progress.keep(scenario, report)
            reports.append(report)
            held = sum(check.passed for check in report.checks)
            _say(f"  {held} of {len(report.checks)} checks hold, {report.seconds:.0f} s")
        return engine.model, reports


def _say(words: str) -> None:
    side().print(printable(words), style="dim", markup=False)


def _turn(message: str, result: "TurnResult") -> None:
    _say(f"  {message}: {result.status}, safety {result.safety.level}")


def _tell(target: str, model: str, reports: "list[ScenarioReport]", *, as_json: bool) -> None:
    from repertory.teams.coaching.evaluation.report import document

    if as_json:
        emit_json(document(reports, target=target, model=model))
        return
    from repertory.cli.evaluation_view import show_evaluation

    show_evaluation(screen(), reports, model=model)
