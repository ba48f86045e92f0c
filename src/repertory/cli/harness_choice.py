"""`--harness`: what runs the agents."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from repertory.home import locate_home
from repertory.runtime.harness.kinds import HarnessKind

if TYPE_CHECKING:
    from repertory.runtime.cast import Cast
    from repertory.runtime.harness.interface import Harness
    from repertory.runtime.team import Team

__all__ = ("HarnessOption", "needs_programs", "open_harness")

HarnessOption = Annotated[
    HarnessKind | None,
    typer.Option(
        "--harness",
        help="What runs all agents, instead of what the team says: Repertory itself, Claude Code, a program that "
        "speaks the Agent Client Protocol, or the team's own commands.",
    ),
]


def needs_programs(team: "Team") -> bool:
    """Whether any agent of a team is run by a program."""
    return any(agent.harness.kind is not HarnessKind.NATIVE for agent in team.agents.values())


@asynccontextmanager
async def open_harness(team: "Team", cast: "Cast") -> "AsyncGenerator[Harness]":
    """What runs a team's agents on a cast; a gateway is opened for programs only where there are any.

    Raises:
        RepertoryError: The place for programs can not be opened.
    """
    from repertory.runtime.harness.native import NativeHarness

    if not needs_programs(team):
        yield NativeHarness()
        return
    from repertory.server.harness_door import gateway_of, opened_harness

    gateway = gateway_of(cast)
    try:
        async with opened_harness(gateway, locate_home()) as harness:
            yield harness
    finally:
        await gateway.aclose()
