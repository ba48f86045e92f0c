"""Turns: what happened in one, who waited for whom, and why something was said."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from repertory.runtime.events import TurnEvent
from repertory.runtime.timeline_records import AgentStatus
from repertory.server.panel.schema.base import Answer, JsonObject, Request

__all__ = (
    "ChatMessageIn",
    "ChatStarted",
    "TraceAgent",
    "TraceCut",
    "TracePrefix",
    "TraceProgram",
    "TraceRepair",
    "TraceTokens",
    "TraceTry",
    "TurnAgentTiming",
    "TurnCancelled",
    "TurnDetail",
    "TurnMessage",
    "TurnPage",
    "TurnSummary",
    "TurnTiming",
    "WhyRecord",
)

TurnStatus = Literal["running", "complete", "partial", "failed", "interrupted"]


class ChatMessageIn(Request):
    """A message for a team."""

    message: Annotated[str, Field(min_length=1, max_length=100_000)]
    """What the person writes."""
    user: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """Whose blackboard; null takes the caller's own."""
    session: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """The session to continue; null starts a new one."""


class ChatStarted(Answer):
    """A turn that runs; its words come as events (`GET /v1/events?turn=`)."""

    turn: str
    session: str
    user: str


class TurnSummary(Answer):
    """One turn in a list."""

    id: str
    team: str
    user: str
    session: str
    number: int
    """1, 2 ...: counted per user and team."""
    status: TurnStatus
    safety: str
    """The safety level that the team's code gave it."""
    started_at: datetime
    finished_at: datetime | None
    resumes: int
    """How often it was taken up again."""


class TurnPage(Answer):
    """Turns, the newest first."""

    turns: list[TurnSummary]
    before: str | None
    """Give it as `before` to get the turns before these; null when there are none."""


class TraceTry(Answer):
    """One request of an agent to its instance. Times are seconds since the turn began."""

    number: int
    instance: str
    start_s: float
    prompt_tokens: int
    first_token_s: float | None
    end_s: float | None


class TraceRepair(Answer):
    """An answer that was not usable."""

    at_s: float
    problems: list[str]


class TraceCut(Answer):
    """A part of an agent's context that did not fit its budget."""

    part: str
    tokens: int


class TraceProgram(Answer):
    """A call of the program that runs an agent, where another harness than Repertory's own does."""

    harness: str
    status: str
    seconds: float
    requests: int
    """What it asked of the instance."""
    added_tokens: int
    """What it added to the agent's prompt; an upper bound."""
    added_sent: bool
    """Whether that went to the engine; else it was left out."""
    shared_prefix: bool
    """Whether its latest prompt began with what the turn's agents share."""


class TraceAgent(Answer):
    """What one agent did in the turn. Times are seconds since the turn began."""

    status: AgentStatus
    reason: str | None
    queued_s: float | None
    start_s: float | None
    first_token_s: float | None
    end_s: float | None
    attempts: int
    prompt_tokens: int
    cached_tokens: int
    prefill_tokens: int
    output_tokens: int
    waits_for: list[str]
    """The sections it waited for."""
    section: str | None
    version: int | None
    written_s: float | None
    tries: list[TraceTry]
    repairs: list[TraceRepair]
    cuts: list[TraceCut]
    programs: list[TraceProgram]


class TracePrefix(Answer):
    """The computation of the shared prefix."""

    start_s: float
    end_s: float
    tokens: int
    cached_tokens: int
    prefill_tokens: int


class TraceTokens(Answer):
    """Tokens of the whole turn."""

    prefill: int
    cached: int
    output: int


class TurnAgentTiming(Answer):
    """When an agent did what, in seconds since the turn began."""

    queued_s: float | None
    start_s: float | None
    first_token_s: float | None
    end_s: float | None
    attempts: int


class TurnTiming(Answer):
    """The turn's times, in seconds since it began."""

    first_token_s: float | None
    first_reply_s: float | None
    reply_s: float | None
    overhead_s: float
    """Time in which nothing was asked of any engine."""
    agents: dict[str, TurnAgentTiming]


class TurnMessage(Answer):
    """One message of the turn."""

    id: str
    role: Literal["person", "team"]
    text: str
    at: datetime


class WhyRecord(Answer):
    """What a claim of the turn rests on."""

    what: str
    """The claim."""
    by: str
    """The agent, `code` or `person`."""
    where: str
    note: str
    evidence: dict[str, str]
    """Message id -> what the person wrote there; empty text when it is gone."""


class TurnDetail(Answer):
    """A turn with its timeline (as `repertory trace --json`), its events, messages, result and reasons."""

    turn: str
    team: str
    user: str
    session: str
    number: int
    status: TurnStatus
    reason: str | None
    """Why it is not complete."""
    safety: str
    safety_level: str | None
    """The level that took the turn away from the agents; null when it was not."""
    started_at: datetime
    finished_at: datetime | None
    cancellable: bool
    """Whether it runs in this server, so that it can be cancelled."""
    first_token_s: float | None
    first_reply_s: float | None
    reply_s: float | None
    end_s: float
    overhead_s: float
    agents: dict[str, TraceAgent]
    prefix: TracePrefix | None
    claims: int
    conflicts: int
    blocked_moves: list[str]
    code_sections: dict[str, int]
    """Sections that the team's code wrote, with their versions."""
    tokens: TraceTokens
    timing: TurnTiming
    events: list[TurnEvent]
    unread_events: int
    """Events that this version of Repertory does not know."""
    withheld: bool
    """True where the caller may see the load but not the words: messages, replies, result and reasons are left out."""
    messages: list[TurnMessage]
    first_reply: str | None
    reply: str | None
    result: JsonObject | None
    """The document of `repertory run --json` (of a build: of `repertory build --json`) without its events; null while
    the turn runs."""
    why: list[WhyRecord]


class TurnCancelled(Answer):
    """A turn that was told to end."""

    turn: str
    status: TurnStatus
