"""`/api/chat`: whom one can write to, and writing to a team, whose words come as events."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Header

from repertory.errors import RepertoryError
from repertory.runtime.turn_result import TurnResult
from repertory.server.agents.served_agents import PREFIX
from repertory.server.panel.build_desk import BUILDERS
from repertory.server.panel.failures import FAILURE, not_found
from repertory.server.panel.panel import Panel, panel_of
from repertory.server.panel.schema.agent_talk import ChatPartner, ChatPartners
from repertory.server.panel.schema.turns import ChatMessageIn, ChatStarted
from repertory.server.panel.visitor import Anyone, Visitor
from repertory.serving.gateway.wire_errors import GatewayError

__all__ = ("router",)

router = APIRouter(prefix="/api/chat", tags=["chat"], responses=FAILURE)
_PanelOf = Annotated[Panel, Depends(panel_of)]
_Key = Annotated[str | None, Header(alias="Idempotency-Key", min_length=1, max_length=200)]


@router.get("", operation_id="list_chat_partners")
async def list_chat_partners(panel: _PanelOf, visitor: Anyone) -> ChatPartners:
    """The teams, and the deployed agents that hold conversations, whom the caller may write to."""
    teams = [
        ChatPartner(name=name, kind="team", about=served.team.description)
        for name, served in panel.teams.items()
        if name != BUILDERS and visitor.may_use_team(name)
    ]
    found = [await _talking(panel, name) for name in await panel.agents.names() if _may_reach(visitor, name)]
    return ChatPartners(partners=[*teams, *(one for one in found if one is not None)])


@router.post("/{team}", operation_id="chat", status_code=202)
async def chat(
    team: str,
    body: ChatMessageIn,
    panel: _PanelOf,
    visitor: Anyone,
    idempotency_key: _Key = None,
) -> ChatStarted:
    """Write to a team. The answer comes at once; the words come as events of the turn (`GET /v1/events?turn=`).

    With an `Idempotency-Key` the same message is carried out once, however often it is sent.
    """
    _check_talks(panel, visitor, team)
    user = visitor.acts_for(body.user)
    if not body.message.strip():
        raise GatewayError("the message is empty", status=422, code="invalid_request")

    async def begin() -> ChatStarted:
        panel.gateway.admit(visitor.caller)
        begun = await panel.talk.begin(team, body.message, user=user, session=body.session)
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


def _may_reach(visitor: Visitor, name: str) -> bool:
    return visitor.may_use_agent(name.removeprefix(PREFIX))


async def _talking(panel: Panel, name: str) -> ChatPartner | None:
    """A deployed agent as somebody to write to; None when it does not talk, or can not answer now."""
    try:
        manifest = (await panel.agents.answering(name.removeprefix(PREFIX))).package.manifest
    except RepertoryError:
        return None
    return ChatPartner(name=name, kind="agent", about=manifest.purpose) if manifest.conversation else None


def _check_talks(panel: Panel, visitor: Visitor, name: str) -> None:
    """See that somebody may write to a team.

    Raises:
        GatewayError: They may not, or it does not talk.
    """
    if name == BUILDERS:
        message = f"the team {name!r} builds agents and does not talk"
        raise GatewayError(message, status=409, code="team_builds", hint="POST /api/builds")
    if name.startswith(PREFIX) and _may_reach(visitor, name):
        message = "this is no team but a deployed agent"
        raise GatewayError(message, status=409, code="not_a_team", hint="POST /api/agents/{name}/talk")
    if name not in panel.teams or not visitor.may_use_team(name):
        raise not_found("team", name)
