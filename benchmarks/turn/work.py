"""The work that everybody is given: the same six agents, messages, schemas and output lengths.

It is plain data, handed to every driver as JSON, because most drivers run in an environment without Repertory.
"""

import random
from typing import Any

__all__ = ("AGENTS", "MESSAGES", "REPLY_TOKENS", "make_work")

REPLY_TOKENS = 80
"""Every free text has exactly so many tokens, for everybody; the recording proxy sees to it."""

MAX_TOKENS = 400
"""Reserve for every answer. No answer comes near it, so that nobody is cut off."""

TASK = "You are part of a small team that helps a person to keep what they promised themselves."

MESSAGES = (
    "I want to finish my thesis by June. I will write every weekday from 8 to 9, before work.",
    "I wrote on Monday and Tuesday, then slept in twice. I keep planning more than I can do.",
    "Two mornings again. My flatmate says I should post a public countdown. I hate that idea.",
    "Three mornings this week! I left the phone in the kitchen. Next week three again.",
    "It went well until Thursday, then a visitor came. What is the one thing I should change now?",
)
"""What the person says, turn by turn."""

_PATTERNS = ["over_planning", "avoidance", "perfectionism", "steady_progress", "seeking_approval"]
_MOVES = ["ask_one_question", "name_the_gap", "smaller_step", "celebrate", "plan_ahead", "remove_friction"]
_RISKS = ["overload", "giving_up", "isolation", "false_start", "lost_sleep"]


def _one_of(words: list[str]) -> dict[str, Any]:
    return {"type": "string", "enum": words}


def _some_of(words: list[str], count: int) -> dict[str, Any]:
    return {"type": "array", "items": _one_of(words), "minItems": count, "maxItems": count}


def _digit() -> dict[str, Any]:
    return {"type": "integer", "enum": [1, 2, 3, 4, 5, 6, 7, 8, 9]}


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


# Enumerations and lists of a fixed length alone: whoever asks, an answer has the same fields and as many values.
_RISK = _object(what=_one_of(_RISKS), severity=_digit(), detectability=_digit(), reversibility=_digit())
_OCEAN = _object(
    openness=_digit(), conscientiousness=_digit(), extraversion=_digit(), agreeableness=_digit(), neuroticism=_digit()
)
AGENTS: tuple[dict[str, Any], ...] = (
    {
        "name": "coach",
        "instructions": "You are the Coach. Answer the person warmly and to the point, in one paragraph.",
        "schema": None,
    },
    {
        "name": "shadow",
        "instructions": "You are the Shadow. Compare what the person says they want with what they do. Name the "
        "patterns that you see, and how likely it is (1 to 9) that the promise holds for a week, a month, to the end.",
        "schema": _object(
            patterns=_some_of(_PATTERNS, 4), chances=_object(week=_digit(), month=_digit(), end=_digit())
        ),
    },
    {
        "name": "persona",
        "instructions": "You are Persona. Estimate the person's five traits from 1 to 9, and name the patterns that "
        "come back in what they tell.",
        "schema": _object(traits=_OCEAN, recurring=_some_of(_PATTERNS, 3)),
    },
    {
        "name": "plasticity",
        "instructions": "You are Plasticity. Say how to speak with this person: directness, warmth, structure and "
        "pace from 1 to 9, and the four moves that suit them.",
        "schema": _object(
            directness=_digit(), warmth=_digit(), structure=_digit(), pace=_digit(), moves=_some_of(_MOVES, 4)
        ),
    },
    {
        "name": "stability",
        "instructions": "You are Stability. Name the three greatest risks, each with severity, detectability and "
        "reversibility from 1 to 9, and the one move that must not be made now.",
        "schema": _object(
            risks={"type": "array", "items": _RISK, "minItems": 3, "maxItems": 3}, blocked=_one_of(_MOVES)
        ),
    },
    {
        "name": "synth",
        "instructions": "You are Synth. Merge what the others found into the full reply to the person, in one "
        "paragraph that goes on from what the Coach has said.",
        "schema": None,
    },
)
"""The first answers at once, the last one when all others have written; those between have a schema."""

_WHEN = ("On Monday", "On Tuesday", "After work", "Before breakfast", "On the train", "Late at night", "At noon")
_WHAT = ("they wrote two pages", "they read about the archive", "they called their sister", "they went for a run")
_HOW = ("and felt quiet about it", "and slept badly", "though the plan said more", "which was what they wanted")


def diary(sentences: int) -> str:
    """What is known of the person, as much as is wanted; the same for everybody, and nothing in it repeats in a row."""
    chance = random.Random(11)
    return " ".join(
        f"{chance.choice(_WHEN)} of week {number} {chance.choice(_WHAT)} {chance.choice(_HOW)}."
        for number in range(1, sentences + 1)
    )


def make_work(url: str, api_key: str, model: str, *, case: str, sentences: int, turns: int) -> dict[str, Any]:
    """The work of one driver.

    Args:
        url: Root of the engine's interface, without `/v1`.
        api_key: Its key.
        model: The served model.
        case: A word that stands at the beginning of every prompt, so that no driver finds what another had computed.
        sentences: How much is known of the person.
        turns: How many turns the session has.
    """
    return {
        "url": url,
        "api_key": api_key,
        "model": model,
        "task": f"Case {case}. {TASK}",
        "memory": diary(sentences),
        "messages": list(MESSAGES[:turns]),
        "agents": list(AGENTS),
        "max_tokens": MAX_TOKENS,
    }
