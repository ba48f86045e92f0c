"""The records that storage hands out and takes in. All times are UTC."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

__all__ = (
    "AgentResult",
    "AppliedChange",
    "Commitment",
    "CommitmentChange",
    "Message",
    "Outcome",
    "Resumption",
    "SectionVersion",
    "Session",
    "SessionSummary",
    "Step",
    "StoredEvent",
    "Turn",
    "TurnStatus",
)

Outcome = Literal["open", "kept", "partly", "missed", "dropped"]
"""`partly` counts as not kept wherever a probability is counted or scored."""

TurnStatus = Literal["running", "complete", "partial", "failed", "interrupted"]
"""`interrupted`: the process that carried the turn is gone and the turn never ended."""


@dataclass(frozen=True)
class Message:
    """One message of a session.

    Attributes:
        id: `m1`, `m2` ...: counted per user and team, so that evidence can name messages of any session.
        role: Who wrote it: the person, or the team (first reply and full reply together).
        text: What was written, exactly.
        turn: The turn it belongs to.
        session: The session it belongs to.
        at: When.
    """

    id: str
    role: Literal["person", "team"]
    text: str
    turn: str
    session: str
    at: datetime


@dataclass(frozen=True)
class Session:
    """A conversation of one user with one team.

    Attributes:
        id: The session's id, unique per user and team.
        team: The team's name.
        user: The user's id.
        number: 1 for the user's first session with this team.
        started_at: When.
        memory: The memory snapshot, frozen when the session started.
    """

    id: str
    team: str
    user: str
    number: int
    started_at: datetime
    memory: str


@dataclass(frozen=True)
class SectionVersion:
    """One committed version of a section.

    Attributes:
        section: The section's name.
        version: 1, 2, ... per user, team and section.
        value: The JSON value.
        turn: The turn that wrote it; empty when the person did, outside of any turn.
        agent: The agent, `code` or `person` that wrote it.
        evidence: Ids of the messages it rests on.
        at: When.
        turn_number: The turn's number (`Turn.number`), so that the age of a version can be told in turns.
    """

    section: str
    version: int
    value: Any
    turn: str
    agent: str
    evidence: tuple[str, ...]
    at: datetime
    turn_number: int = 0


@dataclass(frozen=True)
class Commitment:
    """Something the person said they would do.

    Attributes:
        id: `k1`, `k2` ...: counted per user and team.
        what: What, in few words.
        when: When, in the person's words; empty when they did not say.
        due: When its outcome can be known; None when that is unclear.
        p: Predicted probability that it is kept, 0..1; None when none was made.
        outcome: What became of it.
        kind: The class of commitment that predictions are counted by.
        made_in: The message it was made in.
        settled_in: The message that told the outcome; None when the person said it outside of a talk.
        made_at: When it was made.
        settled_at: When the outcome was told.
    """

    id: str
    what: str
    when: str
    due: datetime | None
    p: float | None
    outcome: Outcome
    kind: str
    made_in: str
    settled_in: str | None
    made_at: datetime
    settled_at: datetime | None


@dataclass(frozen=True)
class CommitmentChange:
    """A commitment to add (`id` None) or to settle (`id` set, with the outcome)."""

    id: str | None = None
    what: str = ""
    when: str = ""
    due: datetime | None = None
    p: float | None = None
    kind: str = "other"
    outcome: Outcome = "open"
    evidence: str = ""


@dataclass(frozen=True)
class AppliedChange:
    """What became of one commitment change.

    Attributes:
        change: The change that was asked for.
        status: `added`, `settled`, or why nothing was done: `unknown` (no such id), `already_settled`, or `unchanged`
            (it names a commitment but no outcome).
        commitment: The commitment as it now stands; None when it is unknown.
    """

    change: CommitmentChange
    status: Literal["added", "settled", "unknown", "already_settled", "unchanged"]
    commitment: Commitment | None


@dataclass(frozen=True)
class AgentResult:
    """What one agent's answer left behind, all of it or nothing.

    Attributes:
        section: The version that stands.
        commitments: What became of the changes, in their order.
        repeated: True when this agent had already written the section in this turn and nothing was written again.
    """

    section: SectionVersion
    commitments: tuple[AppliedChange, ...] = ()
    repeated: bool = False


@dataclass(frozen=True)
class Turn:
    """One turn, without its events and its result document.

    Attributes:
        id: `t` and 26 letters and digits; sorts by the moment of creation; unique everywhere.
        team: The team's name.
        user: The user's id.
        session: The session's id.
        number: 1, 2 ...: counted per user and team.
        status: How it ended, or `running`.
        safety: The safety level that the team's code gave it.
        started_at: When, by the turn's clock.
        finished_at: When it ended, by the turn's clock; None when it has not.
        resumes: How often it was taken up again.
    """

    id: str
    team: str
    user: str
    session: str
    number: int
    status: TurnStatus
    safety: str
    started_at: datetime
    finished_at: datetime | None
    resumes: int = 0


@dataclass(frozen=True)
class Resumption:
    """A turn that was taken up again, with what has to be known to go on.

    Attributes:
        turn: The turn; this process is its owner now.
        session: Its session.
        message: The person's message.
        steps: What its agents had done.
        written: The sections that it had written, by the agent (or `code`).
    """

    turn: Turn
    session: Session
    message: Message
    steps: tuple["Step", ...]
    written: tuple[SectionVersion, ...]


@dataclass(frozen=True)
class Step:
    """A step of an agent that is done: number 0 is its section, 1, 2 ... are its calls of the engine; body is JSON."""

    agent: str
    number: int
    body: str


@dataclass(frozen=True)
class SessionSummary:
    """What is remembered of a session's talk.

    Attributes:
        session: The session's id.
        number: The session's number.
        text: The summary.
        last_message: The number of the last message it covers.
        at: When it was made.
    """

    session: str
    number: int
    text: str
    last_message: int
    at: datetime


@dataclass(frozen=True)
class StoredEvent:
    """One event of a turn as it is kept: its place in the stream, its type and its JSON text."""

    seq: int
    type: str
    body: str
