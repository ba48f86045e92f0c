"""The one typed stream of what happens in a turn.

The command line, the API and the dashboard all read this stream; the trace of a turn is the same events, kept.
Times are seconds since the turn began (`elapsed_s`) beside the wall clock (`at`, UTC).
"""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

__all__ = (
    "AgentDelta",
    "AgentFinished",
    "AgentFirstToken",
    "AgentProgress",
    "AgentQueued",
    "AgentRepair",
    "AgentStarted",
    "ContextCut",
    "EventBase",
    "HarnessFinished",
    "MergeDone",
    "NoticeShown",
    "PrefixComputed",
    "ReplyReady",
    "SafetyRouted",
    "SectionWritten",
    "TurnEvent",
    "TurnFinished",
    "TurnResumed",
    "TurnStarted",
    "event_adapter",
)


class EventBase(BaseModel):
    """What every event has: its turn, its place in the turn's stream, and when it happened."""

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_serialization_defaults_required=True)

    turn: str
    seq: int
    at: datetime
    elapsed_s: float


class TurnStarted(EventBase):
    """A person's message was taken up."""

    type: Literal["turn_started"] = "turn_started"
    team: str
    user: str
    session: str
    message: str
    agents: tuple[str, ...]


class TurnResumed(EventBase):
    """A turn that was cut off goes on; what these agents had written stands."""

    type: Literal["turn_resumed"] = "turn_resumed"
    resumes: int
    done: tuple[str, ...]


class SafetyRouted(EventBase):
    """The team's code took the turn away from the agents (crisis protocol)."""

    type: Literal["safety_routed"] = "safety_routed"
    level: str
    route: str
    reason: str


class NoticeShown(EventBase):
    """Fixed words of the team's code that come before the first reply."""

    type: Literal["notice_shown"] = "notice_shown"
    text: str


class PrefixComputed(EventBase):
    """The shared prefix of the turn's agents was computed once, before the fan-out."""

    type: Literal["prefix_computed"] = "prefix_computed"
    tokens: int
    cached: int
    seconds: float


class AgentQueued(EventBase):
    """An agent waits for sections of this turn."""

    type: Literal["agent_queued"] = "agent_queued"
    agent: str
    waits_for: tuple[str, ...]


class AgentStarted(EventBase):
    """An agent's request goes to its instance."""

    type: Literal["agent_started"] = "agent_started"
    agent: str
    instance: str
    attempt: int
    prompt_tokens: int


class AgentFirstToken(EventBase):
    """The first token of an agent's answer has arrived."""

    type: Literal["agent_first_token"] = "agent_first_token"
    agent: str
    attempt: int


class AgentDelta(EventBase):
    """Words for the person, as they stream."""

    type: Literal["agent_delta"] = "agent_delta"
    agent: str
    text: str


class AgentProgress(EventBase):
    """How far an agent that does not stream to the person has come."""

    type: Literal["agent_progress"] = "agent_progress"
    agent: str
    output_tokens: int


class AgentRepair(EventBase):
    """An answer was not usable; the agent is asked once more, with the problems shown."""

    type: Literal["agent_repair"] = "agent_repair"
    agent: str
    problems: tuple[str, ...]


class AgentFinished(EventBase):
    """An agent is done, failed, late or was skipped."""

    type: Literal["agent_finished"] = "agent_finished"
    agent: str
    status: Literal["done", "failed", "late", "skipped", "fallback"]
    reason: str | None = None
    attempts: int
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int


class HarnessFinished(EventBase):
    """A program that runs an agent has ended one call; tokens are those that the gateway counted for it."""

    type: Literal["harness_finished"] = "harness_finished"
    agent: str
    harness: Literal["claude-code", "acp", "command"]
    status: Literal["answered", "failed", "stopped"]
    seconds: float
    first_words_s: float | None = None
    """Seconds until its first words; None for one that wrote none."""
    requests: int
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int
    added_tokens: int
    """What it wrote into its latest request beside the agent's prompt (dates, instructions, tools): an upper bound."""
    added_sent: bool
    """Whether that went to the engine, behind the shared part; else it was left out."""
    shared_prefix: bool
    """Whether its latest prompt began with the turn's shared part."""


class SectionWritten(EventBase):
    """A section's new version is on the blackboard."""

    type: Literal["section_written"] = "section_written"
    section: str
    version: int
    agent: str


class ContextCut(EventBase):
    """Part of an agent's context did not fit its budget and was left out."""

    type: Literal["context_cut"] = "context_cut"
    agent: str
    part: str
    tokens: int


class MergeDone(EventBase):
    """The team's code has reconciled what the agents found."""

    type: Literal["merge_done"] = "merge_done"
    claims: int
    conflicts: int
    blocked_moves: tuple[str, ...]


class ReplyReady(EventBase):
    """One of the replies to the person is final."""

    type: Literal["reply_ready"] = "reply_ready"
    which: Literal["first", "full"]
    text: str


class TurnFinished(EventBase):
    """The turn is over."""

    type: Literal["turn_finished"] = "turn_finished"
    status: Literal["complete", "partial", "failed"]
    reason: str | None = None


TurnEvent = Annotated[
    TurnStarted
    | TurnResumed
    | SafetyRouted
    | NoticeShown
    | PrefixComputed
    | AgentQueued
    | AgentStarted
    | AgentFirstToken
    | AgentDelta
    | AgentProgress
    | AgentRepair
    | AgentFinished
    | HarnessFinished
    | SectionWritten
    | ContextCut
    | MergeDone
    | ReplyReady
    | TurnFinished,
    Field(discriminator="type"),
]

event_adapter: TypeAdapter[TurnEvent] = TypeAdapter(TurnEvent)
