"""Finds the Researcher's notes that bear on a request, by the words they share with it (BM25)."""

import math
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, cast

from ruamel.yaml import YAML

__all__ = ("Note", "all_notes", "find_notes")

# Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009): the usual constants.
_K1 = 1.2
_B = 0.75
_LEAST_WORDS = 2
"""Words that a note must share with the request."""

_WORD = re.compile(r"[a-z][a-z0-9]+")
_STOP = frozenset(
    re.findall(
        r"\w+",
        "and are but can for from give gives given how into its need one out please returns that the them then there "
        "this tool tools two want with you your int string error value result",
    )
)


@dataclass(frozen=True)
class Note:
    """One note: the words by which it is found, what it says, and code that shows it."""

    about: tuple[str, ...]
    text: str
    code: str = ""

    def __str__(self) -> str:
        return f"- {self.text}" + (f"\n```python\n{self.code.strip()}\n```" if self.code else "")


@cache
def all_notes() -> tuple[Note, ...]:
    """Every note of the package."""
    text = files("repertory.teams.engineering").joinpath("knowledge.yaml").read_text(encoding="utf-8")
    rows = cast("list[dict[str, Any]]", YAML(typ="safe").load(text))  # pyright: ignore[reportUnknownMemberType]
    return tuple(
        Note(tuple(str(row["about"]).split()), " ".join(str(row["note"]).split()), str(row.get("code", "")))
        for row in rows
    )


def find_notes(request: str, *, most: int = 3) -> list[Note]:
    """The notes that share the most telling words with a request, the best first."""
    notes = all_notes()
    wanted = set(_stems(request))
    stems = [Counter(_stem(word) for word in note.about) for note in notes]
    holders = Counter(stem for counts in stems for stem in counts)
    usual = sum(len(note.about) for note in notes) / len(notes)

    def score(place: int) -> float:
        shared = wanted & stems[place].keys()
        if len(shared) < _LEAST_WORDS:
            return 0.0
        length = _K1 * (1 - _B + _B * len(notes[place].about) / usual)
        return sum(
            math.log(1 + (len(notes) - holders[stem] + 0.5) / (holders[stem] + 0.5)) * (_K1 + 1) / (1 + length)
            for stem in shared
        )

    ranked = sorted(range(len(notes)), key=lambda place: (-score(place), place))
    return [notes[place] for place in ranked[:most] if score(place) > 0]


def _stems(text: str) -> list[str]:
    return [_stem(word) for word in _WORD.findall(text.lower().replace("_", " ")) if word not in _STOP]


def _stem(word: str) -> str:
    """Take an English ending off, so that `streaks` finds `streak`."""
    for ending in ("ies", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) > 2:
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word
