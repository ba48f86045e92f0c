"""Small whole numbers in a text, as digits or words of five languages."""

import re

from repertory.teams.coaching.words import fold

__all__ = ("NUMBER", "first_number", "number_of", "numbers_in")

_VALUES = {
    "one": 1, "once": 1, "two": 2, "twice": 2, "both": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10,
    "um": 1, "uma": 1, "dois": 2, "duas": 2, "ambos": 2, "ambas": 2, "quatro": 4, "cinco": 5, "seis": 6, "sete": 7,
    "oito": 8, "nove": 9, "dez": 10,
    "un": 1, "una": 1, "uno": 1, "dos": 2, "tres": 3, "cuatro": 4, "siete": 7, "ocho": 8, "nueve": 9, "diez": 10,
    "ein": 1, "eine": 1, "einen": 1, "einmal": 1, "zwei": 2, "zweimal": 2, "beide": 2, "beides": 2, "drei": 3,
    "dreimal": 3, "vier": 4, "viermal": 4, "funf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9, "zehn": 10,
    "une": 1, "deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "sept": 7, "huit": 8, "neuf": 9, "dix": 10,
}  # fmt: skip
NUMBER = r"(?:\d{1,3}|" + "|".join(sorted(_VALUES, key=len, reverse=True)) + r")"
_NUMBER = re.compile(rf"(?<![\w.,:%-]){NUMBER}(?![\w%:]|[.,]\d)")


def number_of(word: str) -> int | None:
    """The value of one number word or digit string."""
    folded = fold(word)
    return int(folded) if folded.isdigit() else _VALUES.get(folded)


def numbers_in(text: str) -> list[int]:
    """All small numbers of a text, in order; percentages and clock times are left out."""
    found = (number_of(match.group()) for match in _NUMBER.finditer(fold(text)))
    return [value for value in found if value is not None]


def first_number(text: str) -> int | None:
    """The first small number of a text."""
    found = numbers_in(text)
    return found[0] if found else None
