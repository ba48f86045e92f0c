"""A person's own data: see it, trace it, correct it, take it away, erase it."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from repertory.server.panel.schema.base import Answer, JsonObject, Request
from repertory.server.panel.schema.turns import WhyRecord

__all__ = (
    "BlackboardDetail",
    "BlackboardHistory",
    "BlackboardList",
    "BlackboardRef",
    "BlackboardSession",
    "CalibrationBin",
    "CalibrationView",
    "CommitmentOutcome",
    "CommitmentView",
    "Correction",
    "CorrectionDone",
    "Erase",
    "Erased",
    "Forget",
    "Forgotten",
    "Questionnaire",
    "QuestionnaireAnswers",
    "QuestionnaireItem",
    "SectionVersionView",
    "SessionSummaryView",
    "Trait",
    "Traits",
    "WhyAnswer",
)


class BlackboardRef(Answer):
    """A team and a user that something is kept about."""

    team: str
    user: str


class BlackboardList(Answer):
    """The blackboards that the caller may see."""

    blackboards: list[BlackboardRef]


class SectionVersionView(Answer):
    """One version of a section."""

    section: str
    version: int
    turn: str
    """The turn that wrote it; empty when the person did, outside of any turn."""
    agent: str
    """The agent, `code` or `person` that wrote it."""
    evidence: list[str]
    """Ids of the messages it rests on."""
    at: datetime
    value: Any
    """Its JSON value; the team's schema says what is in it."""


class CommitmentView(Answer):
    """Something that the person said they would do."""

    id: str
    what: str
    when: str
    """In the person's words; empty when they did not say."""
    due: datetime | None
    """When its outcome can be known."""
    p: float | None
    """Predicted probability that it is kept, 0..1."""
    outcome: Literal["open", "kept", "partly", "missed", "dropped"]
    kind: str
    made_in: str
    """The message it was made in."""
    settled_in: str | None
    """The message that told the outcome; null when the person said it outside of a talk."""
    made_at: datetime
    settled_at: datetime | None


class BlackboardSession(Answer):
    """One session of the person with the team."""

    id: str
    number: int
    started_at: datetime


class SessionSummaryView(Answer):
    """What is remembered of a session's talk."""

    session: str
    number: int
    text: str
    at: datetime


class CalibrationBin(Answer):
    """Predictions of about the same size."""

    low: float
    high: float
    n: int
    forecast: float | None
    """Mean of what was predicted, 0..1."""
    kept: float | None
    """Share that was kept, 0..1."""


class CalibrationView(Answer):
    """How good the predictions of commitments were; null where nothing is settled yet."""

    n: int
    base_rate: float | None
    brier: float | None
    """Mean squared error; 0 is best."""
    reliability: float | None
    resolution: float | None
    uncertainty: float | None
    within_bins: float | None
    skill: float | None
    """1 - brier / uncertainty: above 0 when the predictions know more than the base rate."""
    log_loss: float | None
    bins: list[CalibrationBin]
    note: str
    """How much the numbers can be trusted."""


class BlackboardDetail(Answer):
    """Everything that stands on a blackboard now."""

    team: str
    user: str
    sections: dict[str, SectionVersionView]
    """Section -> its latest version."""
    memory: str
    """The memory snapshot that the newest session began with."""
    summaries: list[SessionSummaryView]
    commitments: list[CommitmentView]
    calibration: CalibrationView
    sessions: list[BlackboardSession]


class BlackboardHistory(Answer):
    """Versions of sections, oldest first."""

    team: str
    user: str
    versions: list[SectionVersionView]


class Erase(Request):
    """Erasing is for good and is confirmed by naming whose data it is."""

    confirm: Annotated[str, Field(max_length=200)]
    """The user, once more."""


class Erased(Answer):
    """What was deleted."""

    team: str
    user: str
    erased: dict[str, int]
    """Kind of row -> how many."""


class Correction(Request):
    """What a person corrects; it stands above what models say."""

    traits: dict[str, Annotated[float, Field(ge=0, le=100)] | None] = Field(default_factory=dict, max_length=5)
    """Trait -> its score 0..100, or null to withdraw an earlier correction."""
    facts: dict[str, Annotated[str, Field(max_length=500)]] = Field(default_factory=dict, max_length=3)
    """`goal`, `priority` or `growth_edge` -> how it is; an empty text says that it is not as it was said."""


class CorrectionDone(Answer):
    """The corrections that stand now."""

    corrections: JsonObject


class CommitmentOutcome(Request):
    """What became of a commitment."""

    outcome: Literal["done", "kept", "partly", "not", "missed", "dropped", "open"]
    """`done` is `kept`, `not` is `missed`."""


class Forget(Request):
    """What is to be forgotten, for good, with everything that was derived from it."""

    what: Annotated[str, Field(min_length=1, max_length=2000)]
    """A message (`m3`), a commitment (`k1`), or words that messages hold."""
    confirm: bool = False
    """False only tells which messages are meant."""


class Forgotten(Answer):
    """The messages that were meant."""

    messages: dict[str, str]
    """Message id -> what the person wrote there."""
    forgotten: bool
    """Whether they were forgotten now."""
    changed: dict[str, int]
    """Kind of row -> how many were changed or deleted."""


class QuestionnaireItem(Answer):
    """One statement."""

    number: int
    text: str


class Questionnaire(Answer):
    """The twenty statements (Mini-IPIP, public domain) and what can be answered."""

    items: list[QuestionnaireItem]
    answers: list[str]
    """The words for 1, 2 ... 5."""


class QuestionnaireAnswers(Request):
    """Twenty numbers from 1 to 5."""

    answers: Annotated[list[Annotated[int, Field(ge=1, le=5)]], Field(min_length=20, max_length=20)]


class Trait(Answer):
    """One trait as a hypothesis, 0..100."""

    score: float
    low: float
    high: float
    source: str


class Traits(Answer):
    """The five traits."""

    ocean: dict[str, Trait]


class WhyAnswer(Answer):
    """The chains behind something that was said, the newest first."""

    what: str
    reasons: list[WhyRecord]
