"""The priority of a risk: our own small rule over four ratings, severity first.

| priority | when |
| --- | --- |
| H | severity >= 9 and occurrence >= 2 |
| H | severity >= 7 and (occurrence >= 6 or detectability >= 7) |
| H | severity >= 6 and hard to undo or irreversible |
| L | severity <= 3, or occurrence = 1, or severity <= 5 and occurrence <= 3 and detectability <= 4 |
| M | everything else |

H is looked at first. Ratings are 1..10; detectability 10 means nobody would notice in time; reversibility 1..3 easy
(undone in a day), 4..6 partial (days to weeks), 7..8 hard (months, other people), 9..10 irreversible. Products of
ratings are not used: they are ordinal.
"""

from typing import Literal

__all__ = ("Priority", "ReversibilityClass", "priority_of", "reversibility_class")

Priority = Literal["H", "M", "L"]
ReversibilityClass = Literal["easy", "partial", "hard", "irreversible"]


def reversibility_class(rating: int) -> ReversibilityClass:
    """The class of a reversibility rating 1..10."""
    return "easy" if rating <= 3 else "partial" if rating <= 6 else "hard" if rating <= 8 else "irreversible"


def priority_of(severity: int, occurrence: int, detectability: int, reversibility: int) -> Priority:
    """H, M or L by the rule above."""
    hard_to_undo = reversibility_class(reversibility) in {"hard", "irreversible"}
    if (severity >= 9 and occurrence >= 2) or (severity >= 7 and (occurrence >= 6 or detectability >= 7)):
        return "H"
    if hard_to_undo and severity >= 6:
        return "H"
    if severity <= 3 or occurrence == 1 or (severity <= 5 and occurrence <= 3 and detectability <= 4):
        return "L"
    return "M"
