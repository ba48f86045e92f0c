"""`/api/settings`: what pages begin with."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends

from repertory.server.panel.failures import FAILURE
from repertory.server.panel.panel import Panel, panel_of
from repertory.server.panel.schema.settings import ChangeSettings, Settings
from repertory.server.panel.visitor import Admin, Anyone

__all__ = ("router",)

router = APIRouter(prefix="/api/settings", tags=["settings"], responses=FAILURE)
_PanelOf = Annotated[Panel, Depends(panel_of)]


@router.get("", operation_id="get_settings")
async def get_settings(panel: _PanelOf, _: Anyone) -> Settings:
    """The settings of this installation."""
    return await asyncio.to_thread(panel.settings.read)


@router.put("", operation_id="change_settings")
async def change_settings(body: ChangeSettings, panel: _PanelOf, _: Admin) -> Settings:
    """Change the settings, all of them at once."""
    settings = Settings(country=body.country, language=body.language, theme=body.theme)
    await asyncio.to_thread(panel.settings.write, settings)
    return settings
