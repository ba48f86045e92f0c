"""The closed enumeration of coaching moves that all agents share.

Because the moves are closed, a conflict between an agent that wants a move and one that blocks it is a set operation.
Sources: counts of the MITI 4.2 coding manual (reflections, affirm, autonomy ...) and techniques of the BCT taxonomy v1
(Michie 2013; goal setting, action planning, comparison, contract ...), in own words.
"""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ("BLOCKABLE", "MOVE_FACTS", "RECOMMENDABLE", "Blockable", "Move", "MoveFact", "Recommendable", "is_move")


class Move(StrEnum):
    """One thing a coach can do in a reply."""

    OPEN_QUESTION = "open_question"
    SIMPLE_REFLECTION = "simple_reflection"
    COMPLEX_REFLECTION = "complex_reflection"
    AFFIRM = "affirm"
    SEEK_COLLABORATION = "seek_collaboration"
    EMPHASIZE_AUTONOMY = "emphasize_autonomy"
    INFORM_WITH_PERMISSION = "inform_with_permission"
    CHALLENGE_DISCREPANCY = "challenge_discrepancy"
    IF_THEN_PLAN = "if_then_plan"
    COPING_PLAN = "coping_plan"
    SHRINK_STEP = "shrink_step"
    SELF_MONITORING = "self_monitoring"
    REVIEW_GOAL = "review_goal"
    MENTAL_CONTRAST = "mental_contrast"
    ENVIRONMENT_CHANGE = "environment_change"
    SOCIAL_SUPPORT = "social_support"
    PRIVATE_ACCOUNTABILITY = "private_accountability"
    PUBLIC_COMMITMENT = "public_commitment"
    FINANCIAL_STAKE = "financial_stake"
    STREAK_PRESSURE = "streak_pressure"
    SOCIAL_COMPARISON = "social_comparison"
    INCREASE_TARGET = "increase_target"
    DIET_TARGET = "diet_target"
    ENDORSE_IRREVERSIBLE_STEP = "endorse_irreversible_step"
    REFER_PROFESSIONAL = "refer_professional"
    CRISIS_HANDOFF = "crisis_handoff"


class Blockable(StrEnum):
    """Moves that can do harm, and that code can recognise in a text: what Stability may block."""

    PUBLIC_COMMITMENT = "public_commitment"
    FINANCIAL_STAKE = "financial_stake"
    STREAK_PRESSURE = "streak_pressure"
    SOCIAL_COMPARISON = "social_comparison"
    INCREASE_TARGET = "increase_target"
    DIET_TARGET = "diet_target"
    ENDORSE_IRREVERSIBLE_STEP = "endorse_irreversible_step"
    SELF_MONITORING = "self_monitoring"


class Recommendable(StrEnum):
    """Moves that Plasticity may recommend."""

    OPEN_QUESTION = "open_question"
    COMPLEX_REFLECTION = "complex_reflection"
    AFFIRM = "affirm"
    EMPHASIZE_AUTONOMY = "emphasize_autonomy"
    CHALLENGE_DISCREPANCY = "challenge_discrepancy"
    IF_THEN_PLAN = "if_then_plan"
    COPING_PLAN = "coping_plan"
    SHRINK_STEP = "shrink_step"
    SELF_MONITORING = "self_monitoring"
    REVIEW_GOAL = "review_goal"
    ENVIRONMENT_CHANGE = "environment_change"
    SOCIAL_SUPPORT = "social_support"
    PRIVATE_ACCOUNTABILITY = "private_accountability"
    PUBLIC_COMMITMENT = "public_commitment"
    INCREASE_TARGET = "increase_target"
    REFER_PROFESSIONAL = "refer_professional"


@dataclass(frozen=True)
class MoveFact:
    """What a move is in plain words, and what to do instead when it is blocked.

    Attributes:
        words: The move in plain words.
        instead: A safer move that serves the same end, None for harmless moves.
        instead_words: That safer move, said to the person.
        say: The move as a sentence to the person, which a reply may take over; empty for moves that do harm.
    """

    words: str
    instead: Move | None = None
    instead_words: str = ""
    say: str = ""


MOVE_FACTS: dict[Move, MoveFact] = {
    Move.OPEN_QUESTION: MoveFact("ask one open question", say="What matters most to you here?"),
    Move.SIMPLE_REFLECTION: MoveFact("say back what they said", say="Did I get that right?"),
    Move.COMPLEX_REFLECTION: MoveFact("say what seems to lie behind their words", say="What lies behind this for you?"),
    Move.AFFIRM: MoveFact("name something real they did", say="You did something real here."),
    Move.SEEK_COLLABORATION: MoveFact("ask what they think of an idea", say="What do you think of it?"),
    Move.EMPHASIZE_AUTONOMY: MoveFact("say that the choice is theirs", say="The choice is yours."),
    Move.INFORM_WITH_PERMISSION: MoveFact("ask whether they want information", say="Would some information help?"),
    Move.CHALLENGE_DISCREPANCY: MoveFact(
        "name the gap between what they say and what they do",
        say="What you say and what you do differ here; what do you make of that?",
    ),
    Move.IF_THEN_PLAN: MoveFact(
        "offer one if-then plan: when and where exactly", say="When and where exactly will you do it?"
    ),
    Move.COPING_PLAN: MoveFact(
        "plan for the obstacle they name", say="What could get in the way, and what will you do then?"
    ),
    Move.SHRINK_STEP: MoveFact("make the next step smaller", say="What would be a smaller step?"),
    Move.SELF_MONITORING: MoveFact(
        "counting or tracking what they do",
        Move.OPEN_QUESTION,
        "ask how it felt, without counting",
        "You could note what you do.",
    ),
    Move.REVIEW_GOAL: MoveFact("look at the goal again", say="Does the goal still fit you?"),
    Move.MENTAL_CONTRAST: MoveFact("set the wish against the obstacle", say="What stands between you and it?"),
    Move.ENVIRONMENT_CHANGE: MoveFact(
        "change something in the surroundings", say="What could you change around you so that it gets easier?"
    ),
    Move.SOCIAL_SUPPORT: MoveFact("ask who could help", say="Who could help you with it?"),
    Move.PRIVATE_ACCOUNTABILITY: MoveFact(
        "show it privately to one person they trust", say="You could show it privately to one person you trust."
    ),
    Move.PUBLIC_COMMITMENT: MoveFact(
        "announcing it to many people or in public",
        Move.PRIVATE_ACCOUNTABILITY,
        "show it privately to one person they trust",
    ),
    Move.FINANCIAL_STAKE: MoveFact(
        "betting or staking money on it", Move.IF_THEN_PLAN, "one if-then plan with no money in it"
    ),
    Move.STREAK_PRESSURE: MoveFact(
        "streaks or never missing a day", Move.SHRINK_STEP, "one small step that may be missed without harm"
    ),
    Move.SOCIAL_COMPARISON: MoveFact(
        "comparing them with other people", Move.AFFIRM, "compare only with their own earlier weeks"
    ),
    Move.INCREASE_TARGET: MoveFact("raising the target", Move.REVIEW_GOAL, "keep the target or make it smaller"),
    Move.DIET_TARGET: MoveFact(
        "weight, calorie or diet targets",
        Move.REFER_PROFESSIONAL,
        "suggest talking to a doctor or dietitian they trust",
    ),
    Move.ENDORSE_IRREVERSIBLE_STEP: MoveFact(
        "telling them to take a step that can not be undone",
        Move.SHRINK_STEP,
        "a step that can be undone first, and time before deciding",
    ),
    Move.REFER_PROFESSIONAL: MoveFact(
        "suggest a professional who can help", say="A professional you trust could help with this."
    ),
    Move.CRISIS_HANDOFF: MoveFact("hand over to a crisis service"),
}

BLOCKABLE: tuple[Move, ...] = tuple(Move(item.value) for item in Blockable)
RECOMMENDABLE: tuple[Move, ...] = tuple(Move(item.value) for item in Recommendable)


def is_move(name: object) -> bool:
    """Whether `name` is one of the closed enumeration."""
    return isinstance(name, str) and name in Move._value2member_map_
