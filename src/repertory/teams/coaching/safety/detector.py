"""The detector of danger in a person's message: by rules, recall first, in seven languages at once.

All lists are applied to every text, because people change language when it matters. Figures of speech are taken
out first, per language. What is left over is searched in the text and in its variants with disguises undone: for known
phrases, and for concepts that together are danger (`concepts`). Either is enough.
"""

# ruff: noqa: E501 - word lists read best with one alternative group a line

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from repertory.teams.coaching.safety.combinations import shows_combination
from repertory.teams.coaching.safety.concepts import dangers_in
from repertory.teams.coaching.safety.disguise import plain_variants, spelled_out
from repertory.teams.coaching.safety.dutch import DUTCH
from repertory.teams.coaching.safety.english import ENGLISH
from repertory.teams.coaching.safety.french import FRENCH
from repertory.teams.coaching.safety.german import GERMAN
from repertory.teams.coaching.safety.indirect import INDIRECT
from repertory.teams.coaching.safety.italian import ITALIAN
from repertory.teams.coaching.safety.portuguese import PORTUGUESE
from repertory.teams.coaching.safety.signs import Category, LanguageSigns
from repertory.teams.coaching.safety.spanish import SPANISH
from repertory.teams.coaching.words import fold

__all__ = ("Level", "Signal", "signal_of")

Level = Literal["none", "low", "elevated", "crisis"]

_ALL: tuple[LanguageSigns, ...] = (ENGLISH, PORTUGUESE, SPANISH, GERMAN, FRENCH, DUTCH, ITALIAN)
_MAX_CHARS = 600_000
# "I am not suicidal", said with no other sign: noted, not a crisis by itself.
_DENIAL = re.compile(
    r"\b(?:i'?m|i am|i was|i'?ve|not|never|nao|no|ich bin|ne suis) (?:not |never |nicht |pas |no |nao )?(?:(?:estou|sou|estoy|soy|been) )?"
    r"(?:suicid|suizid)\w*"
)
_NEGATION = re.compile(r"\b(?:not|never|isn't|nao|no|nicht|pas|kein\w*)\b")
# What is spelled letter by letter loses the gaps between its words; only whole phrases without another reading.
_SPELLED = re.compile(
    r"suicid|suizid|selbstmord|zelfmoord|kill(?:ing)?myself|(?:wantto|wanna|goingto)die|end(?:ing)?mylife|takemylife|hangmyself|cutmyself|"
    r"betteroffdead|dont?wanttolive|dontwanttobehere|wishiwasdead|unalive|(?:will|mochte|moechte)(?:nur|einfach)?sterben|michumbringen|"
    r"bringmichum|bringemichum|nichtmehrleben|totsein|queromorrer|quieromorir|(?:mequiero|quero|quero?me|voume|voya)matar|mematar|matarme|"
    r"quitarmelavida|tirara?minhavida|veuxmourir|metuer|mesuicid|finirmavie|wildood|nietmeerleven|mezelfdoden|vogliomorire|uccidermi|ammazzarmi"
)
_PRIORITY: tuple[Category, ...] = ("self", "danger", "harm_others", "third_party")


@dataclass(frozen=True)
class Signal:
    """What one text shows.

    Attributes:
        level: How grave it is.
        category: What kind of danger, for a crisis.
    """

    level: Level = "none"
    category: Category | None = None


def _without_idioms(text: str) -> str:
    for signs in _ALL:
        text = signs.idioms.sub(" ~ ", text)
    return text


def _without_denials(text: str) -> tuple[str, bool]:
    found = False

    def drop(match: re.Match[str]) -> str:
        nonlocal found
        if _NEGATION.search(match.group()):
            found = True
            return " ~ "
        return match.group()

    return _DENIAL.sub(drop, text), found


def _categories(text: str) -> set[Category]:
    found: set[Category] = set()
    for signs in _ALL:
        others = signs.third_party.sub(" ~ ", text)
        if others != text:
            found.add("third_party")
        if signs.danger.search(text):
            found.add("danger")
        if signs.harm_others.search(text):
            found.add("harm_others")
    without_others = text
    for signs in _ALL:
        without_others = signs.third_party.sub(" ~ ", without_others)
    direct = any(signs.self_crisis.search(without_others) for signs in _ALL)
    if direct or INDIRECT.search(without_others) or shows_combination(without_others):
        found.add("self")
    return found | dangers_in(text)


# Somebody else's death by suicide is grief, not an emergency: it is taken out and counts as elevated.
_BEREAVED = re.compile(
    r"\b(?:lost (?:\w+ ){1,4}to suicide|(?:died|dead|death|dies) (?:by|of|from) suicide|(?:he|she|\w+) (?:committed|died by) suicide|"
    r"(?:perdi|perdeu) (?:\w+ ){1,4}(?:para|por|pro) (?:o )?suicidio|se (?:suicidou|suicido|est suicidee?)|"
    r"(?:hat|haben) sich (?:\w+ )?(?:umgebracht|das leben genommen)|s'est (?:suicidee?|tuee?))"
)


def _variants(text: str) -> Iterator[str]:
    yield from plain_variants(text)
    # Those have no lines any more; in a chat the end of a line is the end of a sentence.
    if "\n" in text:
        yield fold(text)


def signal_of(text: str) -> Signal:
    """Judge one text by itself."""
    level: Level = "none"
    text = text[:_MAX_CHARS]
    if _SPELLED.search(spelled_out(text)):
        return Signal("crisis", "self")
    for variant in _variants(text):
        plain, denied = _without_denials(_without_idioms(variant))
        grieving = _BEREAVED.sub(" ~ ", plain)
        bereaved = grieving != plain
        found = _categories(grieving)
        for category in _PRIORITY:
            if category in found:
                return Signal("crisis", category)
        if bereaved or any(signs.elevated.search(grieving) for signs in _ALL):
            level = "elevated"
        elif denied and level == "none":
            level = "low"
    return Signal(level)
