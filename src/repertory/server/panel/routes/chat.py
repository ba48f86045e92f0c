"""`POST /api/chat/{team}`: write to a team; its words come as events."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Header

from repertory.runtime.turn_result import TurnResult
from repertory.server.panel.build_desk import BUILDERS
from repertory.server.panel.failures import FAILURE, not_found
from repertory.server.panel.panel import Panel, panel_of
from repertory.server.panel.schema.turns import ChatMessageIn, ChatStarted
from repertory.server.panel.talk import TalkPartners
from repertory.server.panel.visitor import Anyone, Visitor
from repertory.serving.gateway.wire_errors import GatewayError

__all__ = ("router",)

router = APIRouter(prefix="/api/chat", tags=["chat"], responses=FAILURE)
_Key = Annotated[str | None, Header(alias="Idempotency-Key", min_length=1, max_length=200)]


@router.post("/{team}", operation_id="chat", status_code=202)
async def chat(
    team: str,
    body: ChatMessageIn,
    panel: Annotated[Panel, Depends(panel_of)],
    visitor: Anyone,
    idempotency_key: _Key = None,
) -> ChatStarted:
    """Write to a team. The answer comes at once; the words come as events of the turn (`GET /v1/events?turn=`).

    With an `Idempotency-Key` the same message is carried out once, however often it is sent.
    """
    partners = _partners(panel, visitor, team)
    user = visitor.acts_for(body.user)
    if not body.message.strip():
        raise GatewayError("the message is empty", status=422, code="invalid_request")

    async def begin() -> ChatStarted:
        panel.gateway.admit(visitor.caller)
        begun = await partners.begin(team, body.message, user=user, session=body.session)
        begun.task.add_done_callback(lambda task: _spend(panel, visitor, task))
        return ChatStarted(turn=begun.turn, session=begun.session, user=user)

    who = "\0".join((visitor.caller.key_id, team, user))  # no id holds a NUL
    return await panel.once.carry(who, idempotency_key, body.model_dump_json(), begin)


def _spend(panel: Panel, visitor: Visitor, task: "asyncio.Task[object]") -> None:
    """Take a turn's tokens off the limit of the key, as the gateway does for its own."""
    if task.cancelled() or task.exception() is not None:
        return
    result = task.result()
    if isinstance(result, TurnResult):
        panel.gateway.spend(visitor.caller, result.tokens.prefill + result.tokens.output)


def _partners(panel: Panel, visitor: Visitor, name: str) -> TalkPartners:
    """Who answers for a name.

    Raises:
        GatewayError: Nobody whom the caller may write to.
    """
    if name == BUILDERS:
        message = f"the team {name!r} builds agents and does not talk"
        raise GatewayError(message, status=409, code="team_builds", hint="POST /api/builds")
    if name in panel.teams and visitor.may_use_team(name):
        return panel.talk
    for partners in panel.partners:
        if name in partners.names and visitor.may_use_agent(name.removeprefix("agent:")):
            return partners
    raise not_found("team or agent", name)
