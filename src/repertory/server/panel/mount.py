"""Adds the panel to the server's application."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.middleware import Middleware

from repertory.server.panel.body_limit import BodyLimit
from repertory.server.panel.failures import handle_failures
from repertory.server.panel.pages import mount_pages
from repertory.server.panel.panel import Panel
from repertory.server.panel.routes import (
    agent_talk,
    agents,
    blackboards,
    builds,
    chat,
    events,
    keys,
    models,
    overview,
    person_acts,
    plans,
    session,
    settings,
    teams,
    turns,
)
from repertory.server.panel.visitor import COOKIE

__all__ = ("add_panel_routes", "mount_panel")

_ROUTES = (
    session, overview, teams, turns, chat, events, blackboards, person_acts, builds, agents, agent_talk, plans, models,
    keys, settings,
)  # fmt: skip


def add_panel_routes(app: FastAPI) -> None:
    """Add the routes alone: enough to describe them."""
    for module in _ROUTES:
        app.include_router(module.router)
    own = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            _correct(own())
        return own()

    app.openapi = openapi


def _correct(document: dict[str, Any]) -> None:
    """Say what FastAPI can not know: how browsers are recognised, and that a stream's errors are JSON."""
    document["components"]["securitySchemes"]["session"] = {"type": "apiKey", "in": "cookie", "name": COOKIE}
    document["security"].append({"session": []})
    for path, method in (("/v1/events", "get"), ("/api/agents/{name}/talk", "post")):
        answers = document["paths"][path][method]["responses"]
        answers["200"]["content"]["text/event-stream"]["schema"].pop("type", None)
        answers["default"]["content"] = {"application/json": answers["default"]["content"].pop("text/event-stream")}


def mount_panel(app: FastAPI, panel: Panel) -> None:
    """Answer the panel's requests, and give its pages to browsers."""
    app.state.panel = panel
    add_panel_routes(app)
    handle_failures(app)
    mount_pages(app)
    app.user_middleware.append(Middleware(BodyLimit))
    inner = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(application: FastAPI) -> AsyncGenerator[None]:
        async with inner(application), panel.open():
            yield

    app.router.lifespan_context = lifespan
