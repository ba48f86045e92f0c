"""People who say that they are under 18: found in their words, told that the coach is made for adults, shown where help is."""

# ruff: noqa: E501 - word lists read best with one alternative group a line

import re
from typing import Literal

from repertory.runtime.rules import TurnView
from repertory.teams.coaching.language import FixedLanguage
from repertory.teams.coaching.words import fold

__all__ = ("MINOR_TEXTS", "MINOR_UNTIL", "MinorPolicy", "is_minor", "stated_age")

MinorPolicy = Literal["guide", "refuse"]
"""`guide`: coached, with moves that can harm a young person blocked, and pointed to adults; `refuse`: not coached."""

MINOR_UNTIL = 18
_YEAR_DAYS = 365.25
_WORDS = {
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17,
}  # fmt: skip
_NUMBER = r"(?P<age>[89]|1\d|" + "|".join(_WORDS) + r")"
# Measures that a bare "I'm 15" may go on with.
_NOT_A_MEASURE = (
    r"(?![\d:.,]*\d)(?!\s*(?:%|percent|per cent|min|minutes?|hours?|hrs?|h\b|days?|weeks?|months?|km|kms|miles?|kg|kilos?|pounds?|lbs?|pages?|"
    r"euros?|dollars?|bucks|steps|points|people|of|in|out|to|at|and a half (?:hours|minutes)|reps|sets|years? (?:into|in|sober|clean|older|younger|late|behind|at|with)|"
    r"prozent|minuten|stunden|tage|wochen|monate|seiten|uhr|kilometer|minuten zu spat|procent|weken|dagen|uur|keer))"
)
_AGE = (
    re.compile(rf"\b(?:i'?m|i am|im)(?: only| just| actually)? {_NUMBER}\b{_NOT_A_MEASURE}"),
    re.compile(rf"\b(?:i just turned|i turned|as an?) {_NUMBER}\b{_NOT_A_MEASURE}(?:[- ]year[- ]old)?"),
    re.compile(rf"\b(?:eu )?tenho (?:so |apenas )?{_NUMBER} anos\b(?! de )"),
    re.compile(rf"\b(?:yo )?tengo (?:solo )?{_NUMBER} anos\b(?! de )"),
    re.compile(rf"\b(?:ich )?bin (?:erst |gerade )?{_NUMBER}\b{_NOT_A_MEASURE}"),
    re.compile(rf"\bj'ai (?:seulement |a peine )?{_NUMBER} ans\b(?! d')"),
    re.compile(rf"\bik ben (?:pas |nog maar )?{_NUMBER}\b{_NOT_A_MEASURE}"),
    re.compile(rf"\bho (?:solo |appena )?{_NUMBER} anni\b(?! di )"),
)
_SCHOOL = re.compile(
    r"\b(?:i'?m|i am) (?:still )?(?:in|a) (?:(?:the )?(?:[5-9]th|10th|11th|sixth|seventh|eighth|ninth|tenth|eleventh) grade\w*|middle school\w*|junior high|(?:[5-9]th|10th|11th) grader|year (?:7|8|9|10|11)\b(?! of))|"
    r"\b(?:ich (?:gehe|bin) in (?:die|der)|in meiner) (?:[5-9]|10)\. ?klasse|\bestou no (?:[6-9]o|[6-9]º) ano\b|\bje suis en (?:sixieme|cinquieme|quatrieme|troisieme|6e|5e|4e|3e)\b|"
    r"\bestoy en (?:1|2|3|4)o? de (?:la )?eso\b|\b(?:i'?m|i am) (?:a minor|underage|under 18)\b|\b(?:ich bin minderjahrig|sou menor de idade|soy menor de edad|je suis mineure?)\b"
)
_YOUNG_AGE = 14

# Looked up on 2026-12-01: 116 111 in Portugal at vidaativa.pt/linha-de-apoio-a-crianca (undated; weekdays 9 to 19 h), 116 111
# in Germany at himmelunderdeonline.de (2023-05-18) and bmfsfj.de (undated), 900 20 20 10 at adeces.org (undated), 119 at
# madinin-art.net (2023-09). For 0800 1111 no page of the service itself was found; 988 and 188 have not been looked up.
MINOR_TEXTS: dict[FixedLanguage, str] = {
    "en": "You wrote that you are under 18. This coach is made for adults: please talk this over with a parent, a teacher or "
    "another adult you trust too. Young people can also call Childline 0800 1111 (UK) or 988 (US).",
    "pt": "Você escreveu que tem menos de 18 anos. Este coach é feito para adultos: fale disto também com os seus pais, um "
    "professor ou outro adulto de confiança. Linhas para jovens: SOS Criança 116 111 (Portugal), CVV 188 (Brasil).",
    "es": "Escribiste que tienes menos de 18 años. Este coach es para adultos: háblalo también con tus padres, un profesor u "
    "otro adulto de confianza. Línea para jóvenes: ANAR 900 20 20 10 (España).",
    "de": "Du hast geschrieben, dass du unter 18 bist. Dieser Coach ist für Erwachsene gemacht: Sprich darüber bitte auch mit "
    "deinen Eltern, einer Lehrkraft oder einem anderen Erwachsenen, dem du vertraust. Nummer gegen Kummer: 116 111.",
    "fr": "Tu as écrit que tu as moins de 18 ans. Ce coach est fait pour les adultes : parles-en aussi à tes parents, à un "
    "professeur ou à un autre adulte de confiance. Ligne pour les jeunes : 119 (France).",
}


def stated_age(text: str) -> int | None:
    """The age under 18 that a person says they have, None when they say none; a school year counts as 14."""
    folded = fold(text[:6000])
    for pattern in _AGE:
        for match in pattern.finditer(folded):
            age = int(match["age"]) if match["age"].isdigit() else _WORDS[match["age"]]
            if age < MINOR_UNTIL:
                return age
    return _YOUNG_AGE if _SCHOOL.search(folded) else None


def is_minor(view: TurnView) -> bool:
    """Whether the person said, in this or an earlier message, that they are under 18, and still must be."""
    said = (message for message in (*view.past_messages, *view.history, view.message) if message.role == "person")
    for message in said:
        age = stated_age(message.text)
        if age is not None and age + (view.now - message.at).days / _YEAR_DAYS < MINOR_UNTIL:
            return True
    return False
