"""`repertory plan`, with `estimate` and `devices` beside it."""

import typer

from repertory.cli import devices, estimate

__all__ = ("register",)


def register(app: typer.Typer) -> None:
    """Add the commands of the planner."""
    estimate.register(app)
    devices.register(app)
