"""A rule's pattern: concepts that stand together in one sentence.

- `WISH >5 DIE`: a wish, and at most five words later dying;
- `BETTER <>8 GONE`: in any order, at most eight words between them;
- `A|B`: one of two concepts;
- `... & I`: somewhere in the sentence also this;
- `... ! FICTION`: but not this within 15 words: who writes without full stops tells of the kitchen in the same breath.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from repertory.teams.coaching.safety.concepts.lexicon import Span
from repertory.teams.coaching.safety.signs import Category

__all__ = ("Rule", "rule")

_STEP = re.compile(r"(<?>)(\d+)$")
_BARS_WITHIN = 15
Concepts = Mapping[str, Sequence[Span]]


@dataclass(frozen=True)
class _Step:
    """The next concept of a pattern, and how far it may stand from the one before."""

    concepts: tuple[str, ...]
    gap: int = 0
    either_side: bool = False

    def spans(self, found: Concepts) -> list[Span]:
        return [span for concept in self.concepts for span in found.get(concept, ())]

    def reaches(self, before: Span, span: Span) -> bool:
        if span.start >= before.end:
            return span.start - before.end <= self.gap
        return self.either_side and span.end <= before.start and before.start - span.end <= self.gap


@dataclass(frozen=True)
class Rule:
    """Concepts that together are danger, and of which kind."""

    category: Category
    steps: tuple[_Step, ...]
    needed: tuple[tuple[str, ...], ...]
    barred: frozenset[str]

    def holds(self, found: Concepts) -> bool:
        """Whether a sentence's concepts show this danger."""
        if not all(any(concept in found for concept in concepts) for concepts in self.needed):
            return False
        # The last two words of each way through the steps: what was said once is not counted twice.
        ends: set[tuple[Span | None, Span]] = {(None, span) for span in self.steps[0].spans(found)}
        for step in self.steps[1:]:
            if not ends:
                return False
            spans = step.spans(found)
            ends = {
                (last, span)
                for before, last in ends
                for span in spans
                if step.reaches(last, span) and not (before is not None and _overlap(before, span))
            }
        bars = [span for concept in self.barred for span in found.get(concept, ())]
        return any(not any(_apart(last, bar) <= _BARS_WITHIN for bar in bars) for _, last in ends)


def _apart(one: Span, other: Span) -> int:
    """How many words stand between two spans; zero or less when there are none."""
    return max(one.start, other.start) - min(one.end, other.end)


def _overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def rule(category: Category, text: str) -> Rule:
    """Read one rule.

    Raises:
        ValueError: The pattern can not be read.
    """
    pattern, *barred = text.split("!")
    sequence, *needed = pattern.split("&")
    first, *rest = sequence.split()
    if len(rest) % 2:
        message = f"a distance or a concept is missing in {text!r}"
        raise ValueError(message)
    steps = [_Step(tuple(first.split("|")))]
    for distance, concepts in zip(rest[::2], rest[1::2], strict=True):
        if (match := _STEP.match(distance)) is None:
            message = f"{distance!r} in {text!r} is no distance, such as >4 or <>4"
            raise ValueError(message)
        steps.append(_Step(tuple(concepts.split("|")), int(match[2]), match[1] == "<>"))
    return Rule(
        category,
        tuple(steps),
        tuple(tuple(item.strip().split("|")) for item in needed),
        frozenset(item.strip() for item in barred),
    )
