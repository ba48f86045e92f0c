"""The engineering team as a team: its file, and what its agents may not do by themselves."""

from importlib.resources import files

from repertory.runtime.rules import Interception, TeamRules, TurnView
from repertory.runtime.team import Team
from repertory.runtime.team_file import parse_team

__all__ = ("EngineeringRules", "engineering_team", "open_team")


class EngineeringRules(TeamRules):
    """A turn alone builds nothing: without the runner's results the agents would only talk."""

    def intercept(self, view: TurnView) -> Interception | None:
        """Point to the command that carries a request through drafts, tests and release."""
        del view
        reply = "This team builds agents. Give it the request with `repertory build REQUEST`."
        return Interception(reply=reply, reason="a request is carried by `repertory build`")


def engineering_team() -> Team:
    """The team of `team.yaml`."""
    text = files("repertory.teams.engineering").joinpath("team.yaml").read_text(encoding="utf-8")
    return parse_team(text, file="engineering/team.yaml")


def open_team() -> tuple[Team, TeamRules]:
    """The team and its rules."""
    return engineering_team(), EngineeringRules()
