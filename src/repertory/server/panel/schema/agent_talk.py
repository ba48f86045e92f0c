"""Whom people can write to, and talks with deployed agents."""

from typing import Annotated, Literal

from pydantic import Field, RootModel

from repertory.server.panel.schema.base import Answer, ErrorBody, Request

__all__ = (
    "AgentToolUsed",
    "AgentWords",
    "ChatPartner",
    "ChatPartners",
    "TalkEnded",
    "TalkEvent",
    "TalkFailed",
    "TalkMessage",
    "TalkRequest",
)


class ChatPartner(Answer):
    """Somebody whom the caller can write to."""

    name: str
    """Its name in requests: of a team as it is, of a deployed agent `agent:NAME`."""
    kind: Literal["team", "agent"]
    """Write to a team with `POST /api/chat/{team}`, to an agent with `POST /api/agents/{name}/talk`."""
    about: str
    """What it is for."""


class ChatPartners(Answer):
    """Everybody whom the caller can write to: teams first, then agents."""

    partners: list[ChatPartner]


class TalkMessage(Request):
    """Something that was said."""

    role: Literal["user", "assistant"]
    """The person, or the agent."""
    text: Annotated[str, Field(max_length=100_000)]


class TalkRequest(Request):
    """A talk with a deployed agent until now. It is kept nowhere, so that all of it is sent each time."""

    messages: Annotated[list[TalkMessage], Field(min_length=1, max_length=500)]
    """The newest message of the person comes last."""
    user: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """Who talks, for what the agent keeps of each user; null takes the caller's own."""


class AgentWords(Answer):
    """Words of the agent, as they come."""

    type: Literal["words"] = "words"
    text: str


class AgentToolUsed(Answer):
    """The agent called one of its tools."""

    type: Literal["tool_used"] = "tool_used"
    tool: str
    problem: str | None
    """Why there is no result; null when there is one."""


class TalkEnded(Answer):
    """The reply is over."""

    type: Literal["ended"] = "ended"
    agent: str
    """Who replied: `name@version`."""
    status: Literal["complete", "partial", "failed"]
    reason: str | None
    """Why it is not complete."""
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int


class TalkFailed(Answer):
    """There is no reply, or no more of it."""

    type: Literal["failed"] = "failed"
    error: ErrorBody


TalkEventUnion = Annotated[AgentWords | AgentToolUsed | TalkEnded | TalkFailed, Field(discriminator="type")]


class TalkEvent(RootModel[TalkEventUnion]):
    """One message of a reply's stream; the last is `ended` or `failed`."""
