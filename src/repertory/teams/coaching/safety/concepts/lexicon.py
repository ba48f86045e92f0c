"""A language's words by concept, compiled to a tree of words that is walked once over a text.

A line of a lexicon holds phrases, set apart by `|`. In a phrase, `a/b` are alternatives, `(a)` may be missing, `a*` is
any word that begins so, and `_` is any one word. Apostrophes and hyphens split words: "don't" is read as "don t".
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from repertory.teams.coaching.safety.concepts.chat_spelling import as_written_out

__all__ = ("GUARD", "Lexicon", "Span", "compile_lexicon")

GUARD = "GUARD"
"""The concept of what only looks like another: it takes away all concepts that lie within its words."""

_SHORTEST_STEM = 2
_LONGEST_STEM = 24
_PARTS = re.compile(r"['\-]")


@dataclass(frozen=True, slots=True)
class Span:
    """Where a concept stands: word `start` up to word `end`, not included."""

    start: int
    end: int


@dataclass(slots=True, eq=False)
class _Node:
    """One word of the tree: what may follow, and the concepts of the phrases that end here."""

    words: "dict[str, _Node]" = field(default_factory=dict[str, "_Node"])
    stems: "dict[str, _Node]" = field(default_factory=dict[str, "_Node"])
    any_word: "_Node | None" = None
    concepts: list[str] = field(default_factory=list[str])

    def after(self, word: str) -> "Iterator[_Node]":
        if (node := self.words.get(word)) is not None:
            yield node
        if self.stems:
            for length in range(_SHORTEST_STEM, min(len(word), _LONGEST_STEM) + 1):
                if (node := self.stems.get(word[:length])) is not None:
                    yield node
        if self.any_word is not None and word != ",":
            yield self.any_word


@dataclass(frozen=True)
class Lexicon:
    """The compiled words of one language."""

    root: _Node

    def read(self, words: Sequence[str]) -> dict[str, list[Span]]:
        """The concepts of a sentence's words and where they stand, without those that a guard takes away."""
        found: dict[str, list[Span]] = {}
        for start in range(len(words)):
            for concept, end in self._from(words, start):
                found.setdefault(concept, []).append(Span(start, end))
        guards = found.pop(GUARD, None)
        return _without_guarded(found, guards) if guards else found

    def _from(self, words: Sequence[str], start: int) -> Iterator[tuple[str, int]]:
        nodes, end = list(self.root.after(words[start])), start + 1
        while nodes:
            for node in nodes:
                for concept in node.concepts:
                    yield concept, end
            if end == len(words):
                return
            nodes = [following for node in nodes for following in node.after(words[end])]
            end += 1


def _without_guarded(found: Mapping[str, list[Span]], guards: Sequence[Span]) -> dict[str, list[Span]]:
    kept: dict[str, list[Span]] = {}
    for concept, spans in found.items():
        free = [span for span in spans if not any(_covers(guard, span) for guard in guards)]
        if free:
            kept[concept] = free
    return kept


def _covers(guard: Span, span: Span) -> bool:
    return guard.start <= span.start and span.end <= guard.end


def compile_lexicon(phrases: Mapping[str, str]) -> Lexicon:
    """Compile a language's phrases by concept.

    Raises:
        ValueError: A phrase has nothing that must be said, and would be found everywhere.
    """
    root = _Node()
    for concept, lines in phrases.items():
        for phrase in re.split(r"[|\n]", lines):
            if slots := [_slot(item) for item in phrase.split()]:
                _add(root, slots, concept)
    return Lexicon(root)


def _slot(item: str) -> list[tuple[str, ...]]:
    """The words that may stand in one place of a phrase; the empty ones say that the place may be left out."""
    optional = item.startswith("(") and item.endswith(")")
    alternatives = (item[1:-1] if optional else item).split("/")
    words = [
        tuple(itertools.chain.from_iterable(as_written_out(part) for part in _PARTS.split(word) if part))
        for word in alternatives
    ]
    return [*words, ()] if optional else words


def _add(root: _Node, slots: Sequence[Sequence[Sequence[str]]], concept: str) -> None:
    ends = [root]
    for slot in slots:
        grown = (_grow(node, words) for node in ends for words in slot)
        ends = list({id(node): node for node in grown}.values())
    if root in ends:
        message = f"a phrase of {concept} may be left out altogether: {slots}"
        raise ValueError(message)
    for node in ends:
        if concept not in node.concepts:
            node.concepts.append(concept)


def _grow(node: _Node, words: Sequence[str]) -> _Node:
    for word in words:
        if word == "_":
            node.any_word = node.any_word or _Node()
            node = node.any_word
        elif word.endswith("*"):
            node = node.stems.setdefault(word[:-1], _Node())
        else:
            node = node.words.setdefault(word, _Node())
    return node
