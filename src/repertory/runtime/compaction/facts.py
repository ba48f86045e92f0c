"""A fact that is remembered of a session, and how it is told from one that a model made up."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from repertory.errors import StorageError
from repertory.storage.records import SessionSummary

__all__ = ("Fact", "content_words", "dump_facts", "facts_schema", "is_grounded", "read_facts", "same_fact")

_WORD = re.compile(r"\w+")
_SHORTEST = 3
"""Letters of the shortest word that says something; in scripts without spaces every word counts."""
_ENDING = 3
"""Letters of the longest ending of a word's form."""
_GROUNDED = 0.6
"""The part of a fact's words that must stand in the message it names."""
_SAME = 0.6
"""The part of two facts' words that must be the same for them to be one."""


class Fact(BaseModel):
    """One thing that the person said.

    Attributes:
        text: What, in few words.
        message: The message it stands in.
        date: When it was said (ISO date).
        lasting: Whether it will still be true and of use in months.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    text: str
    message: str
    date: str
    lasting: bool = False


_FACTS: TypeAdapter[tuple[Fact, ...]] = TypeAdapter(tuple[Fact, ...])


def dump_facts(facts: Sequence[Fact]) -> str:
    """Facts as the text of a session's summary."""
    return _FACTS.dump_json(tuple(facts)).decode()


def read_facts(summaries: Iterable[SessionSummary]) -> list[Fact]:
    """The facts of sessions, in their order.

    Raises:
        StorageError: A summary is damaged.
    """
    facts: list[Fact] = []
    for summary in summaries:
        try:
            facts += _parsed(summary.text)
        except ValidationError as error:
            message = "the summary is damaged or was written by another version of Repertory"
            hint = "compact the session again; its messages are all there"
            raise StorageError(message, where=f"session {summary.session}", hint=hint) from error
    return facts


@lru_cache(maxsize=1024)
def _parsed(text: str) -> tuple[Fact, ...]:
    """A session's facts; they are read at every turn and change only between sessions."""
    return _FACTS.validate_json(text)


@lru_cache(maxsize=16_384)
def content_words(text: str) -> frozenset[str]:
    """The words of a text that say something, without case."""
    words = _WORD.findall(text.casefold())
    return frozenset(word for word in words if len(word) >= _SHORTEST or word.isdecimal() or not word.isascii())


def is_grounded(fact: str, message: str) -> bool:
    """Whether a fact is made of words that stand in the message it names."""
    words, said = content_words(fact), content_words(message)
    held = [word for word in words if word in said or any(_inflected(word, other) for other in said)]
    return bool(words) and len(held) >= _GROUNDED * len(words)


def _inflected(word: str, other: str) -> bool:
    """Whether two words look like forms of one: `likes` and `like`, `moved` and `moving`."""
    shared = next((n for n, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other)))
    return shared >= _SHORTEST and max(len(word), len(other)) - shared <= _ENDING


def same_fact(one: str, other: str) -> bool:
    """Whether two texts say the same thing, by their words; other numbers make another thing."""
    a, b = content_words(one), content_words(other)
    numbers = {word for word in a ^ b if word.isdecimal()}
    return bool(a and b) and not numbers and len(a & b) >= _SAME * len(a | b)


def facts_schema(messages: Sequence[str]) -> dict[str, Any]:
    """The schema of what the model writes about a stretch of talk with these messages."""
    fact = {
        "type": "object",
        "properties": {
            "message": {"type": "string", "enum": list(messages), "description": "id of the message it stands in"},
            "text": {"type": "string", "minLength": 1, "maxLength": 160, "description": "in the person's own words"},
            "lasting": {"type": "boolean", "description": "true when it will matter in months"},
        },
        "required": ["message", "text", "lasting"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"facts": {"type": "array", "items": fact, "maxItems": 8}},
        "required": ["facts"],
        "additionalProperties": False,
    }
