"""Which language a text is in: the five with fixed texts by their commonest words, others by their script."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import Literal

from repertory.teams.coaching.words import fold, word_set

__all__ = (
    "COMMON_WORDS",
    "FIXED_LANGUAGES",
    "FixedLanguage",
    "detect",
    "fixed_language",
    "language_name",
    "languages_differ",
    "surely_other",
)

FixedLanguage = Literal["en", "pt", "es", "de", "fr"]
FIXED_LANGUAGES: tuple[FixedLanguage, ...] = ("en", "pt", "es", "de", "fr")

_NAMES = {
    "en": "English", "pt": "Portuguese", "es": "Spanish", "de": "German", "fr": "French", "it": "Italian",
    "nl": "Dutch", "cyrillic": "the language of the message", "ru": "Russian", "uk": "Ukrainian", "ar": "Arabic",
    "he": "Hebrew", "zh": "Chinese", "ja": "Japanese", "ko": "Korean", "el": "Greek", "hi": "Hindi", "th": "Thai",
}  # fmt: skip

COMMON_WORDS: dict[str, frozenset[str]] = {
    "en": word_set(
        """
        the and to of a i is it in that was for you my me on with have this be at but not are do did so we
        what will they just want about if can would i'm i'll don't it's from or your an as had been how when
        there no need now again week today tomorrow could should get then only
    """
    ),
    "pt": word_set(
        """
        o a os as de que e nao um uma eu para com do da em meu minha me mas por mais como foi voce ele ela
        isso este esta tenho vou muito ja tambem quando se na no nos ao quero fiz sou estou semana hoje
        amanha acho ser tem pra sem ate fazer
        seu sua seus suas qualquer poderia pode qual isto disso
    """
    ),
    "es": word_set(
        """
        el la los las de que y no un una yo para con del en mi me pero por mas como fue usted el ella eso
        este esta tengo voy muy ya tambien cuando se lo al quiero hice soy estoy semana hoy manana creo ser
        es hay sin hasta hacer le su porque
        tu tus cual podrias puedes podria esto
    """
    ),
    "de": word_set(
        """
        der die das und ich nicht ist ein eine zu in es mit auf fur mich mir aber wie war habe hat du sie er
        wir den dem des im von an auch so als noch nur wenn mein meine will kann werde schon heute morgen
        woche diese dass oder bin sind zum zur mal
        dein deine dich dir bitte kannst konntest ware
    """
    ),
    "fr": word_set(
        """
        le la les de des et je ne pas est un une que qui a en pour dans mon ma mes me mais avec plus comme
        c'est j'ai il elle ce cette suis sur au aux du se on nous vous tres bien fait veux vais semaine
        demain aujourd'hui tout ai ou si sans
        ton ta tes tu quel quelle peux pourrais cela ceci serait
    """
    ),
    "it": word_set(
        """
        il lo gli che di e non un una io per con del della sono mio mia mi ma piu come e' ho ha questo
        questa voglio molto anche quando settimana domani oggi fare nel alla perche
    """
    ),
    "nl": word_set(
        """
        de het een en ik niet is van dat te in op met voor mijn maar zijn ook als nog wil heb heeft deze
        week morgen vandaag ben wat er naar om aan bij
    """
    ),
}
"""The commonest words of each language, folded; words shared by two languages count for both."""

_TELLTALE = {"pt": "ãõ", "es": "ñ¿¡", "de": "ß", "fr": "êœëù"}
_SCRIPTS = (
    ("HIRAGANA", "ja"), ("KATAKANA", "ja"), ("HANGUL", "ko"), ("CJK", "zh"), ("ARABIC", "ar"), ("HEBREW", "he"),
    ("CYRILLIC", "ru"), ("GREEK", "el"), ("DEVANAGARI", "hi"), ("THAI", "th"),
)  # fmt: skip
_SURE_FROM = 2
"""Common words of a language from which a single sentence is held to be in it."""
_LONG_FROM = 7
"""Words of a sentence that hardly ever come without one of the language's commonest."""
_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)*")


def _script(text: str) -> str | None:
    counts: Counter[str] = Counter()
    for char in text[:2000]:
        if char.isalpha():
            name = unicodedata.name(char, "")
            counts[next((code for prefix, code in _SCRIPTS if name.startswith(prefix)), "latin")] += 1
    if not counts:
        return None
    if counts["ja"] and counts["ja"] + counts["zh"] > counts["latin"]:
        return "ja"
    return counts.most_common(1)[0][0]


def _scores(text: str) -> dict[str, float]:
    """How much of a text in Latin letters speaks for each language."""
    tokens = _TOKEN.findall(fold(text[:4000]))
    scores = {code: float(sum(token in common for token in tokens)) for code, common in COMMON_WORDS.items()}
    lowered = text.lower()
    for code, letters in _TELLTALE.items():
        scores[code] += 1.5 * sum(char in letters for char in lowered)
    return scores


def detect(text: str) -> str | None:
    """The language's code, or None when the text does not say (too short, no letters, another Latin language)."""
    script = _script(text)
    if script is None or script != "latin":
        return script
    ranked = sorted(_scores(text).items(), key=lambda pair: -pair[1])
    (best, score), (_, second) = ranked[0], ranked[1]
    if score < 1 or score == second or score < len(_TOKEN.findall(fold(text[:4000]))) * 0.12:
        return None
    return best


def fixed_language(texts: Iterable[str]) -> FixedLanguage:
    """The language for fixed words: that of the first text that tells one of the five; English otherwise.

    Args:
        texts: The person's message first, then earlier ones, newest first.
    """
    for text in texts:
        code = detect(text)
        for known in FIXED_LANGUAGES:
            if code == known:
                return known
        if code is not None:
            return "en"
    return "en"


def language_name(code: str | None) -> str:
    """The language's English name, for an instruction to a model."""
    return _NAMES.get(code or "", "the language of the person's message")


def surely_other(text: str, code: str | None) -> bool:
    """Whether a sentence is surely not in the language `code`; a short word that two languages share proves nothing."""
    found = detect(text)
    if code is None or found is None or found == code:
        return False
    if found not in COMMON_WORDS or code not in COMMON_WORDS:
        return True  # another script
    scores = _scores(text)
    if scores[code] == 0 and len(_TOKEN.findall(fold(text[:4000]))) >= _LONG_FROM:
        return True  # so many words and not one of the commonest
    return scores[found] >= _SURE_FROM and scores[found] > 2 * scores[code]


def languages_differ(reply: str, message: str) -> bool:
    """Whether a reply is surely in another language than the message (False when either can not be told)."""
    theirs, ours = detect(message), detect(reply)
    return theirs is not None and ours is not None and theirs != ours
