"""`/api/turns`: what happened, who waited for whom, and why."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any, cast

from fastapi import APIRouter, Depends, Query

from repertory.runtime.events import TurnEvent
from repertory.runtime.timeline import build_timeline
from repertory.runtime.trace import Trace, read_trace
from repertory.server.panel.build_desk import BUILDERS
from repertory.server.panel.failures import FAILURE, not_found
from repertory.server.panel.panel import Panel, panel_of
from repertory.server.panel.schema.turns import (
    TurnCancelled,
    TurnDetail,
    TurnMessage,
    TurnPage,
    TurnSummary,
    WhyRecord,
)
from repertory.server.panel.visitor import Anyone, Visitor
from repertory.server.panel.withheld import without_words
from repertory.serving.gateway.wire_errors import GatewayError
from repertory.storage.records import Turn
from repertory.storage.store import Store
from repertory.teams.coaching.why import turn_reasons

__all__ = ("router", "visible_turn")

router = APIRouter(prefix="/api/turns", tags=["turns"], responses=FAILURE)
_PanelOf = Annotated[Panel, Depends(panel_of)]
_Id = Annotated[str | None, Query(min_length=1, max_length=200)]


@router.get("", operation_id="list_turns")
async def list_turns(
    panel: _PanelOf,
    visitor: Anyone,
    team: _Id = None,
    user: _Id = None,
    session: _Id = None,
    before: _Id = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> TurnPage:
    """Turns, the newest first: of everybody for administrators, of the caller's own user for others."""
    if not visitor.is_admin:
        if user is not None:
            visitor.check_reads(user)
        user = user or visitor.user
    if team is not None:
        visitor.check_team(team)
    found = await asyncio.to_thread(panel.store.turns.page, team, user, session=session, before=before, limit=limit + 1)
    shown = [turn for turn in found[:limit] if visitor.may_use_team(turn.team)]
    return TurnPage(
        turns=[_summary(turn) for turn in shown], before=found[limit - 1].id if len(found) > limit else None
    )


@router.get("/{turn}", operation_id="get_turn")
async def get_turn(turn: str, panel: _PanelOf, visitor: Anyone) -> TurnDetail:
    """A turn as a timeline, with its events, messages, result and reasons.

    Administrators see the load of everybody's turns; the words only where they may read that user's.
    """
    found = await visible_turn(panel, visitor, turn)
    live = panel.hub.log.events(turn) if panel.talk.running.find(turn) is not None else None
    return await asyncio.to_thread(_detail, panel, visitor, found, live)


@router.post("/{turn}/cancel", operation_id="cancel_turn", status_code=202)
async def cancel_turn(turn: str, panel: _PanelOf, visitor: Anyone) -> TurnCancelled:
    """End a turn that runs in this server. What its agents have written stands; the turn counts as failed."""
    found = await visible_turn(panel, visitor, turn)
    visitor.acts_for(found.user)
    if panel.talk.running.find(turn) is None:
        message = "the turn does not run in this server"
        raise GatewayError(message, status=409, code="not_running", hint="it may have ended already")
    if found.team == BUILDERS:
        await panel.builds.cancel(turn)
    else:
        await panel.talk.running.cancel(turn)
    now = await asyncio.to_thread(panel.store.turns.get, turn)
    return TurnCancelled(turn=turn, status=now.status if now is not None else "failed")


async def visible_turn(panel: Panel, visitor: Visitor, turn: str) -> Turn:
    """A turn that the caller may see, with its words or without.

    Raises:
        GatewayError: There is none.
    """
    found = await asyncio.to_thread(panel.store.turns.get, turn)
    if found is None or not visitor.may_use_team(found.team):
        raise not_found("turn", turn)
    if not (visitor.is_admin or visitor.may_read(found.user)):
        raise not_found("turn", turn)
    return found


def _summary(turn: Turn) -> TurnSummary:
    return TurnSummary(
        id=turn.id, team=turn.team, user=turn.user, session=turn.session, number=turn.number, status=turn.status,
        safety=turn.safety, started_at=turn.started_at, finished_at=turn.finished_at, resumes=turn.resumes,
    )  # fmt: skip


def _detail(panel: Panel, visitor: Visitor, turn: Turn, live: Sequence[TurnEvent] | None) -> TurnDetail:
    store = panel.store
    trace = read_trace(store, turn) if live is None else Trace(turn, live, 0, build_timeline(live))
    readable = visitor.may_read(turn.user)
    result = store.turns.result(turn.id) if readable else None
    document: dict[str, Any] = cast("dict[str, Any]", result) if isinstance(result, dict) else {}
    told = trace.document()
    if not readable:
        told = _without_words(told)
    events = trace.events if readable else [bare for event in trace.events if (bare := without_words(event))]
    for unused in ("status", "events"):
        told.pop(unused)
    return TurnDetail.model_validate(
        {
            **told,
            "status": turn.status,
            "cancellable": panel.talk.running.find(turn.id) is not None,
            "events": events,
            "withheld": not readable,
            "messages": _messages(store, turn) if readable else [],
            "first_reply": document.get("first_reply"),
            "reply": document.get("reply"),
            "result": {key: value for key, value in document.items() if key != "events"} if document else None,
            "why": _why(store, turn) if readable else [],
        }
    )


def _without_words(told: dict[str, Any]) -> dict[str, Any]:
    """The timeline's numbers; reasons, problems and moves may quote people."""
    agents: dict[str, Any] = {
        name: {**row, "reason": None, "repairs": [{**repair, "problems": []} for repair in row["repairs"]]}
        for name, row in told["agents"].items()
    }
    return {**told, "reason": None, "blocked_moves": [], "agents": agents, "safety": "", "safety_level": None}


def _messages(store: Store, turn: Turn) -> list[TurnMessage]:
    session = store.sessions.find(turn.team, turn.user, turn.session)
    if session is None:
        return []
    return [
        TurnMessage(id=message.id, role=message.role, text=message.text, at=message.at)
        for message in store.messages.messages(session)
        if message.turn == turn.id
    ]


def _why(store: Store, turn: Turn) -> list[WhyRecord]:
    return [
        WhyRecord(what=reason.what, by=reason.by, where=reason.where, note=reason.note, evidence=dict(reason.evidence))
        for reason in turn_reasons(store, turn)
    ]
