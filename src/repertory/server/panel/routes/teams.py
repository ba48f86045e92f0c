"""`/api/teams`: the served teams."""

from typing import Annotated

from fastapi import APIRouter, Depends

from repertory.runtime.schedule import derive_schedule
from repertory.runtime.team_document import team_document
from repertory.server.panel.build_desk import BUILDERS
from repertory.server.panel.failures import FAILURE, not_found
from repertory.server.panel.panel import Panel, panel_of
from repertory.server.panel.schema.teams import TeamDetail, TeamList, TeamSummary
from repertory.server.panel.visitor import Anyone

__all__ = ("router",)

router = APIRouter(prefix="/api/teams", tags=["teams"], responses=FAILURE)
_PanelOf = Annotated[Panel, Depends(panel_of)]


@router.get("", operation_id="list_teams")
async def list_teams(panel: _PanelOf, visitor: Anyone) -> TeamList:
    """The teams that the caller may use."""
    return TeamList(
        teams=[
            TeamSummary(
                team=name,
                description=served.team.description,
                agents=list(served.team.agents),
                builds=name == BUILDERS,
            )
            for name, served in panel.teams.items()
            if visitor.may_use_team(name)
        ]
    )


@router.get("/{team}", operation_id="get_team")
async def get_team(team: str, panel: _PanelOf, visitor: Anyone) -> TeamDetail:
    """A team's agents with what they read and write, and the schedule that follows."""
    served = panel.teams.get(team)
    if served is None or not visitor.may_use_team(team):
        raise not_found("team", team)
    code = served.rules.code_sections
    return TeamDetail.model_validate(team_document(served.team, derive_schedule(served.team, code), code))
