"""The team that `repertory plan` is asked about: a built-in one, or a team file whose agents state their needs."""

from typing import TYPE_CHECKING

from repertory.errors import UsageError

if TYPE_CHECKING:
    from repertory.planning.team_needs import TeamNeeds
    from repertory.runtime.team import Team

__all__ = ("needs_of_team", "read_team_needs")


def read_team_needs(name: str) -> "TeamNeeds":
    """The needs of a built-in team, or of a team file.

    Raises:
        UsageError: There is no such team, or no agent of the file states needs.
    """
    from pathlib import Path

    from repertory.planning.team_needs import team_needs

    if not name.endswith((".yaml", ".yml")):
        return team_needs(name)
    from repertory.runtime.team_file import load_team

    return needs_of_team(load_team(Path(name)))


def needs_of_team(team: "Team") -> "TeamNeeds":
    """A team's needs and work, from what its agents state and how they read each other."""
    from repertory.planning.needs import AgentWork
    from repertory.planning.team_needs import TeamNeeds
    from repertory.runtime.team import ReadMode

    missing = [name for name, agent in team.agents.items() if agent.needs is None]
    if missing:
        msg = f"These agents state no needs: {', '.join(missing)}."
        raise UsageError(msg, hint="Give each agent `needs: {benchmarks: {ifeval: {weight: 1}}}`.")
    writers = {agent.writes: name for name, agent in team.agents.items()}
    work = {
        name: AgentWork(
            output_tokens=agent.max_output_tokens,
            after=tuple(
                writers[section]
                for section, read in agent.reads.items()
                if read.mode is ReadMode.FRESH and section in writers and writers[section] != name
            ),
        )
        for name, agent in team.agents.items()
    }
    names = list(team.agents)
    first = writers.get(team.replies.first or "", names[0])
    full = writers.get(team.replies.full or "", names[-1])
    needs = {name: agent.needs for name, agent in team.agents.items() if agent.needs is not None}
    return TeamNeeds(team.name, needs, work, first, full)
