"""Reading a folded text: into sentences and words, words into concepts, concepts into dangers."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from repertory.teams.coaching.safety.concepts.chat_spelling import as_written_out
from repertory.teams.coaching.safety.concepts.danger_rules import DANGER_RULES
from repertory.teams.coaching.safety.concepts.english import ENGLISH_WORDS
from repertory.teams.coaching.safety.concepts.french import FRENCH_WORDS
from repertory.teams.coaching.safety.concepts.german import GERMAN_WORDS
from repertory.teams.coaching.safety.concepts.lexicon import Lexicon, Span, compile_lexicon
from repertory.teams.coaching.safety.concepts.portuguese import PORTUGUESE_WORDS
from repertory.teams.coaching.safety.concepts.spanish import SPANISH_WORDS
from repertory.teams.coaching.safety.concepts.tongues import tongues_of
from repertory.teams.coaching.safety.signs import Category

__all__ = ("dangers_in",)

_SENTENCE = re.compile(r"[.!?;:\n…~()\"“”«»]+")
_WORD = re.compile(r"[^\W_]+|,")
_MAX_WORDS = 60
"""A sentence without an end is read in overlapping stretches of this many words."""
_LANGUAGES: Mapping[str, Mapping[str, str]] = {
    "en": ENGLISH_WORDS,
    "pt": PORTUGUESE_WORDS,
    "es": SPANISH_WORDS,
    "de": GERMAN_WORDS,
    "fr": FRENCH_WORDS,
}


@cache
def _lexicon(code: str) -> Lexicon:
    """Compiled when a sentence is first read in the language: that takes longer than reading the sentence."""
    return compile_lexicon(_LANGUAGES[code])


def _sentences(text: str) -> Iterator[Sequence[str]]:
    """The words of each sentence, as written."""
    for sentence in _SENTENCE.split(text):
        words = _WORD.findall(sentence)
        if len(words) <= _MAX_WORDS:
            if words:
                yield words
        else:
            yield from (words[start : start + _MAX_WORDS] for start in range(0, len(words), _MAX_WORDS // 2))


def _readings(text: str) -> Iterator[dict[str, list[Span]]]:
    seen: set[tuple[str, ...]] = set()
    for written in _sentences(text):
        # The same sentence over and over is read once.
        if (key := tuple(written)) in seen:
            continue
        seen.add(key)
        words = [meant for word in written for meant in as_written_out(word)]
        for code in tongues_of(written, _LANGUAGES):
            if concepts := _lexicon(code).read(words):
                yield concepts


def dangers_in(text: str) -> set[Category]:
    """The kinds of danger that a folded text tells of."""
    return {rule.category for concepts in _readings(text) for rule in DANGER_RULES if rule.holds(concepts)}
