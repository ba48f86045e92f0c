"""`POST /api/agents/{name}/talk`: talk to a deployed agent; its words come as they are written."""

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Depends

from repertory.errors import RepertoryError
from repertory.registry.conversation import Message, ReplyDone, ReplyPart, ReplyText
from repertory.server.panel.event_hub import EventStream, frame
from repertory.server.panel.failures import FAILURE, error_body, not_found
from repertory.server.panel.panel import Panel, panel_of
from repertory.server.panel.schema.agent_talk import (
    AgentToolUsed,
    AgentWords,
    TalkEnded,
    TalkEvent,
    TalkFailed,
    TalkRequest,
)
from repertory.server.panel.schema.base import ErrorBody
from repertory.server.panel.visitor import Anyone, Visitor
from repertory.serving.gateway.wire_errors import GatewayError

__all__ = ("router",)

router = APIRouter(prefix="/api/agents", tags=["agents"])
_log = logging.getLogger(__name__)
_NOTHING = ReplyText("")


@router.post(
    "/{name}/talk",
    operation_id="talk_to_agent",
    response_class=EventStream,
    responses={200: {"model": TalkEvent, "description": "Each message's `data` is one TalkEvent"}, **FAILURE},
)
async def talk_to_agent(
    name: str, body: TalkRequest, panel: Annotated[Panel, Depends(panel_of)], visitor: Anyone
) -> EventStream:
    """Talk to a deployed agent that holds conversations. Leaving ends the reply."""
    if not visitor.may_use_agent(name):
        raise not_found("agent", name)
    user = visitor.acts_for(body.user)
    newest = body.messages[-1]
    if newest.role != "user" or not newest.text.strip():
        message = "the last message is to be the person's, and to say something"
        raise GatewayError(message, status=422, code="invalid_request")
    loaded = await panel.agents.answering(name)
    if not loaded.package.manifest.conversation:
        message = f"{name} has tools and does not talk"
        raise GatewayError(message, status=409, code="agent_does_not_talk", hint="call its tools")
    panel.gateway.admit(visitor.caller)
    said = [Message(one.role, one.text) for one in body.messages if one.text.strip()]
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return EventStream(_frames(panel, visitor, panel.agents.reply(name, said, user)), headers=headers)


async def _frames(panel: Panel, visitor: Visitor, parts: AsyncGenerator[ReplyPart]) -> AsyncGenerator[bytes]:
    try:
        async with aclosing(parts):
            async for part in parts:
                if isinstance(part, ReplyDone):
                    spent = part.prompt_tokens - part.cached_tokens + part.output_tokens
                    panel.gateway.spend(visitor.caller, spent)
                if part != _NOTHING:
                    yield _frame(_told(part))
    except RepertoryError as error:
        yield _frame(TalkFailed(error=error_body(error)))
    except Exception:  # noqa: BLE001 - the answer has begun, so that nobody else can tell the person
        _log.exception("a talk with an agent failed")
        message = "a mistake in the server; its log says more"
        yield _frame(TalkFailed(error=ErrorBody(type="internal", message=message, hint=None)))


def _told(part: ReplyPart) -> AgentWords | AgentToolUsed | TalkEnded:
    if isinstance(part, ReplyText):
        return AgentWords(text=part.text)
    if isinstance(part, ReplyDone):
        return TalkEnded(
            agent=part.version,
            status=part.status,
            reason=part.reason,
            prompt_tokens=part.prompt_tokens,
            cached_tokens=part.cached_tokens,
            output_tokens=part.output_tokens,
        )
    error = part.result.error
    return AgentToolUsed(tool=part.tool, problem=None if error is None else f"{error.type}: {error.message}")


def _frame(event: AgentWords | AgentToolUsed | TalkEnded | TalkFailed) -> bytes:
    return frame(event.type, event.model_dump_json())
