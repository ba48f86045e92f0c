"""The code side of a team: what is checked, computed and merged by code and never left to a model.

`TeamRules` is a base class whose methods do the plain thing; a team overrides what it needs. All methods are pure: they
get a `TurnView` and return values; the runtime does the reading, writing and calling. The built-in teams use this door
and no other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from repertory.runtime.compaction.facts import read_facts
from repertory.runtime.compaction.recall import remembered_text
from repertory.runtime.team import Agent, Team
from repertory.storage.forgetting import MakesRedaction
from repertory.storage.records import Commitment, CommitmentChange, Message, SessionSummary

__all__ = (
    "Claim",
    "Conflict",
    "ForgetRequest",
    "Interception",
    "Merge",
    "ReplySentence",
    "Safety",
    "SectionView",
    "TeamRules",
    "TextGate",
    "TurnView",
    "Written",
)

SectionStatus = Literal["written", "latest", "missing"]


@dataclass(frozen=True)
class SectionView:
    """A section as one agent of a turn sees it.

    Attributes:
        value: The section's value (an object, or text); None when there is none.
        version: Its version on the blackboard, 0 when there is none.
        turn: The turn that wrote it, None when there is none.
        status: `written` in this turn, `latest` from an earlier one, or `missing`.
        age_turns: How many turns ago it was written; 0 for this one.
        reason: Why it was not written in this turn although it should have been.
    """

    value: Any
    version: int
    turn: str | None
    status: SectionStatus
    age_turns: int = 0
    reason: str | None = None


@dataclass(frozen=True)
class Claim:
    """One thing that an agent says about the person, with what it rests on."""

    id: str
    agent: str
    topic: str
    text: str
    evidence: tuple[str, ...] = ()
    confidence: float | None = None


@dataclass(frozen=True)
class Conflict:
    """Claims that can not all stand, the rule that settled it, and what became of them."""

    topic: str
    claims: tuple[str, ...]
    rule: str
    kept: tuple[str, ...]
    dropped: tuple[str, ...]
    why: str = ""


@dataclass(frozen=True)
class ReplySentence:
    """One sentence that was written for the full reply, and what became of it.

    Attributes:
        text: The sentence.
        claims: The ids of the claims that hold it.
        by: Who worded it: the agent's model, or the team's code.
        dropped: Why it was left out; None when it was said.
    """

    text: str
    claims: tuple[str, ...] = ()
    by: Literal["model", "code"] = "model"
    dropped: str | None = None


@dataclass(frozen=True)
class Merge:
    """What survived the reconcile step, for the agent that writes the full reply; and how the reply rests on it.

    `reply` and `voice` are empty until the full reply is written: its sentences, and what was measured of its style.
    """

    claims: tuple[Claim, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    blocked_moves: tuple[str, ...] = ()
    moves: tuple[str, ...] = ()
    dropped_claims: tuple[str, ...] = ()
    missing_agents: tuple[str, ...] = ()
    stale_agents: tuple[str, ...] = ()
    reply: tuple[ReplySentence, ...] = ()
    voice: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Safety:
    """How the team's code judged the person's message."""

    level: Literal["none", "low", "elevated", "crisis"] = "none"
    route: Literal["normal", "crisis_protocol"] = "normal"


@dataclass(frozen=True)
class ForgetRequest:
    """A person asks to have messages of theirs forgotten.

    Attributes:
        messages: The ids of the messages.
        text: What is kept and read in place of the request, which may name what is to be forgotten.
        redaction: The team's way to take them out of what it wrote.
    """

    messages: tuple[str, ...]
    text: str
    redaction: MakesRedaction


@dataclass(frozen=True)
class Interception:
    """The team's code answers instead of the agents; no agent runs."""

    reply: str
    reason: str


@dataclass(frozen=True)
class TurnView:
    """What the team's code may look at.

    Attributes:
        team: The team.
        turn: The turn's id.
        session: The session's id.
        user: The user's id.
        now: The turn's clock, UTC.
        message: The person's message of this turn.
        history: Earlier messages of this session, oldest first.
        past_messages: Messages of earlier sessions, oldest first, the newest few hundred.
        sections: The sections by name, as far as they are written.
        commitments: All commitments of this user and team, oldest first.
        memory: The memory snapshot of this session.
        session_number: 1 for the user's first session with this team.
        first_turn_of_session: Whether this is the session's first turn.
        merge: The result of `TeamRules.merge`, once it has run.
        safety: The result of `TeamRules.safety`.
        past_safety: The levels of earlier turns of this user and team with their times, oldest first.
        failures: Agents that gave no section in this turn, with the reason.
        remembered: What compaction has kept of earlier sessions' talk, oldest first.
    """

    team: Team
    turn: str
    session: str
    user: str
    now: datetime
    message: Message
    history: Sequence[Message] = ()
    past_messages: Sequence[Message] = ()
    sections: Mapping[str, SectionView] = field(default_factory=dict[str, SectionView])
    commitments: Sequence[Commitment] = ()
    memory: str = ""
    session_number: int = 1
    first_turn_of_session: bool = True
    merge: Merge | None = None
    safety: Safety = field(default_factory=Safety)
    past_safety: Sequence[tuple[datetime, str]] = ()
    failures: Mapping[str, str] = field(default_factory=dict[str, str])
    remembered: Sequence[SessionSummary] = ()


@dataclass(frozen=True)
class Written:
    """What becomes of an agent's answer: the section's value and the commitments it settles or makes.

    `merge` replaces the turn's merge, when the writer of the full reply records how the reply rests on it.
    """

    value: Any
    evidence: tuple[str, ...] = ()
    commitments: tuple[CommitmentChange, ...] = ()
    merge: Merge | None = None


class TextGate:
    """Lets a streamed reply through to the person; a team may hold back what must not be said.

    `feed` takes each piece of text and returns what may be shown now; `close` returns the rest.
    """

    def feed(self, text: str) -> str:
        """Take the next piece and return what may be shown now."""
        return text

    def close(self) -> str:
        """Return what was held back and may be shown after all."""
        return ""


class TeamRules:
    """The plain behaviour of a team without code of its own."""

    code_sections: tuple[str, ...] = ()
    """Names of sections that `derived_sections` fills; no agent writes them."""

    def safety(self, view: TurnView) -> Safety:
        """Judge the person's message before any agent runs."""
        del view
        return Safety()

    def forgets(self, view: TurnView) -> ForgetRequest | None:
        """What the person asks to have forgotten, before anything else of the turn; None when they ask for nothing."""
        del view
        return None

    def intercept(self, view: TurnView) -> Interception | None:
        """Answer instead of the agents, or None to let them work."""
        del view
        return None

    def notice(self, view: TurnView) -> str | None:
        """Fixed words that are put before the first reply (such as: you talk to an AI), or None."""
        del view
        return None

    def memory(self, view: TurnView) -> str:
        """The memory snapshot, frozen when a session starts; part of the shared prefix, so nothing volatile.

        The plain one is what compaction has kept of the sessions before, bounded.
        """
        text = remembered_text(read_facts(view.remembered))
        return f"# From earlier sessions\n{text}" if text else ""

    def private_context(self, name: str, agent: Agent, view: TurnView) -> str | None:
        """What one agent alone is shown of the blackboard; None lets the runtime render the sections it reads."""
        del name, agent, view
        return None

    def last_words(self, name: str, view: TurnView) -> str | None:
        """The last line of an agent's prompt, such as the language to answer in; None for none."""
        del name, view
        return None

    def gate(self, name: str, view: TurnView) -> TextGate:
        """The gate through which an agent's streamed words pass to the person."""
        del name, view
        return TextGate()

    def check(self, name: str, answer: Any, view: TurnView) -> list[str]:
        """Problems of a schema-valid draft (or a text) that the agent must mend, in words for the model."""
        del name, answer, view
        return []

    def write(self, name: str, answer: Any, view: TurnView) -> Written:
        """Turn a checked draft (or text) into the section's value."""
        del name, view
        return Written(value=answer)

    def fallback(self, name: str, answer: Any, problems: Sequence[str], view: TurnView) -> Written | None:
        """What is written when an agent's answer still has problems after its repair; None: the agent failed.

        `answer` is the last schema-valid draft or text, or None. It is also asked for a text that was cut at its cap,
        before a second try: what it makes of the part may be as good, and a second try with a longer cap is dear.
        """
        del name, answer, problems, view
        return None

    def merge(self, view: TurnView) -> Merge | None:
        """Reconcile what the agents found, before the agent that writes the full reply starts."""
        del view
        return None

    def derived_sections(self, view: TurnView) -> dict[str, Any]:
        """Values of the sections that code fills, at the end of a turn (`code_sections`)."""
        del view
        return {}
