"""Write the reference pages from the code: `python -m docs.generate` (`--check` only compares, for tests)."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import typer
import typer.core
import typer.main

from repertory.cli.app import build_app
from repertory.engines.profiles.table import render_tables
from repertory.runtime import events
from repertory.runtime.team_file import team_file_schema

REFERENCE = Path(__file__).parent / "reference"
NOTE = "<!-- Written by `make docs` from the code; do not edit. -->\n\n"


def commands() -> str:
    """Every command with its help, as the terminal shows it."""
    root = typer.main.get_command(build_app())
    pages = ["# Commands\n\nEvery command takes `--help`. Exit codes: 0 done, 1 failed, 2 bad usage.\n"]

    def walk(command: object, path: str) -> None:
        if not isinstance(command, typer.core.TyperGroup | typer.core.TyperCommand):
            return
        context = command.context_class(command, info_name=path, max_content_width=110, terminal_width=110)
        pages.append(f"## {path}\n\n```text\n{command.get_help(context).strip()}\n```\n")
        if isinstance(command, typer.core.TyperGroup):
            for name in command.list_commands(context):
                walk(command.get_command(context, name), f"{path} {name}")

    walk(root, "repertory")
    return "\n".join(pages)


def team_file() -> str:
    """The JSON Schema of a team file."""
    schema = json.dumps(team_file_schema(), indent=2, ensure_ascii=False)
    return (
        "# Team file\n\n`repertory team check FILE` validates a file and names line and column of each mistake. "
        "Editors can use this JSON Schema; see [Your own team](../how-to/own-team.md) for a tour.\n\n"
        f"```json\n{schema}\n```\n"
    )


def event_types() -> str:
    """The types of events with their fields."""
    parts = [
        (
            "# Events\n\nThe one stream that the command line, the API and the trace share. Every event has `type`, "
            "`turn`, `seq` (1, 2, ... per turn), `at` (UTC) and `elapsed_s` (seconds since the turn began).\n"
        )
    ]
    for name in sorted(events.__all__):
        model = getattr(events, name)
        if not (isinstance(model, type) and issubclass(model, events.EventBase) and "type" in model.model_fields):
            continue
        fields = model.model_fields
        parts.append(f"## {fields['type'].default}\n\n{(model.__doc__ or '').strip()}\n")
        rows = [
            f"| `{field}` | `{_type_words(info.annotation)}` |"
            for field, info in fields.items()
            if field not in {"type", "turn", "seq", "at", "elapsed_s"}
        ]
        if rows:
            parts.append("\n".join(["| field | type |", "| --- | --- |", *rows]) + "\n")
    return "\n".join(parts)


def _type_words(annotation: object) -> str:
    words = getattr(annotation, "__name__", None) if isinstance(annotation, type) and not _args(annotation) else None
    return (words or str(annotation)).replace("typing.", "").replace("|", "\\|")


def _args(annotation: object) -> object:
    return getattr(annotation, "__args__", None)


def engines() -> str:
    """What each engine can do, from the profiles."""
    words = "What each engine does, as its profile says and `repertory doctor --engine-url URL` probes."
    return f"# Engines\n\n{words}\n\n{render_tables()}\n"


PAGES: dict[str, Callable[[], str]] = {
    "commands.md": commands,
    "team-file.md": team_file,
    "events.md": event_types,
    "engines.md": engines,
}


def stale() -> list[str]:
    """Names of pages that are not what the code says now."""
    return [
        name
        for name, page in PAGES.items()
        if not (REFERENCE / name).exists() or (REFERENCE / name).read_text(encoding="utf-8") != NOTE + page()
    ]


def main() -> None:
    if "--check" in sys.argv:
        if old := stale():
            sys.exit(f"out of date: {', '.join(old)}; run `make docs`")
        return
    REFERENCE.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (REFERENCE / name).write_text(NOTE + page(), encoding="utf-8")


if __name__ == "__main__":
    main()
