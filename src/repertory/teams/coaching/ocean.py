"""The big five (OCEAN) from evidence on single statements, shrunk towards the middle, never certain.

Text shows little of a personality: correlations of about .1 to .25 in coach-like talk (Peters, Cerf & Matz 2024,
arXiv 2405.13052). So a score is 50 + r * (raw - 50) with r at most .3, and its interval is never narrower than 15
either side.
The statements are in the manner of the public-domain IPIP, four a domain. Old evidence counts less, by a tenth a month:
what is not seen again becomes uncertain again. A questionnaire is a better source than text, and what the person says
of themselves stands above both.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

__all__ = (
    "DOMAINS",
    "Domain",
    "ItemEvidence",
    "Source",
    "Statement",
    "TraitScore",
    "domain_of",
    "faded",
    "score_answered",
    "score_domain",
    "score_said",
)

Domain = Literal["openness", "conscientiousness", "extraversion", "agreeableness", "neuroticism"]
DOMAINS: tuple[Domain, ...] = ("openness", "conscientiousness", "extraversion", "agreeableness", "neuroticism")
Confidence = Literal["insufficient", "low", "medium", "high"]
Source = Literal["text", "questionnaire", "person"]

MAX_SHRINK = 0.3
"""Weight of the raw score with endless evidence from passive talk."""
MIN_HALF_WIDTH = 15.0
DEFAULT_HALF_WIDTH = 30.0
SAID_HALF_WIDTH = 10.0
"""Around a trait that the person has set themselves."""
MONTHLY = 0.9
"""What is left of the weight of evidence after a month."""
_MONTH_DAYS = 30.44


class Statement(StrEnum):
    """Twenty statements, by name."""

    LIKES_NEW_IDEAS = "likes_new_ideas"
    IMAGINES_VIVIDLY = "imagines_vividly"
    PREFERS_ROUTINE = "prefers_routine"
    AVOIDS_ABSTRACT_TALK = "avoids_abstract_talk"
    MAKES_PLANS_AND_KEEPS_THEM = "makes_plans_and_keeps_them"
    PAYS_ATTENTION_TO_DETAILS = "pays_attention_to_details"
    LEAVES_THINGS_UNFINISHED = "leaves_things_unfinished"
    PUTS_OFF_DUTIES = "puts_off_duties"
    STARTS_CONVERSATIONS = "starts_conversations"
    ENJOYS_ATTENTION = "enjoys_attention"
    KEEPS_IN_BACKGROUND = "keeps_in_background"
    TALKS_LITTLE = "talks_little"
    FEELS_WITH_OTHERS = "feels_with_others"
    MAKES_TIME_FOR_OTHERS = "makes_time_for_others"
    HARD_ON_OTHERS = "hard_on_others"
    PUTS_OWN_INTEREST_FIRST = "puts_own_interest_first"
    WORRIES_A_LOT = "worries_a_lot"
    GETS_UPSET_EASILY = "gets_upset_easily"
    STAYS_CALM = "stays_calm"
    SELDOM_FEELS_LOW = "seldom_feels_low"


_STATEMENTS = tuple(Statement)
_PER_DOMAIN = 4


def domain_of(statement: Statement) -> tuple[Domain, bool]:
    """The domain of a statement and whether it is keyed towards it (two of each four are, two are not)."""
    index = _STATEMENTS.index(statement)
    return DOMAINS[index // _PER_DOMAIN], index % _PER_DOMAIN < _PER_DOMAIN // 2


@dataclass(frozen=True)
class ItemEvidence:
    """What one message shows about one statement: agreement 1 (not at all) .. 5 (very much), and its weight by age."""

    statement: Statement
    agree: int
    message: str
    weight: float = 1.0


@dataclass(frozen=True)
class TraitScore:
    """An estimate 0..100 with its interval, the messages it rests on, and how much to trust it."""

    score: float
    low: float
    high: float
    evidence: tuple[str, ...]
    confidence: Confidence
    n: int
    source: Source = "text"


def faded(days: float) -> float:
    """The weight of evidence of that age; from the future it counts in full."""
    return MONTHLY ** (max(days, 0.0) / _MONTH_DAYS)


def _raw(items: Sequence[ItemEvidence]) -> float:
    """Weighted mean of the keyed answers, on 0..100."""
    keyed = [(item.agree if domain_of(item.statement)[1] else 6 - item.agree, item.weight) for item in items]
    total = sum(weight for _, weight in keyed)
    return (sum(answer * weight for answer, weight in keyed) / total - 1) * 25 if total else 50.0


def score_domain(domain: Domain, items: Sequence[ItemEvidence]) -> TraitScore:
    """Aggregate the evidence of one domain; what one message says counts once, however often it is said.

    Weight and width move with the number n of messages, each counted by its age:
    r = .3 * n / (n + 3); half width = 15 + 15 * 3 / (n + 3).
    """
    own = [item for item in items if domain_of(item.statement)[0] == domain]
    weights: dict[str, float] = {}
    for item in own:
        weights[item.message] = max(item.weight, weights.get(item.message, 0.0))
    n = sum(weights.values())
    raw = _raw(own) if own else 50.0
    score = 50 + MAX_SHRINK * n / (n + 3) * (raw - 50)
    half = MIN_HALF_WIDTH + (DEFAULT_HALF_WIDTH - MIN_HALF_WIDTH) * 3 / (n + 3)
    confidence: Confidence = "insufficient" if n < _SOME else "low" if n < _ENOUGH else "medium"
    return _around(score, half, tuple(weights), confidence, len(weights), "text")


_SOME, _ENOUGH = 0.5, 8.0


def score_answered(score: float, half: float, days: float) -> TraitScore:
    """A trait by questionnaire; its interval widens towards the default as the answers grow old."""
    wide = DEFAULT_HALF_WIDTH - (DEFAULT_HALF_WIDTH - half) * faded(days)
    return _around(score, wide, (), "medium", 0, "questionnaire")


def score_said(score: float) -> TraitScore:
    """A trait as the person has set it."""
    return _around(score, SAID_HALF_WIDTH, (), "high", 0, "person")


def _around(
    score: float, half: float, messages: tuple[str, ...], confidence: Confidence, n: int, source: Source
) -> TraitScore:
    low, high = round(max(0.0, score - half), 1), round(min(100.0, score + half), 1)
    return TraitScore(round(score, 1), low, high, messages, confidence, n, source)
