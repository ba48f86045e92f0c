"""How every command talks: JSON or words on stdout, progress and errors on stderr, and the exit code."""

import json
import sys
from typing import Annotated

import typer
from rich.console import Console

from repertory.cli.safe_text import printable
from repertory.errors import RepertoryError

__all__ = ("JsonOption", "emit_json", "error_document", "print_error", "screen", "side")

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else there.")]


def screen() -> Console:
    """The console for what a command was asked for (stdout)."""
    return Console(highlight=False, soft_wrap=not sys.stdout.isatty())


def side() -> Console:
    """The console for progress, logs and errors (stderr)."""
    return Console(stderr=True, highlight=False)


def emit_json(document: object) -> None:
    """Print one JSON document on stdout. Unicode is kept; lone surrogates become the replacement character."""
    text = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)
    sys.stdout.buffer.write(text.encode("utf-8", "replace") + b"\n")
    sys.stdout.flush()


def print_error(error: RepertoryError, *, as_json: bool) -> None:
    """Tell an error in words on stderr and, with `--json`, as the document on stdout."""
    console = side()
    place = f"{error.where}: " if error.where else ""
    console.print(printable(f"error: {place}{error.message}"), style="red", markup=False)
    if error.hint:
        console.print(printable(f"  {error.hint}"), markup=False)
    if as_json:
        emit_json(error_document(error))


def error_document(error: RepertoryError) -> dict[str, object]:
    """The document that stands on stdout, with `--json`, in place of the result."""
    kind = type(error).__name__
    return {"error": {"type": kind, "message": error.message, "where": error.where, "hint": error.hint}}
