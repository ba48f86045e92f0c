"""An optional questionnaire: the 20-item Mini-IPIP, whose items are in the public domain (ipip.ori.org).

Donnellan, Oswald, Baird and Lucas (2006) chose four items a domain. Eleven are keyed the other way. A score is the mean
of the keyed answers on 0..100. Four items measure roughly: with the reliabilities they report (.77 E, .70 A, .69 C,
.68 N, .65 O) and standard deviations of about 20, an answer's 95 % band is about 20 either side.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from repertory.errors import UsageError
from repertory.teams.coaching.ocean import DOMAINS, Domain

__all__ = ("ANSWERS", "HALF_WIDTH", "ITEMS", "QuestionnaireItem", "answers_of", "check_answers", "score_questionnaire")

HALF_WIDTH = 20.0
"""Half the width of a score's interval when the questionnaire was just taken."""

ANSWERS = ("very inaccurate", "rather inaccurate", "neither", "rather accurate", "very accurate")
"""What 1 to 5 mean, said of "as you generally are now"."""
_LOW, _HIGH = 1, 5


@dataclass(frozen=True)
class QuestionnaireItem:
    """One statement about oneself.

    Attributes:
        text: The statement, to be read after "I".
        domain: What it measures.
        reversed: Whether agreeing speaks for less of it.
    """

    text: str
    domain: Domain
    reversed: bool = False


ITEMS: tuple[QuestionnaireItem, ...] = (
    QuestionnaireItem("am the life of the party.", "extraversion"),
    QuestionnaireItem("sympathize with others' feelings.", "agreeableness"),
    QuestionnaireItem("get chores done right away.", "conscientiousness"),
    QuestionnaireItem("have frequent mood swings.", "neuroticism"),
    QuestionnaireItem("have a vivid imagination.", "openness"),
    QuestionnaireItem("don't talk a lot.", "extraversion", reversed=True),
    QuestionnaireItem("am not interested in other people's problems.", "agreeableness", reversed=True),
    QuestionnaireItem("often forget to put things back in their proper place.", "conscientiousness", reversed=True),
    QuestionnaireItem("am relaxed most of the time.", "neuroticism", reversed=True),
    QuestionnaireItem("am not interested in abstract ideas.", "openness", reversed=True),
    QuestionnaireItem("talk to a lot of different people at parties.", "extraversion"),
    QuestionnaireItem("feel others' emotions.", "agreeableness"),
    QuestionnaireItem("like order.", "conscientiousness"),
    QuestionnaireItem("get upset easily.", "neuroticism"),
    QuestionnaireItem("have difficulty understanding abstract ideas.", "openness", reversed=True),
    QuestionnaireItem("keep in the background.", "extraversion", reversed=True),
    QuestionnaireItem("am not really interested in others.", "agreeableness", reversed=True),
    QuestionnaireItem("make a mess of things.", "conscientiousness", reversed=True),
    QuestionnaireItem("seldom feel blue.", "neuroticism", reversed=True),
    QuestionnaireItem("do not have a good imagination.", "openness", reversed=True),
)


def check_answers(answers: Sequence[object]) -> tuple[int, ...]:
    """The answers, checked.

    Raises:
        UsageError: There are not twenty, or one is not a whole number from 1 to 5.
    """
    if len(answers) != len(ITEMS):
        message = f"the questionnaire has {len(ITEMS)} statements, but {len(answers)} answers were given"
        raise UsageError(message, hint="give one number from 1 to 5 for each, in their order")
    found: list[int] = []
    for number, answer in enumerate(answers, start=1):
        if not isinstance(answer, int) or isinstance(answer, bool) or not _LOW <= answer <= _HIGH:
            message = f"answer {number} is {answer!r}"
            raise UsageError(message, hint="answers are whole numbers from 1 (very inaccurate) to 5 (very accurate)")
        found.append(answer)
    return tuple(found)


def score_questionnaire(answers: Sequence[int]) -> dict[Domain, float]:
    """The five scores, 0..100.

    Raises:
        UsageError: The answers are not complete.
    """
    checked = check_answers(answers)
    scores: dict[Domain, float] = {}
    for domain in DOMAINS:
        keyed = [
            _LOW + _HIGH - answer if item.reversed else answer
            for item, answer in zip(ITEMS, checked, strict=True)
            if item.domain == domain
        ]
        scores[domain] = round((sum(keyed) / len(keyed) - _LOW) * 100 / (_HIGH - _LOW), 1)
    return scores


def answers_of(value: object) -> tuple[int, ...] | None:
    """The answers that a questionnaire section holds, None when it holds none."""
    if not isinstance(value, Mapping):
        return None
    section: Mapping[str, Any] = value  # pyright: ignore[reportUnknownVariableType] - JSON objects have text keys
    answers = section.get("answers")
    try:
        return check_answers(answers) if isinstance(answers, list) else None  # pyright: ignore[reportUnknownArgumentType]
    except UsageError:
        return None
