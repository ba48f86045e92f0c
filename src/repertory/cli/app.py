"""The `repertory` command: its subcommands, and the one place where errors become exit codes."""

import importlib
import io
import os
import sys
import traceback
from importlib import metadata
from typing import Annotated, NoReturn

import typer

from repertory.cli.output import emit_json, error_document, print_error
from repertory.clock import system_clock
from repertory.errors import RepertoryError, UsageError
from repertory.home import locate_home

__all__ = ("build_app", "main")

_COMMANDS = (
    "demo",
    "doctor",
    "models",
    "run",
    "chat",
    "team",
    "blackboard",
    "trace",
    "resume",
    "compact",
    "build",
    "evaluate",
    "plan",
    "up",
    "serve",
    "agents",
    "keys",
)
"""Modules of `repertory.cli`, in the order of `--help`; each has `register(app)`."""


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"repertory {metadata.version('repertory')}")
        raise typer.Exit


VersionOption = Annotated[
    bool, typer.Option("--version", help="Print the version and leave.", is_eager=True, callback=_print_version)
]


def build_app() -> typer.Typer:
    """The whole command line."""
    app = typer.Typer(
        name="repertory",
        help="Teams of specialised agents on open models that you host yourself.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    )

    @app.callback()
    def options(version: VersionOption = False) -> None:
        del version

    for name in _COMMANDS:
        importlib.import_module(f"repertory.cli.{name}").register(app)
    return app


def main() -> NoReturn:
    """Run the command line and exit: 0 done, 1 failed, 2 bad usage, 130 interrupted."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that can not show a character must not end a turn
    try:
        build_app()()
    except SystemExit as stop:
        # Typer has told bad usage on stderr and left; what was wrong is in the error that it left with.
        words = getattr(stop.__context__, "format_message", None)
        if words is not None and "--json" in sys.argv:
            emit_json(error_document(UsageError(words())))
        raise
    except RepertoryError as error:
        print_error(error, as_json="--json" in sys.argv)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader of our output went away (`| head`); there is nobody left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:  # noqa: BLE001 - whatever it is, people get a sentence and a file, not a traceback
        print_error(_keep_traceback(error), as_json="--json" in sys.argv)
        sys.exit(1)
    sys.exit(0)


def _keep_traceback(error: Exception) -> RepertoryError:
    """Put the traceback of a mistake of ours where a report can quote it."""
    log = locate_home().logs / "crash.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a", encoding="utf-8") as file:
        file.write(f"{system_clock().isoformat()} repertory {' '.join(sys.argv[1:2])}\n")
        traceback.print_exception(error, file=file)
    message = f"a mistake in Repertory: {type(error).__name__}: {error}"
    return RepertoryError(message, hint=f"the traceback is in {log}; please report it")
