"""Deployed agents: their versions, what they are, and calls of their tools."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from repertory.server.panel.schema.base import Answer, JsonObject, Request

__all__ = (
    "AgentCall",
    "AgentCallAnswer",
    "AgentCallError",
    "AgentDetail",
    "AgentFile",
    "AgentHistory",
    "AgentHistoryEntry",
    "AgentList",
    "AgentRemoved",
    "AgentRow",
    "AgentState",
    "AgentTool",
    "AgentVersionRow",
    "Promote",
)

State = Literal["draft", "canary", "live", "retired"]


class AgentRow(Answer):
    """One agent in a list."""

    name: str
    live: str | None
    """The version that answers, `name@version`."""
    canary: str | None
    """The version that is being tried."""
    versions: int
    """How many there are."""
    purpose: str | None
    tools: list[str]
    problem: str | None
    """Why its package is not what was signed; null when it is."""


class AgentList(Answer):
    """The deployed agents."""

    agents: list[AgentRow]


class AgentTool(Answer):
    """One tool."""

    name: str
    description: str
    input_schema: JsonObject
    output_schema: JsonObject


class AgentVersionRow(Answer):
    """One version in a list."""

    agent: str
    """`name@version`."""
    version: int
    state: State
    created_at: datetime


class AgentDetail(Answer):
    """All about one version of an agent, as `repertory agents show --json` tells it."""

    name: str
    version: int
    agent: str
    """`name@version`."""
    state: State
    digest: str
    """SHA-256 over all files."""
    signed_by: str
    created_at: datetime
    purpose: str
    instructions: str
    conversation: bool
    """Whether people can talk to it."""
    tools: list[AgentTool]
    permissions: JsonObject
    needs: JsonObject | None
    limits: JsonObject
    assumptions: list[str]
    files: dict[str, int]
    """Path -> size in bytes."""
    evidence: JsonObject | None
    """How it was built and what showed that it works. It holds the words of whoever asked for the agent, so that it is
    null for everybody but them and administrators; the file that it stands in is then not listed either."""
    versions: list[AgentVersionRow]


class AgentFile(Answer):
    """One file of a package."""

    agent: str
    path: str
    text: str


class AgentHistoryEntry(Answer):
    """One thing that happened to an agent."""

    agent: str
    what: str
    detail: JsonObject
    """More about it, for administrators; empty for others."""
    at: datetime


class AgentHistory(Answer):
    """What happened to an agent, oldest first."""

    events: list[AgentHistoryEntry]


class Promote(Request):
    """A version that is to answer."""

    version: Annotated[int, Field(ge=1, le=999_999_999)]
    canary: bool = False
    """Only try it, beside the live one."""


class AgentState(Answer):
    """A version and its state now."""

    agent: str
    state: State


class AgentRemoved(Answer):
    """An agent that was removed."""

    removed: str
    versions: list[int]


class AgentCall(Request):
    """A call of a tool."""

    tool: Annotated[str, Field(min_length=1, max_length=100)]
    args: JsonObject = Field(default_factory=dict)
    """The arguments by name."""
    version: Annotated[int, Field(ge=1, le=999_999_999)] | None = None
    """Null takes the live one."""


class AgentCallError(Answer):
    """Why a call has no result."""

    type: str
    message: str


class AgentCallAnswer(Answer):
    """How a call ended: what the tool returned, or its error (which is an answer too, not a failed request)."""

    agent: str
    """Who answered: `name@version`."""
    result: object
    """What the tool returned; null when there is an error."""
    error: AgentCallError | None
    seconds: float
