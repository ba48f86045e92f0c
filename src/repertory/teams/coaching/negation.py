"""Whether a word in a sentence is turned round: warned of, denied, or set aside, in five languages, on folded text."""

# ruff: noqa: E501 - word lists read best with one alternative group a line

import re

__all__ = ("NEGATION", "is_negated", "without_pseudo_negation")

_PSEUDO_NEGATION = re.compile(
    r"\b(?:don'?t (?:hesitate|be (?:afraid|shy|scared)|wait|worry|hold back|forget)(?: to| and| about|,)?|never hesitate to|"
    r"do not (?:hesitate|be (?:afraid|shy)|wait|forget)(?: to)?|"
    r"why (?:not|don'?t (?:you|we))|what if you didn'?t not|not only|no (?:reason|harm|need) not to|nothing wrong (?:with|in)|can'?t (?:hurt|go wrong)(?: to| with| by)?|"
    r"there is no harm in|no harm in|no doubt|not (?:a )?bad (?:idea )?to|"
    r"por que nao|porque nao|nao (?:hesite|tenha medo|espere|deixe)(?: em| de| para)?|nao so|nao faz mal|"
    r"por que no|no (?:dudes|dude|tengas miedo|esperes|dejes)(?: en| de| a| para)?|no solo|no esta mal|"
    r"warum nicht|zogere? nicht|keine (?:angst|scheu)(?: davor)?|nicht nur|kein problem|warte nicht|hab keine angst|"
    r"pourquoi (?:ne )?pas|n'hesite[zs]? pas(?: a)?|n'(?:aie|ayez) pas peur de|pas seulement|n'attends pas)\b"
)
NEGATION = re.compile(
    r"\b(?:not|don'?t|do not|doesn'?t|never|no|without|avoid\w*|instead of|rather than|skip\w*|stop|neither|nor|shouldn'?t|wouldn'?t|"
    r"isn'?t|leave out|hold off|than|against|backfired|"
    r"nao|nunca|sem|evit\w*|em vez de|ao inves de|nem|contra|"
    r"no|sin|en vez de|en lugar de|ni|tampoco|"
    r"nicht|kein\w*|ohne|statt|anstatt|vermeid\w*|nie|"
    r"ne|n'|pas|sans|evite\w*|eviter|plutot que|au lieu de|jamais|ni)\b"
)
_PLAIN_NOT = re.compile(
    r"\b(?:not|don'?t|never|rather than|instead of|nao|em vez de|en vez de|nicht|kein\w*|statt|pas|plutot que)\b"
)
_TURN = re.compile(
    r"\b(?:but|mas|pero|aber|sondern|mais|sino|however|porem|then|instead,|stattdessen)\b|[;:]| - | \u2013 | \u2014 "
)
_NEGATION_REACH = 70
_LATE_NEGATION = re.compile(
    r"^.{0,40}\b(?:is (?:off the table|not|too)|isn'?t|would (?:not|backfire|hurt)|wouldn'?t|backfired|did(?:n'?t| not) (?:help|work)|went wrong|"
    r"nao (?:e|seria|ajud\w+)|no (?:es|seria|ayud\w+|funcion\w+)|ware nicht|ist nicht|lieber nicht|besser nicht|nicht\b|n'est pas|ne serait pas)"
)


def without_pseudo_negation(folded: str) -> str:
    """The text without turns that only look like a no ("don't hesitate to ...", "why not ...")."""
    return _PSEUDO_NEGATION.sub(" ; ", folded)


def is_negated(folded: str, start: int, end: int) -> bool:
    """Whether what stands from `start` to `end` of a sentence (folded, without pseudo negations) is turned round."""
    before = folded[max(0, start - _NEGATION_REACH) : start]
    turns = list(_TURN.finditer(before))
    if turns:
        before = before[turns[-1].end() :]
    if NEGATION.search(before) or _PLAIN_NOT.search(folded[start:end]):
        return True
    after = folded[end:]
    turn = _TURN.search(after)
    return bool(_LATE_NEGATION.search(after[: turn.start()] if turn else after))
