"""`repertory team`: check a team file, and show a team with the schedule that follows from its reads."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from repertory.cli.output import JsonOption, emit_json, screen, side
from repertory.cli.safe_text import printable
from repertory.errors import UsageError

if TYPE_CHECKING:
    from repertory.errors import TeamProblem
    from repertory.runtime.team import Team

__all__ = ("register",)

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The team's YAML file.")]
TeamArgument = Annotated[str, typer.Argument(metavar="TEAM", help="A built-in team (coaching) or a team file.")]
ContextOption = Annotated[
    int | None, typer.Option("--context", metavar="N", min=1, help="Check budgets against a context of N tokens.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="Check and show teams.", no_args_is_help=True, rich_markup_mode=None)

    @group.command("check")
    def check(file: FileArgument, context: ContextOption = None, as_json: JsonOption = False) -> None:
        """Tell every mistake in a team file with its line and column. Exit code 0 when it can run, 2 when not."""
        from repertory.runtime.team_file import inspect_team_file

        if str(file).endswith(".py"):
            message = f"{file} is Python, and this checks YAML files"
            raise UsageError(message, hint=f"`repertory team show {file}` checks it and shows the team")
        team, problems = inspect_team_file(file, context_tokens=context)
        if as_json:
            told = [_problem_document(problem) for problem in problems]
            emit_json({"file": str(file), "valid": team is not None, "problems": told} | _size(team))
        else:
            _print_problems(problems)
            if team is not None:
                screen().print(f"{team.name}: {_summary(team)}, no errors", markup=False)
        if team is None:
            raise typer.Exit(2)

    @group.command("show")
    def show(team: TeamArgument, as_json: JsonOption = False) -> None:
        """Show a team: its agents with what they read and write, and who waits for whom."""
        from repertory.cli.team_view import print_team
        from repertory.runtime.schedule import derive_schedule
        from repertory.runtime.team_checks import require_team
        from repertory.runtime.team_document import team_document
        from repertory.teams import find_team

        found, rules = find_team(team)
        require_team(found, rules.code_sections)
        schedule = derive_schedule(found, rules.code_sections)
        if as_json:
            emit_json(team_document(found, schedule, rules.code_sections))
        else:
            print_team(screen(), found, schedule, rules.code_sections)

    @group.command("schema")
    def schema() -> None:
        """Print the JSON Schema of a team file, for editors that check YAML while one types."""
        from repertory.runtime.team_file import team_file_schema

        emit_json(team_file_schema())

    app.add_typer(group, name="team")


def _print_problems(problems: "list[TeamProblem]") -> None:
    out = side()
    for problem in problems:
        place = f"{problem.where}: " if problem.where else ""
        style = "red" if problem.severity == "error" else "yellow"
        # A path and a caret must not be broken into two lines.
        out.print(printable(f"{problem.severity}: {place}{problem.message}"), style=style, markup=False, soft_wrap=True)
        for line in problem.details():
            out.print(printable(line), markup=False, soft_wrap=True)


def _problem_document(problem: "TeamProblem") -> dict[str, object]:
    return {
        "severity": problem.severity,
        "message": problem.message,
        "where": problem.where,
        "line": problem.line,
        "column": problem.column,
        "path": list(problem.path),
        "hint": problem.hint,
    }


def _size(team: "Team | None") -> dict[str, object]:
    if team is None:
        return {}
    return {"team": team.name, "agents": list(team.agents), "sections": list(team.sections)}


def _summary(team: "Team") -> str:
    agents, sections = len(team.agents), len(team.sections)
    return f"{agents} agent{'s' * (agents != 1)}, {sections} section{'s' * (sections != 1)}"
