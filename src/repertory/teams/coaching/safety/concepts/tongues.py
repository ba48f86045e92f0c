"""In which languages a sentence may be: words of one language that look like another's would say things nobody said.

German "die" is no dying, and "I want to die" is no German. What does not tell its language is read in all of them.
"""

# ruff: noqa: E501 - word lists read best with one group a line

from collections.abc import Collection, Iterable

from repertory.teams.coaching.language import COMMON_WORDS
from repertory.teams.coaching.words import word_set

__all__ = ("tongues_of",)

# What is common in a chat and tells the language as surely as an article does.
_IN_CHATS = {
    "en": word_set(
        "im dont cant wont didnt ive id ill u ur wanna gonna gotta idk lol tbh she he her his him would her no one"
        " any more going myself think who how why"
    ),
    "pt": word_set("nao vc tou tava pra pro q so mais eles elas lhe sem ja minha meus minhas foi esta estou ninguem"),
    "es": word_set("kiero boi oy stoy toy no ya solo mas ellos ella nadie todos todo esta estoy sin he ha nos"),
    "de": word_set("hab nix ned nich net ihn ihr ihm sein kein keine keiner alle wer wie dann ohne wurde mehr wird"),
    "fr": word_set(
        "jveux jpeux jvais jsuis jai jen chuis sui l d n s m c qu ca est moi lui leur sera etre plus rien ni ils elles ont"
    ),
}
_WORDS = {code: words | _IN_CHATS.get(code, frozenset()) for code, words in COMMON_WORDS.items()}


def tongues_of(words: Iterable[str], known: Collection[str]) -> list[str]:
    """The languages, of those that are known, that a sentence of folded words may be in.

    These are the language with the most of its commonest words in the sentence and every one with half as many.
    """
    written = list(words)
    scores = {code: sum(word in common for word in written) for code, common in _WORDS.items()}
    best = max(scores.values())
    return [code for code in known if scores[code] * 2 >= best]
