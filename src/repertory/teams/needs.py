"""What the planner has to know of a team of one's own."""

from repertory.errors import UsageError
from repertory.planning.needs import AgentWork
from repertory.planning.team_needs import TeamNeeds
from repertory.runtime.team import ReadMode, Team

__all__ = ("needs_of_team",)


def needs_of_team(team: Team) -> TeamNeeds:
    """A team's needs and work, from what its agents state and how they read each other.

    Raises:
        UsageError: An agent states no needs.
    """
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
