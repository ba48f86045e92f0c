"""The records that storage hands out and takes in. All times are UTC."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

__all__ = (
    "Commitment",
    "CommitmentChange",
    "Message",
    "Outcome",
    "SectionVersion",
    "Session",
)

Outcome = Literal["open", "kept", "missed", "dropped"]


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
        turn: The turn that wrote it.
        agent: The agent (or `code`) that wrote it.
        evidence: Ids of the messages it rests on.
        at: When.
    """

    section: str
    version: int
    value: Any
    turn: str
    agent: str
    evidence: tuple[str, ...]
    at: datetime


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
        settled_in: The message that told the outcome.
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
