"""The check of the full reply: what must not be in it, and what code can mend without asking the model again."""

# ruff: noqa: E501 - word lists read best with one alternative group a line

import re
from collections.abc import Sequence
from dataclasses import dataclass

from repertory.teams.coaching.language import detect, language_name, languages_differ
from repertory.teams.coaching.leaks import OCEAN_WORDS, find_leaks
from repertory.teams.coaching.moves import MOVE_FACTS, Move
from repertory.teams.coaching.repeats import repeats
from repertory.teams.coaching.sections import Voice
from repertory.teams.coaching.suggests import is_tail, suggested_moves
from repertory.teams.coaching.words import content_stems, fold, sentences, word_count

__all__ = ("MAX_WORDS", "ReplyRules", "check_reply", "is_praise", "mend_reply")

MAX_WORDS = {"short": 35, "normal": 110, "long": 170}
MIN_WORDS = 4
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?\s?%?")
_LIST_MARK = re.compile(r"^\s*(?:\d{1,2}[.)]|[-*•\u2013])\s+", re.MULTILINE)
_PRAISE = re.compile(
    r"\b(?:great (?:job|work|start|question|step)|well done|good (?:job|work|for you)|amazing|awesome|fantastic|excellent|wonderful|brilliant|"
    r"congrat\w*|(?:so )?proud of you|keep (?:it up|up the good)|impressive|bravo|kudos|you'?re doing (?:great|well)|"
    r"otimo (?:trabalho|comeco)|muito bem|parabens|excelente|incrivel|maravilh\w*|(?:gran|buen) trabajo|muy bien|felicidades|enhorabuena|"
    r"increible|genial|fantastic\w*|tolle? (?:arbeit|leistung)|sehr gut gemacht|gut gemacht|super gemacht|grossartig|gluckwunsch|weiter so|"
    r"bien joue|bravo|felicitations|excellent|formidable|super travail|magnifique)\b"
)
_ABOUT_THEM = re.compile(
    r"\b(?:the (?:person|user)(?:'s)?\b|a pessoa (?:que escrev|diz|quer|esta)|el usuario|la persona (?:que escrib|dice|quiere)|"
    r"die person (?:schreibt|sagt|will|hat)|la personne (?:qui ecrit|dit|veut|a ecrit)|they have (?:already )?read|"
    r"(?:here is|aqui esta|aqui tienes|hier ist|voici) (?:\w+ ){0,2}(?:suggestion|sugestao|sugerencia|vorschlag|reply|response|resposta|"
    r"respuesta|antwort|reponse)|points for the reply|in your own words)"
)
# A model that plays both sides of a talk: what stands under such a label is nobody's reply.
_PLAYED = re.compile(
    r"^\W*(?:you|me|coach|person|user|client|assistant|human|voce|tu|eu|pessoa|usuario|yo|persona|du|ich|mensch|toi|moi|personne)\s*:",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"^\s*(?:(?:fact|facts|known|what is known|what to say next|last|first|then|not advised|both sides|say|why|why not|do|step|next step|the step|suggestion|instead|reply|answer|question|"
    r"fato|fatos|passo|hecho|hechos|paso|fakt|fakten|schritt|fait|faits|etape|pergunta|pregunta|frage)\b[^.:!?\n]{0,40}:|c\d+[.:])\s*",
    re.IGNORECASE,
)
_PREAMBLE = re.compile(
    r"^\s*(?:(?:sure|of course|certainly|okay|here(?:'s| is) (?:the|my|your|a) (?:\w+ ){0,3}?(?:reply|response|message|answer|part)\w*(?: of [\w ]{1,30})?|"
    r"(?:full )?(?:reply|response|answer|synth|coach)\b)\s*[:!,.-]+\s*)+",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ReplyRules:
    """What a reply is held against.

    Attributes:
        message: The person's message.
        first_reply: What the Coach has said already.
        sources: Texts whose numbers may be said: claims, messages, the first reply.
        blocked: Moves that no sentence may suggest.
        voice: The voice settings.
        max_words: The most words the reply may have.
        may_speak_of_traits: Whether there is a Persona to speak of.
    """

    message: str
    first_reply: str
    sources: Sequence[str]
    blocked: Sequence[Move]
    voice: Voice
    max_words: int
    may_speak_of_traits: bool


def is_praise(sentence: str) -> bool:
    """Whether a sentence praises."""
    return bool(_PRAISE.search(fold(sentence)))


def _digits(text: str) -> set[str]:
    plain = _LIST_MARK.sub("", text)
    return {match.group().replace(" ", "").replace(",", ".") for match in _NUMBER.finditer(plain)}


def _unfounded_numbers(text: str, sources: Sequence[str]) -> set[str]:
    known = {number for source in sources for number in _digits(source)}
    bare = {number.rstrip("%") for number in known}
    return {number for number in _digits(text) if number not in known and ("%" in number or number not in bare)}


def _is_unsayable(sentence: str, rules: ReplyRules) -> str | None:
    """Why one sentence can not stand, in words for the model; None when it can."""
    if _PLAYED.match(fold(sentence)):
        return "It plays a talk. Write only what you say to the person."
    leaks = find_leaks(sentence)
    if leaks:
        return f"It shows {leaks[0]}. Write plain words for the person only."
    suggested = suggested_moves(sentence, rules.blocked)
    if suggested:
        return f"It suggests what must not be suggested: {MOVE_FACTS[suggested[0]].words}."
    numbers = _unfounded_numbers(sentence, rules.sources)
    if numbers:
        return f"It has a number that nobody gave: {', '.join(sorted(numbers))}. Leave it out."
    if _ABOUT_THEM.search(fold(sentence)):
        return "It speaks about the person or the task. Speak to them, as you."
    if not rules.may_speak_of_traits and OCEAN_WORDS.search(fold(sentence)):
        return "It speaks of personality. Leave that out."
    if rules.voice.praise == "minimal" and is_praise(sentence):
        return "It praises. The person asked for no praise."
    return None


def _joined(parts: Sequence[str]) -> str:
    return " ".join(part.strip() for part in parts if part.strip())


def mend_reply(text: str, rules: ReplyRules) -> str:
    """Mend what is safe to mend: leave out bad and repeated sentences, surplus words, exclamation marks and list marks.

    An empty text means that nothing worth saying was left.
    """
    plain = _LIST_MARK.sub("", _PREAMBLE.sub("", text.strip().strip('"`').strip()))
    plain = re.sub(r"\*\*|__|^#+\s*", "", plain, flags=re.MULTILINE)
    kept: list[str] = []
    count = 0
    left_out = False
    for sentence in sentences(plain):
        if _PLAYED.match(fold(sentence)):
            break  # what follows is said in somebody else's name
        sentence = _LABEL.sub("", sentence)  # noqa: PLW2901 - the same sentence without its label
        left_out = bool(suggested_moves(sentence, rules.blocked)) or (left_out and is_tail(sentence))
        if left_out:
            continue
        if (
            _is_unsayable(sentence, rules)
            or repeats(sentence, rules.first_reply)
            or any(repeats(sentence, one) for one in kept)
        ):
            continue
        if kept and suggested_moves(f"{kept[-1].rstrip('.!? ')} {sentence}", rules.blocked):
            continue
        length = word_count(sentence)
        if kept and count + length > rules.max_words:
            break
        kept.append(sentence)
        count += length
    mended = _joined(kept)
    marks = mended.count("!")
    while marks > rules.voice.exclamation_marks:
        head, _, tail = mended.rpartition("!")
        mended = f"{head}.{tail}" if not head.endswith((".", "?", "!")) else f"{head}{tail}"
        marks -= 1
    return mended if word_count(mended) >= MIN_WORDS else ""


def _wrong_language(text: str, rules: ReplyRules) -> str | None:
    if languages_differ(text, rules.message):
        return f"Write it in {language_name(detect(rules.message))}, the language of the person's message."
    return None


def _too_long(text: str, rules: ReplyRules) -> str | None:
    if word_count(text) > rules.max_words:
        return f"It is too long: at most {rules.max_words} words."
    return None


def _says_nothing_of_them(text: str, rules: ReplyRules) -> str | None:
    facts = frozenset[str]().union(*(content_stems(source) for source in (rules.message, *rules.sources)))
    if len(facts) >= MIN_WORDS and not content_stems(text) & facts:
        return "It could be said to anybody. Name at least one thing this person wrote."
    return None


_CHECKS = (_wrong_language, _too_long, _says_nothing_of_them)


def check_reply(text: str, rules: ReplyRules) -> list[str]:
    """What is wrong with a reply, in words for the model; an empty list when it can be sent."""
    if word_count(text) < MIN_WORDS:
        return ["It is empty, or nothing of it could be said. Write a few plain sentences for the person."]
    problems = [problem for sentence in sentences(text) if (problem := _is_unsayable(sentence, rules))]
    problems += [problem for check in _CHECKS if (problem := check(text, rules))]
    if text.count("!") > rules.voice.exclamation_marks:
        problems.append("It has too many exclamation marks.")
    if repeats(text, rules.first_reply):
        problems.append("It says again what was said already. Say something that goes further.")
    if suggested_moves(text, rules.blocked) and not problems:
        problems.append("It suggests what must not be suggested.")
    return list(dict.fromkeys(problems))[:4]
