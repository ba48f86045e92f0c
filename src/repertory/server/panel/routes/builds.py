"""`/api/builds`: builds of the engineering team."""

import asyncio
from typing import Annotated, Any, cast

from fastapi import APIRouter, Depends, Query

from repertory.runtime.trace import read_trace
from repertory.server.panel.build_desk import BUILDERS
from repertory.server.panel.failures import FAILURE, not_found
from repertory.server.panel.panel import Panel, panel_of
from repertory.server.panel.routes.turns import visible_turn
from repertory.server.panel.schema.base import JsonObject
from repertory.server.panel.schema.builds import (
    BuildDetail,
    BuildList,
    BuildRequest,
    BuildStarted,
    BuildStep,
    BuildSummary,
    BuildTests,
)
from repertory.server.panel.visitor import Anyone, Visitor
from repertory.serving.gateway.wire_errors import GatewayError
from repertory.storage.records import Turn
from repertory.storage.store import Store
from repertory.teams.engineering.build_result import steps_of

__all__ = ("router",)

router = APIRouter(prefix="/api/builds", tags=["builds"], responses=FAILURE)
_PanelOf = Annotated[Panel, Depends(panel_of)]


@router.post("", operation_id="build", status_code=202)
async def build(body: BuildRequest, panel: _PanelOf, visitor: Anyone) -> BuildStarted:
    """Let the nine agents specify, write, test, review and release a new agent; one build at a time."""
    visitor.check_team(BUILDERS)
    user = visitor.acts_for(body.user)
    if not body.request.strip():
        raise GatewayError("the request is empty", status=422, code="invalid_request")
    panel.gateway.admit(visitor.caller)
    begun = await panel.builds.begin(body.request, body.contract, user=user, budget_minutes=body.budget_minutes)
    return BuildStarted(build=begun.turn, user=user)


@router.get("", operation_id="list_builds")
async def list_builds(panel: _PanelOf, visitor: Anyone, limit: Annotated[int, Query(ge=1, le=200)] = 50) -> BuildList:
    """Builds, the newest first: everybody's for administrators, the caller's own for others."""
    visitor.check_team(BUILDERS)

    def read() -> tuple[list[BuildSummary], str | None]:
        turns = panel.store.turns.page(BUILDERS, None if visitor.is_admin else visitor.user, limit=limit)
        return [_summary(panel.store, visitor, turn) for turn in turns], panel.builds.why_not()

    builds, reason = await asyncio.to_thread(read)
    return BuildList(builds=builds, running=panel.builds.current, available=reason is None, reason=reason)


@router.get("/{build}", operation_id="get_build")
async def get_build(build: str, panel: _PanelOf, visitor: Anyone) -> BuildDetail:
    """A build: what was asked for, who did what, what came of it."""
    turn = await _build(panel, visitor, build)
    return await asyncio.to_thread(_detail, panel, visitor, turn)


@router.post("/{build}/cancel", operation_id="cancel_build", status_code=202)
async def cancel_build(build: str, panel: _PanelOf, visitor: Anyone) -> BuildSummary:
    """End a build that runs in this server; it counts as not built."""
    turn = await _build(panel, visitor, build)
    visitor.acts_for(turn.user)
    if panel.builds.current != build:
        message = "the build does not run in this server"
        raise GatewayError(message, status=409, code="not_running", hint="it may have ended already")
    await panel.builds.cancel(build)
    now = await asyncio.to_thread(panel.store.turns.get, build)
    return await asyncio.to_thread(_summary, panel.store, visitor, now or turn)


async def _build(panel: Panel, visitor: Visitor, build: str) -> Turn:
    turn = await visible_turn(panel, visitor, build)
    if turn.team != BUILDERS:
        raise not_found("build", build)
    return turn


def _result(store: Store, turn: Turn) -> JsonObject:
    result = store.turns.result(turn.id)
    return cast("JsonObject", result) if isinstance(result, dict) else {}


def _status(turn: Turn, result: JsonObject) -> Any:
    if turn.status in {"running", "interrupted"}:
        return turn.status
    status = result.get("status")
    return status if status in {"built", "not_built", "refused"} else "failed"


def _summary(store: Store, visitor: Visitor, turn: Turn) -> BuildSummary:
    result = _result(store, turn)
    return BuildSummary(
        build=turn.id,
        user=turn.user,
        status=_status(turn, result),
        agent=result.get("agent"),
        why=result.get("why") if visitor.may_read(turn.user) else None,
        started_at=turn.started_at,
        finished_at=turn.finished_at,
    )


def _detail(panel: Panel, visitor: Visitor, turn: Turn) -> BuildDetail:
    store = panel.store
    result, readable = _result(store, turn), visitor.may_read(turn.user)
    tests: Any = result.get("tests")
    events = panel.hub.log.events(turn.id) or read_trace(store, turn).events
    return BuildDetail(
        build=turn.id,
        user=turn.user,
        status=_status(turn, result),
        agent=result.get("agent"),
        why=result.get("why") if readable else None,
        started_at=turn.started_at,
        finished_at=turn.finished_at,
        cancellable=panel.builds.current == turn.id,
        request=_request(store, turn) if readable else None,
        tools=list(result.get("tools") or ()) if readable else [],
        tests=BuildTests.model_validate(tests) if isinstance(tests, dict) else None,
        candidates=result.get("candidates"),
        tokens=result.get("tokens"),
        seconds=result.get("seconds"),
        steps=[BuildStep.model_validate(step) for step in steps_of(events)],
        sections=_sections(store, turn) if readable else {},
    )


def _request(store: Store, turn: Turn) -> str | None:
    session = store.sessions.find(turn.team, turn.user, turn.session)
    messages = store.messages.messages(session) if session is not None else []
    return next((message.text for message in messages if message.turn == turn.id and message.role == "person"), None)


def _sections(store: Store, turn: Turn) -> dict[str, JsonObject]:
    return {
        version.section: {"value": version.value, "agent": version.agent, "version": version.version}
        for version in store.blackboard(turn.team, turn.user).history()
        if version.turn == turn.id
    }
