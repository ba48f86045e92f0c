"""Voice calibration, measured: what a reply is like, and where it misses the settings it was written for.

Formulas and what they rest on:

* Reading ease, 0 (hard) to 100 (easy), from words a sentence (W/S) and syllables a word (Y/W):
  English `206.835 - 1.015 W/S - 84.6 Y/W` (Flesch 1948); Spanish `206.84 - 1.02 W/S - 60 Y/W` (Fernández Huerta 1959);
  German `180 - W/S - 58.5 Y/W` (Amstad 1978); French `207 - 1.015 W/S - 73.6 Y/W` (Kandel and Moles 1958);
  Portuguese `248.835 - 1.015 W/S - 84.6 Y/W` (Martins et al. 1996). Syllables are counted as groups of vowels, which is
  good enough for a mean over a reply and not for one word.
* Questions to reflections: MITI 4.2 counts both; at least as many reflections as questions is "fair", twice as many "good".
  A reflection here is a sentence to the person ("you ...") that states and neither asks nor advises.
* Directness: the share of sentences without a hedge ("maybe", "it seems").

All are counts on words: good for a trend over turns, not a judgement of one reply.
"""

# ruff: noqa: E501 - word lists read best with one alternative group a line

import re
from dataclasses import asdict, dataclass
from typing import Any

from repertory.teams.coaching.one_step import offers_step
from repertory.teams.coaching.reply_check import MAX_WORDS
from repertory.teams.coaching.sections import Voice
from repertory.teams.coaching.words import fold, sentences, word_count, words

__all__ = ("VoiceMeasure", "addresses", "measure_voice", "reading_ease", "voice_misses", "voice_record")

_EASE: dict[str, tuple[float, float, float]] = {
    "en": (206.835, 1.015, 84.6),
    "es": (206.84, 1.02, 60.0),
    "de": (180.0, 1.0, 58.5),
    "fr": (207.0, 1.015, 73.6),
    "pt": (248.835, 1.015, 84.6),
}
PLAIN_FROM = 50.0
"""Reading ease that a reply to anybody should have (Flesch: below 50 is college text)."""
SHORT_SENTENCE = 14.0
"""Words a sentence at most, in the mean, for a slow pace (setting 1 or 2)."""
_VOWELS = re.compile(r"[aeiouy]+")
_HEDGES = re.compile(
    r"\b(?:maybe|perhaps|might|possibly|it (?:seems|looks|sounds)|kind of|sort of|i (?:guess|feel|think)|probably|"
    r"talvez|parece|acho que|provavelmente|quem sabe|quizas?|tal vez|creo que|probablemente|a lo mejor|"
    r"vielleicht|moglicherweise|es scheint|ich glaube|wahrscheinlich|eventuell|peut-etre|il semble|je (?:crois|pense)|probablement)\b"
)
_TO_THEM = re.compile(
    r"\b(?:you|your|you're|you've|voce|seu|sua|seus|suas|te|tu|tus|tienes|quieres|usted|du|dein\w*|dich|dir|ton|ta|tes|toi|vous|votre)\b"
)


@dataclass(frozen=True)
class VoiceMeasure:
    """What a reply is like.

    Attributes:
        words: How many words.
        sentences: How many sentences.
        words_per_sentence: Their mean length.
        questions: Sentences that ask.
        reflections: Sentences that say back or interpret, to the person.
        steps: Sentences that offer something to do.
        direct_share: Share of sentences without a hedge, 0..1.
        exclamation_marks: How many.
        reading_ease: By the language's formula, None for a language without one.
    """

    words: int
    sentences: int
    words_per_sentence: float
    questions: int
    reflections: int
    steps: int
    direct_share: float
    exclamation_marks: int
    reading_ease: float | None


def addresses(sentence: str) -> bool:
    """Whether a sentence speaks to the person ("you", "seu", "dein" ...)."""
    return bool(_TO_THEM.search(fold(sentence)))


def _syllables(word: str, language: str) -> int:
    folded = fold(word)
    count = len(_VOWELS.findall(folded))
    silent = folded.endswith("e") and not folded.endswith(("le", "ee")) and language in {"en", "fr"}
    return max(1, count - 1 if silent and count > 1 else count)


def reading_ease(text: str, language: str | None) -> float | None:
    """Reading ease of a text, None without words or without a formula for the language."""
    formula = _EASE.get(language or "")
    tokens, parts = words(text), sentences(text)
    if formula is None or not tokens or not parts:
        return None
    start, per_sentence, per_word = formula
    syllables = sum(_syllables(token, language or "") for token in tokens)
    return round(start - per_sentence * len(tokens) / len(parts) - per_word * syllables / len(tokens), 1)


def measure_voice(text: str, language: str | None) -> VoiceMeasure:
    """Measure a reply."""
    parts = sentences(text)
    questions = sum("?" in part or "\uff1f" in part for part in parts)
    steps = sum(offers_step(part) for part in parts)
    reflections = sum(bool(_TO_THEM.search(fold(part))) and "?" not in part and not offers_step(part) for part in parts)
    hedged = sum(bool(_HEDGES.search(fold(part))) for part in parts)
    count = word_count(text)
    return VoiceMeasure(
        words=count,
        sentences=len(parts),
        words_per_sentence=round(count / len(parts), 1) if parts else 0.0,
        questions=questions,
        reflections=reflections,
        steps=steps,
        direct_share=round(1 - hedged / len(parts), 2) if parts else 0.0,
        exclamation_marks=text.count("!"),
        reading_ease=reading_ease(text, language),
    )


def voice_misses(measure: VoiceMeasure, voice: Voice, *, may_ask: bool = True) -> list[str]:
    """Where a reply misses the settings, each in words with its number."""
    misses: list[str] = []

    def note(missed: bool, words_for_it: str) -> None:
        if missed:
            misses.append(words_for_it)

    limit = MAX_WORDS[voice.length]
    note(measure.words > limit, f"length: {measure.words} words, at most {limit}")
    note(
        voice.directness >= 4 and measure.direct_share < 0.75,
        f"directness: {measure.direct_share} of sentences without a hedge",
    )
    note(measure.exclamation_marks > voice.exclamation_marks, f"exclamation marks: {measure.exclamation_marks}")
    note(
        may_ask and measure.questions > max(1, measure.reflections),
        f"questions to reflections: {measure.questions} to {measure.reflections}",
    )
    note(not may_ask and measure.questions > 0, f"questions: {measure.questions}, none wanted")
    note(measure.questions + measure.steps == 0, "no question and no step")
    note(
        voice.pace <= 2 and measure.words_per_sentence > SHORT_SENTENCE,
        f"pace: {measure.words_per_sentence} words a sentence",
    )
    ease = measure.reading_ease
    note(ease is not None and ease < PLAIN_FROM, f"reading ease: {ease}, at least {PLAIN_FROM:g}")
    return misses


def voice_record(
    text: str, voice: Voice, language: str | None, *, may_ask: bool = True, first_reply: str = ""
) -> dict[str, Any]:
    """The measure of a reply against its settings, as it is kept with the turn.

    Args:
        text: The full reply.
        voice: The settings it was written for.
        language: Code of its language.
        may_ask: Whether the person wants questions.
        first_reply: What the Coach said before it; measured for itself, and it may have one question or step.
    """
    measure = measure_voice(text, language)
    misses = voice_misses(measure, voice, may_ask=may_ask)
    record: dict[str, Any] = {
        "settings": voice.model_dump(mode="json"),
        "language": language,
        "measured": asdict(measure),
        "misses": misses,
    }
    if first_reply:
        first = measure_voice(first_reply, language)
        record["first_reply"] = asdict(first)
        if first.questions > 1 or first.questions + first.steps == 0:
            misses.append(f"first reply: {first.questions} questions, {first.steps} steps; one of either is wanted")
    return record
