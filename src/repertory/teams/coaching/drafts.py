"""What the models write: small drafts of picks, short phrases and message ids. Code turns them into sections."""

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from repertory.engines.schema import section_schema
from repertory.teams.coaching.moves import Blockable, Recommendable
from repertory.teams.coaching.ocean import Statement

__all__ = (
    "OutcomeDraft",
    "Pattern",
    "PersonaDraft",
    "PlasticityDraft",
    "PromiseDraft",
    "RiskDraft",
    "SentenceDraft",
    "ShadowDraft",
    "StabilityDraft",
    "SynthDraft",
    "TraitDraft",
    "schema_of",
)


class Pattern(StrEnum):
    """Patterns between what a person says and does."""

    INTENTION_ACTION_GAP = "intention_action_gap"
    GOAL_SUBSTITUTION = "goal_substitution"
    OVERCOMMITMENT = "overcommitment"
    AVOIDANCE = "avoidance"
    ALL_OR_NOTHING = "all_or_nothing"
    PLANNING_FALLACY = "planning_fallacy"
    RELAPSE_CYCLE = "relapse_cycle"
    GOAL_CONFLICT = "goal_conflict"
    STEADY_FOLLOW_THROUGH = "steady_follow_through"
    INSUFFICIENT_DATA = "insufficient_data"


MessageId = Annotated[str, Field(pattern=r"^m[0-9]{1,4}$")]
"""The id of a message, so that a model can not write the message itself."""


class _Draft(BaseModel):
    model_config = ConfigDict(extra="forbid")


class PromiseDraft(_Draft):
    """Something the person says they will do."""

    what: str = Field(max_length=60, description="what they will do, in their words")
    when: str = Field(max_length=30, description="when, in their words, or empty")


class OutcomeDraft(_Draft):
    """What became of an open promise."""

    id: str = Field(pattern=r"^k[0-9]{1,4}$", description="one of the open promises")
    result: Literal["kept", "missed"]


class ShadowDraft(_Draft):
    """Shadow's answer."""

    evidence: list[MessageId] = Field(max_length=4, description="messages that show it")
    stated_goal: str = Field(max_length=100, description="what they say they want, in their language")
    revealed_priority: str = Field(max_length=100, description="what their time really went to")
    pattern: Pattern
    outcomes: list[OutcomeDraft] = Field(max_length=2, description="only if this message tells it")
    promises: list[PromiseDraft] = Field(max_length=2, description="new in this message")


class TraitDraft(_Draft):
    """How far one statement fits the person."""

    message: MessageId
    statement: Statement
    agree: int = Field(ge=1, le=5, description="1 not at all .. 5 very much")


class PersonaDraft(_Draft):
    """Persona's answer."""

    traits: list[TraitDraft] = Field(max_length=2, description="only what an action shows; may be empty")
    goal: str = Field(max_length=80, description="the goal behind this message, or empty")
    same_as: str = Field(pattern=r"^(g[0-9]{1,2})?$", description="the known goal it restates, or empty")
    growth_edge: str = Field(max_length=80, description="one thing that is hard for them and worth learning")
    evidence: list[MessageId] = Field(max_length=2)


class PlasticityDraft(_Draft):
    """Plasticity's answer."""

    moves: list[Recommendable] = Field(min_length=1, max_length=2, description="moves that suit now, best first")
    setting: Literal["directness", "warmth", "structure", "challenge", "detail", "pace", "none"] = Field(
        description="one voice setting to change, or none"
    )
    change: Literal["more", "less"]
    because: str = Field(max_length=80, description="what they wrote that asks for it")
    evidence: list[MessageId] = Field(max_length=2)


class RiskDraft(_Draft):
    """One risk of coaching this person now."""

    what: str = Field(max_length=80, description="what could go wrong for them")
    evidence: MessageId
    severity: int = Field(ge=1, le=10)
    occurrence: int = Field(ge=1, le=10, description="how likely")
    detectability: int = Field(ge=1, le=10, description="10 = nobody would notice in time")
    reversibility: int = Field(ge=1, le=10, description="1 undone in a day .. 10 never")
    move: Blockable | Literal["none"] = Field(description="the move that would cause it, or none")


class StabilityDraft(_Draft):
    """Stability's answer."""

    risks: list[RiskDraft] = Field(max_length=2, description="none if nothing is at stake")


ClaimId = Annotated[str, Field(pattern=r"^c[0-9]{1,2}$")]
"""The number of a point that the reply may rest on."""


class SentenceDraft(_Draft):
    """One sentence of the reply, and what it rests on."""

    points: list[ClaimId] = Field(min_length=1, max_length=2, description="the points it says")
    words: str = Field(max_length=140, description="in the language of the message")


class SynthDraft(_Draft):
    """Synth's answer; code joins it into the reply."""

    noticed: list[SentenceDraft] = Field(
        max_length=2, min_length=1, description="what happened; then what that did to their goal"
    )
    next: SentenceDraft = Field(description="one question or small step that names a person, day or thing of theirs")


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema of a draft or section, with bounds, as the engines' schema compiler wants it."""
    return section_schema(model)
