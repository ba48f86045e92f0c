"""`GET /v1/events`: everything that happens, as it happens."""

from collections.abc import AsyncGenerator
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request

from repertory.server.panel.event_hub import EventStream
from repertory.server.panel.event_stream import MOST_OF_A_KEY, MOST_STREAMS, Wanted, stream_events
from repertory.server.panel.failures import FAILURE
from repertory.server.panel.panel import Panel, panel_of
from repertory.server.panel.routes.turns import visible_turn
from repertory.server.panel.schema.events import StreamEvent
from repertory.server.panel.visitor import Anyone
from repertory.serving.gateway.wire_errors import GatewayError

__all__ = ("router",)

router = APIRouter(tags=["events"])
_Id = Annotated[str | None, Query(min_length=1, max_length=200)]


@router.get(
    "/v1/events",
    operation_id="get_events",
    response_class=EventStream,
    responses={200: {"model": StreamEvent, "description": "Each message's `data` is one StreamEvent"}, **FAILURE},
)
async def get_events(
    request: Request,
    panel: Annotated[Panel, Depends(panel_of)],
    visitor: Anyone,
    turn: _Id = None,
    team: _Id = None,
    user: _Id = None,
    build: _Id = None,
    last_event_id: Annotated[str | None, Header(max_length=200)] = None,
) -> EventStream:
    """Events as they happen: those of a turn or build (from its beginning), of a team, of a user, or all.

    Each has an `id`; a browser that lost the connection sends the last one back as `Last-Event-ID` and goes on from
    there, also after the server was started again. Where something is gone, a `reset` comes: fetch again what the page
    shows. Administrators see the load of everybody's turns, without the words of users that they may not read.
    """
    turn = turn or build
    if turn is not None:
        await visible_turn(panel, visitor, turn)
    if user is not None and not visitor.is_admin:
        visitor.check_reads(user)
    if team is not None:
        visitor.check_team(team)
    if panel.hub.listeners >= MOST_STREAMS:
        raise GatewayError("too many streams are open", status=503, code="too_many_streams", retry_after_s=10)
    key = visitor.caller.key_id
    if key and panel.hub.listeners_of(key) >= MOST_OF_A_KEY:
        raise GatewayError("this key has too many streams open", status=429, code="too_many_streams", retry_after_s=10)
    wanted = Wanted(turn=turn, team=team, user=user)
    stream: AsyncGenerator[bytes] = stream_events(request, panel, visitor, wanted, last_event_id)
    return EventStream(stream, headers={"cache-control": "no-store", "x-accel-buffering": "no"})
