"""Mixed schemas with a request each: what structured calls are tried on, in the benchmark and in the tests."""

from dataclasses import dataclass
from typing import Any

from repertory.engines.protocol import ChatMessage, GenerateRequest
from repertory.engines.schema import field_guide

__all__ = ("CASES", "Case", "request_for")

SYSTEM = "You read a short note and answer with the fields that are asked for."
NOTES = (
    "Mara wants to run three times a week. She ran on Monday, skipped Wednesday, and bought new shoes.",
    "Il progetto Aurora è in ritardo di due settimane; il budget di 4000 euro è quasi finito.",
    "The shop in Leeds sold 12 lamps, 3 desks and no chairs on 2026-03-14. The owner is worried.",
    'He said: "I will call you tomorrow", but {never} did. Twice! 🙂',
    "明天九点开会 讨论新产品的价格和发布日期。",
    "",
)


def text(length: int, **more: Any) -> dict[str, Any]:
    return {"type": "string", "maxLength": length, **more}


def obj(required: bool = True, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties} | ({"required": list(properties)} if required else {})


def listed(items: dict[str, Any], most: int, **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, "maxItems": most, **more}


SCORE = {"type": "integer", "minimum": 1, "maximum": 10}


@dataclass(frozen=True)
class Case:
    """A schema and what is asked with it."""

    name: str
    task: str
    schema: dict[str, Any]


CASES = (
    Case("flat", "Say who and what it is about.", obj(who=text(40), what=text(80), done={"type": "boolean"})),
    Case(
        "choices",
        "Classify the note.",
        obj(why=text(80), mood={"enum": ["good", "bad", "mixed", "none"]}, kind={"const": "note"}),
    ),
    Case(
        "probability",
        "How likely is it to go well?",
        obj(basis=text(80), p={"type": "number", "minimum": 0, "maximum": 1}),
    ),
    Case(
        "risks",
        "List what could go wrong.",
        obj(risks=listed(obj(what=text(50), severity=SCORE, detectability=SCORE), 3, minItems=1)),
    ),
    Case(
        "nullable",
        "Give the date if there is one.",
        obj(
            date={"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
            place={"type": ["string", "null"], "maxLength": 30},
        ),
    ),
    Case(
        "patterns",
        "Name the messages it rests on.",
        obj(
            evidence=listed(text(6, pattern=r"^m\d{1,4}$"), 3, minItems=1), code=text(12, pattern="^[A-Z]{2}-[0-9]{3}$")
        ),
    ),
    Case(
        "nested",
        "Describe the person's traits.",
        {
            **obj(openness={"$ref": "#/$defs/Trait"}, stability={"$ref": "#/$defs/Trait"}),
            "$defs": {"Trait": obj(evidence=text(40), score={"type": "integer", "minimum": 0, "maximum": 100})},
        },
    ),
    Case(
        "either",
        "Give the most important thing.",
        obj(
            thing={
                "oneOf": [
                    obj(kind={"const": "person"}, name=text(30)),
                    obj(kind={"const": "amount"}, value={"type": "number"}, unit=text(12)),
                ]
            }
        ),
    ),
    Case(
        "pair",
        "Give a word and a number.",
        obj(pair={"type": "array", "prefixItems": [text(20), {"type": "integer"}], "items": False, "minItems": 2}),
    ),
    Case(
        "joined",
        "Give a title and tags.",
        {
            "allOf": [
                obj(title=text(40)),
                obj(tags=listed({"enum": ["work", "home", "money", "health", "other"]}, 3, uniqueItems=True)),
            ]
        },
    ),
    Case("words", "Sum it up in two sentences.", obj(summary=text(240, minLength=20))),
    Case(
        "unbounded", "List the main points.", obj(points={"type": "array", "items": {"type": "string"}, "maxItems": 3})
    ),
)


def request_for(number: int, *, cap: int = 320) -> tuple[Case, GenerateRequest]:
    """The call with this number: cases and notes take turns."""
    case = CASES[number % len(CASES)]
    note = NOTES[number // len(CASES) % len(NOTES)]
    user = f"Note: {note}\n\n{case.task}\n\n# Answer as one JSON object\n{field_guide(case.schema)}"
    messages = (ChatMessage("system", SYSTEM), ChatMessage("user", user))
    request = GenerateRequest(messages=messages, max_output_tokens=cap, temperature=0.4, seed=number)
    return case, request
