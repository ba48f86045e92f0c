"""The five traits from their three sources: what the person set, what they answered, what their messages show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from repertory.clock import parse_time
from repertory.errors import UsageError
from repertory.teams.coaching.corrections import Corrections
from repertory.teams.coaching.ocean import (
    DOMAINS,
    Domain,
    ItemEvidence,
    TraitScore,
    faded,
    score_answered,
    score_domain,
    score_said,
)
from repertory.teams.coaching.questionnaire import HALF_WIDTH, answers_of, score_questionnaire
from repertory.teams.coaching.sections import Item, Trait

__all__ = ("QUESTIONNAIRE", "Answered", "answered_in", "traits_of")

QUESTIONNAIRE = "questionnaire"
"""The name of the section with the person's answers."""

_LETTERS: dict[str, Domain] = {
    "O": "openness", "C": "conscientiousness", "E": "extraversion", "A": "agreeableness", "N": "neuroticism",
}  # fmt: skip
_DAY_S = 86400


@dataclass(frozen=True)
class Answered:
    """Scores of a questionnaire and when it was taken."""

    scores: Mapping[Domain, float]
    at: datetime


def answered_in(value: object) -> Answered | None:
    """What a questionnaire section holds, None when it can not be read."""
    answers = answers_of(value)
    at: Any = value.get("at") if isinstance(value, Mapping) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if answers is None or not isinstance(at, str):
        return None
    try:
        return Answered(score_questionnaire(answers), parse_time(at))
    except UsageError:
        return None


def _days(since: str, now: datetime) -> float:
    """Age in days; evidence without a day is not aged."""
    try:
        return (now - parse_time(since)).total_seconds() / _DAY_S if since else 0.0
    except UsageError:
        return 0.0


def traits_of(
    items: Sequence[Item], corrections: Corrections, answered: Answered | None, now: datetime
) -> dict[str, Trait]:
    """The traits under their names and their letters; a correction stands above answers, answers above text."""
    evidence = [
        ItemEvidence(item.statement, item.agree, item.message, faded(_days(item.at, now))) for item in items
    ]  # fmt: skip
    traits: dict[str, Trait] = {}
    for domain in DOMAINS:
        said = corrections.traits.get(domain)
        score = score_domain(domain, evidence)
        if said is not None:
            score = score_said(said.score)
        elif answered is not None:
            age = (now - answered.at).total_seconds() / _DAY_S
            score = score_answered(answered.scores[domain], HALF_WIDTH, age)
        traits[domain] = _trait(score)
    return traits | {letter: traits[domain] for letter, domain in _LETTERS.items()}


def _trait(score: TraitScore) -> Trait:
    return Trait(
        score=score.score, low=score.low, high=score.high, evidence=list(score.evidence), confidence=score.confidence,
        n=score.n, source=score.source,
    )  # fmt: skip
