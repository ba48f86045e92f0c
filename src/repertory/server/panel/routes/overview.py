"""`/api/overview`: the load."""

from typing import Annotated

from fastapi import APIRouter, Depends

from repertory.server.panel.failures import FAILURE
from repertory.server.panel.overview import read_overview
from repertory.server.panel.panel import Panel, panel_of
from repertory.server.panel.schema.overview import Overview
from repertory.server.panel.visitor import Anyone

__all__ = ("router",)

router = APIRouter(prefix="/api/overview", tags=["overview"], responses=FAILURE)


@router.get("", operation_id="get_overview")
async def get_overview(panel: Annotated[Panel, Depends(panel_of)], visitor: Anyone) -> Overview:
    """Instances, agents at work and sums; administrators see all of them, others what is theirs."""
    return await read_overview(panel, visitor)
