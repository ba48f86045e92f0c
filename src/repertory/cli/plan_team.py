"""The team that `repertory plan` is asked about: a built-in one, or a team file whose agents state their needs."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from repertory.planning.team_needs import TeamNeeds

__all__ = ("read_team_needs",)


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
    from repertory.teams.needs import needs_of_team

    return needs_of_team(load_team(Path(name)))
