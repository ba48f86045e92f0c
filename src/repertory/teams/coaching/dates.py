"""When something is due, from the words for time in five languages. Dates only: hours are not promised."""

# ruff: noqa: E501 - word lists read best with one alternative group a line

import re
from datetime import UTC, date, datetime, time, timedelta

from repertory.teams.coaching.words import fold

__all__ = ("due_after", "has_time_words", "weekdays_in")

# Folded names; three-letter forms only where they are no other word.
_WEEKDAYS: tuple[str, ...] = (
    r"mondays?|montags?|segundas?(?:-feira)?|lunes|lundis?",
    r"tuesdays?|dienstags?|tercas?(?:-feira)?|martes|mardis?",
    r"wednesdays?|mittwochs?|quartas?(?:-feira)?|miercoles|mercredis?",
    r"thursdays?|donnerstags?|quintas?(?:-feira)?|jueves|jeudis?",
    r"fridays?|freitags?|sextas?(?:-feira)?|viernes|vendredis?",
    r"saturdays?|samstags?|sonnabends?|sabados?|samedis?",
    r"sundays?|sonntags?|domingos?|dimanches?",
)
_WEEKDAY = [re.compile(rf"\b(?:{names})\b") for names in _WEEKDAYS]
_TODAY = re.compile(
    r"\b(?:today|tonight|this (?:evening|afternoon|morning)|hoje|esta noite|hoy|heute|aujourd'hui|ce soir)\b"
)
_TOMORROW = re.compile(r"\b(?:tomorrow|amanha|manana|morgen|demain)\b(?! routine)")
_THIS_WEEK = re.compile(
    r"\b(?:this week|(?:n?esta|essa|nessa|en esta) semana|diese woche|in dieser woche|cette semaine|a week|per week|"
    r"(?:por|a la|na) semana|pro woche|in der woche|par semaine|every (?:day|morning|evening|night)|a day|daily|"
    r"todos os dias|por dia|todos los dias|al dia|cada dia|jeden (?:tag|morgen|abend)|am tag|taglich|chaque jour|par jour|"
    r"tous les (?:jours|matins|soirs))\b"
)
_NEXT_WEEK = re.compile(
    r"\b(?:next week|(?:na |a )?(?:proxima semana|semana que vem)|(?:la )?(?:proxima semana|semana que viene)|"
    r"nachste woche|nachster woche|la semaine prochaine|semaine prochaine)\b"
)
_WEEKEND = re.compile(r"\b(?:weekend|fim de semana|fin de semana|wochenende|week-end)\b")
_MONTH = re.compile(
    r"\b(?:this month|(?:n?este|en este) mes|diesen monat|ce mois|end of the month|fim do mes|fin de mes|monatsende|"
    r"fin du mois)\b"
)
_IN_N = re.compile(
    r"\b(?:in|within|em|dentro de|en|innerhalb von|dans|d'ici) (\d{1,3}|one|two|three|um|uma|dois|duas|tres|un|una|dos|einer?m?|"
    r"zwei|drei|une?|deux|trois) (days?|dias?|tagen?|jours?|weeks?|semanas?|wochen?|semaines?|months?|mes(?:es)?|monat\w*|mois)\b"
)
_ISO = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_SOON_WORDS = re.compile(
    r"\b(?:every (?:day|morning|evening|night)|mornings?|evenings?|noon|lunch|weekends?|manhas?|noites?|mananas?|noches?|tardes?|"
    r"morgens|abends|abend|matins?|soirs?|\d{1,2}(?::\d{2})? ?(?:am|pm|uhr|h)\b|\d{1,2} (?:to|bis|as|a) \d{1,2})\b"
)
_NUMBERS = {
    "one": 1, "um": 1, "uma": 1, "un": 1, "una": 1, "ein": 1, "eine": 1, "einer": 1, "einem": 1, "une": 1,
    "two": 2, "dois": 2, "duas": 2, "dos": 2, "zwei": 2, "deux": 2,
    "three": 3, "tres": 3, "drei": 3, "trois": 3,
}  # fmt: skip


def weekdays_in(text: str) -> tuple[int, ...]:
    """The days of the week a text names, Monday 0."""
    folded = fold(text)
    return tuple(day for day, pattern in enumerate(_WEEKDAY) if pattern.search(folded))


def has_time_words(text: str) -> bool:
    """Whether a text says when, in any way this module reads."""
    folded = fold(text)
    simple = (_TODAY, _TOMORROW, _THIS_WEEK, _NEXT_WEEK, _WEEKEND, _MONTH, _IN_N, _ISO, _SOON_WORDS)
    return any(pattern.search(folded) for pattern in simple) or bool(weekdays_in(text))


def _in_n_days(folded: str) -> int | None:
    match = _IN_N.search(folded)
    if not match:
        return None
    number = int(match[1]) if match[1].isdigit() else _NUMBERS.get(match[1], 1)
    unit = match[2]
    if unit.startswith(("day", "dia", "tag", "jour")):
        return number
    return number * (7 if unit.startswith(("week", "seman", "semain", "woche")) else 30)


def _iso_date(folded: str) -> date | None:
    match = _ISO.search(folded)
    if not match:
        return None
    try:
        return date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return None


def _days_from(folded: str, today: date) -> int | None:
    named = [(day - today.weekday() - 1) % 7 + 1 for day, pattern in enumerate(_WEEKDAY) if pattern.search(folded)]
    next_week = 7 if _NEXT_WEEK.search(folded) else 0
    if named:
        if next_week:
            return max(7 - today.weekday() + day for day, pattern in enumerate(_WEEKDAY) if pattern.search(folded))
        return max(named)
    if next_week:
        return 13 - today.weekday()
    for pattern, days in (
        (_TODAY, 0), (_TOMORROW, 1), (_THIS_WEEK, 7), (_WEEKEND, (6 - today.weekday()) % 7), (_MONTH, 30),
    ):  # fmt: skip
        if pattern.search(folded):
            return days
    return _in_n_days(folded)


def due_after(words: str, now: datetime) -> datetime | None:
    """The end of the day (UTC) when the outcome of something promised in these words can be known."""
    folded = fold(words)
    day = _iso_date(folded)
    if day is None:
        days = _days_from(folded, now.date())
        if days is None:
            return None
        day = now.date() + timedelta(days=days)
    return datetime.combine(day, time(23, 59), tzinfo=UTC)
