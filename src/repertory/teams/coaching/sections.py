"""The blackboard's sections: what they hold, as Pydantic models that also give the JSON Schema of a section."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from repertory.teams.coaching.drafts import Pattern
from repertory.teams.coaching.moves import Move
from repertory.teams.coaching.ocean import Domain, Source, Statement

__all__ = (
    "BlockedMove",
    "CommitmentRow",
    "Driver",
    "FollowThrough",
    "GrowthEdge",
    "Item",
    "LiftedMove",
    "Ocean",
    "PersonaSection",
    "PlasticitySection",
    "Prediction",
    "Preference",
    "RecurringGoal",
    "Risk",
    "ShadowSection",
    "StabilitySection",
    "Trait",
    "Voice",
)

Confidence = Literal["insufficient", "low", "medium", "high"]
_MANY = 200


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Prediction(_Section):
    """How likely the commitment in question is kept."""

    p: float = Field(ge=0, le=1)
    n: int = Field(ge=0, description="settled commitments of this person")
    n_used: int = Field(ge=0, description="those the number was computed from")
    confidence: Confidence
    basis: str
    commitment: str | None = Field(description="what is predicted, None: the next one")


class ShadowSection(_Section):
    """Stated goal against revealed priority, pattern, and prediction."""

    stated_goal: str
    revealed_priority: str
    pattern: Pattern
    evidence: list[str] = Field(max_length=8)
    prediction: Prediction
    dropped: list[str] = Field(default=[], max_length=20, description="what a model said without evidence")


class Trait(_Section):
    """One estimate of the big five, a hypothesis."""

    score: float = Field(ge=0, le=100)
    low: float = Field(ge=0, le=100)
    high: float = Field(ge=0, le=100)
    evidence: list[str]
    confidence: Confidence
    n: int
    source: Source = Field(default="text", description="text, the questionnaire, or the person's own correction")


class Ocean(_Section):
    """The five estimates, under their names and under their letters."""

    openness: Trait
    conscientiousness: Trait
    extraversion: Trait
    agreeableness: Trait
    neuroticism: Trait
    O: Trait  # noqa: E741 - the letter is the trait's short name
    C: Trait
    E: Trait
    A: Trait
    N: Trait

    def trait(self, domain: Domain) -> Trait:
        """The estimate of one domain."""
        traits: dict[Domain, Trait] = {
            "openness": self.openness,
            "conscientiousness": self.conscientiousness,
            "extraversion": self.extraversion,
            "agreeableness": self.agreeableness,
            "neuroticism": self.neuroticism,
        }
        return traits[domain]


class Item(_Section):
    """Evidence on one statement."""

    statement: Statement
    agree: int = Field(ge=1, le=5)
    message: str
    at: str = Field(default="", description="day of the message; old evidence counts less")


class RecurringGoal(_Section):
    """A goal that came up, with every message it came up in."""

    id: str
    goal: str
    said_in: list[str] = Field(max_length=_MANY)
    times: int


class GrowthEdge(_Section):
    """Something hard for the person and worth learning."""

    what: str
    evidence: list[str] = Field(max_length=_MANY)


class FollowThrough(_Section):
    """How often the person keeps what they said they would do."""

    p: float = Field(ge=0, le=1)
    percent: int = Field(ge=0, le=100)
    low_percent: int = Field(default=0, ge=0, le=100, description="lower end of the 90 % interval")
    high_percent: int = Field(default=100, ge=0, le=100)
    n: int
    kept: int
    missed: int


class PersonaSection(_Section):
    """Who the person may be, with what it rests on."""

    ocean: Ocean
    items: list[Item] = Field(max_length=_MANY)
    recurring_goals: list[RecurringGoal] = Field(max_length=30)
    follow_through: FollowThrough
    growth_edges: list[GrowthEdge] = Field(max_length=10)
    dropped: list[str] = Field(default=[], max_length=20)


class Voice(_Section):
    """How to speak with this person; 1 little .. 5 much."""

    directness: int = Field(default=3, ge=1, le=5)
    warmth: int = Field(default=3, ge=1, le=5)
    structure: int = Field(default=3, ge=1, le=5)
    challenge: int = Field(default=3, ge=1, le=5)
    detail: int = Field(default=3, ge=1, le=5)
    pace: int = Field(default=3, ge=1, le=5)
    length: Literal["short", "normal", "long"] = "normal"
    praise: Literal["minimal", "normal"] = "normal"
    exclamation_marks: int = Field(default=1, ge=0, le=3, description="how many a reply may have")


class Driver(_Section):
    """Why a voice setting is what it is."""

    setting: str
    by: str
    why: str
    evidence: list[str] = []


class Preference(_Section):
    """Something the person asked for in how they are spoken to."""

    name: str
    message: str


class PlasticitySection(_Section):
    """Voice and moves that suit."""

    voice: Voice
    moves: list[Move] = Field(max_length=4)
    drivers: list[Driver] = Field(max_length=30)
    preferences: list[Preference] = Field(max_length=20)
    evidence: list[str] = []
    dropped: list[str] = Field(default=[], max_length=20)


class Risk(_Section):
    """One risk with its ratings and priority."""

    what: str
    severity: int = Field(ge=1, le=10)
    occurrence: int = Field(ge=1, le=10)
    detectability: int = Field(ge=1, le=10)
    reversibility: int = Field(ge=1, le=10)
    reversibility_class: Literal["easy", "partial", "hard", "irreversible"]
    priority: Literal["H", "M", "L"]
    move: Move | None
    evidence: list[str]
    source: Literal["rule", "model"]


class BlockedMove(_Section):
    """A move that no reply may suggest, since when, why and until when."""

    move: Move
    reason: str
    evidence: list[str]
    severity: int = Field(ge=1, le=10)
    since: str
    until: str
    source: Literal["rule", "model"]


class LiftedMove(_Section):
    """A block that no longer stands, and why."""

    move: Move
    why: str
    evidence: list[str]
    at: str


class StabilitySection(_Section):
    """Risks and blocked moves."""

    risks: list[Risk] = Field(max_length=12)
    blocked_moves: list[BlockedMove] = Field(max_length=10)
    lifted_moves: list[LiftedMove] = Field(default=[], max_length=20)
    dropped: list[str] = Field(default=[], max_length=20)


class CommitmentRow(_Section):
    """One commitment, as shown."""

    id: str
    what: str
    when: str
    due: str | None
    p: float | None
    outcome: Literal["open", "kept", "partly", "missed", "dropped"]
    kind: str
    made_in: str
    settled_in: str | None
