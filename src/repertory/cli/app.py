"""The `repertory` command: its subcommands, and the one place where errors become exit codes."""

import importlib
import os
import sys
from typing import NoReturn

import click
import typer

from repertory.cli.output import print_error, side
from repertory.errors import RepertoryError

__all__ = ("build_app", "main")

_COMMANDS = ("demo", "doctor", "models", "run", "chat", "team", "blackboard", "trace", "plan")
"""Modules of `repertory.cli`, in the order of `--help`; each has `register(app)`."""


def build_app() -> typer.Typer:
    """The whole command line."""
    app = typer.Typer(
        name="repertory",
        help="Teams of specialised agents on open models that you host yourself.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for name in _COMMANDS:
        importlib.import_module(f"repertory.cli.{name}").register(app)
    return app


def main() -> NoReturn:
    """Run the command line and exit: 0 done, 1 failed, 2 bad usage, 130 interrupted."""
    as_json = "--json" in sys.argv
    try:
        build_app()(standalone_mode=False)
    except RepertoryError as error:
        print_error(error, as_json=as_json)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show(file=sys.stderr)
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        side().print("interrupted")
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output went away (`| head`); there is nobody left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    sys.exit(0)
