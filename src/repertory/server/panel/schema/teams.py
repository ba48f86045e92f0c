"""Teams: their agents, what these read and write, and the schedule that follows."""

from typing import Literal

from repertory.server.panel.schema.base import Answer

__all__ = (
    "TeamAgent",
    "TeamDetail",
    "TeamList",
    "TeamRead",
    "TeamReplies",
    "TeamSchedule",
    "TeamSection",
    "TeamSummary",
)


class TeamSummary(Answer):
    """One served team."""

    team: str
    """Its name."""
    description: str
    agents: list[str]
    """Its agents, in the order of the team."""
    builds: bool
    """Whether it builds agents (POST /api/builds) in place of talking."""


class TeamList(Answer):
    """The teams that the caller may use."""

    teams: list[TeamSummary]


class TeamReplies(Answer):
    """The sections that the person reads."""

    first: str | None
    """The section that answers at once."""
    full: str | None
    """The section with the full reply."""


class TeamSection(Answer):
    """One section of the blackboard."""

    kind: Literal["text", "object"]
    description: str
    by: Literal["agent", "code"]
    """Who writes it."""


class TeamRead(Answer):
    """How an agent reads a section."""

    mode: Literal["fresh", "latest"]
    """`fresh` waits for this turn's version, `latest` takes the last one at once."""
    within_s: float | None
    """After so many seconds a fresh read stops waiting."""
    on_missing: str
    """What happens then: `latest`, `skip` or `fail`."""


class TeamAgent(Answer):
    """One agent of a team."""

    writes: str
    reads: dict[str, TeamRead]
    """Section -> how it is read."""
    max_output_tokens: int
    max_input_tokens: int | None
    waits_for: list[str]
    """The agents that must commit first."""
    step: int
    """Its column in the schedule, from 1."""
    priority: int
    """Lower is more urgent."""


class TeamSchedule(Answer):
    """The schedule that follows from the fresh reads."""

    steps: list[list[str]]
    """The agents of each step start together."""
    critical_path: list[str]


class TeamDetail(Answer):
    """A team, as `repertory team show --json` tells it."""

    team: str
    description: str
    replies: TeamReplies
    deadline_s: float
    """A turn ends after so many seconds, whatever is missing."""
    sections: dict[str, TeamSection]
    agents: dict[str, TeamAgent]
    schedule: TeamSchedule
