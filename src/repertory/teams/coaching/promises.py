"""Promises in a person's message: found by code where the words are plain, and models' claims held against the text.

Plain are: "I'll ..." and its like in five languages; a number with a time ("two evenings this week", "two again"); "same plan
for next week". What is asked, doubted or told of the past is no promise.
"""

# ruff: noqa: E501 - word lists read best with one alternative group a line

import re
from collections.abc import Sequence
from dataclasses import dataclass

from repertory.storage.records import Commitment
from repertory.teams.coaching.dates import has_time_words, weekdays_in
from repertory.teams.coaching.forecast import kind_of
from repertory.teams.coaching.numbers import NUMBER, number_of, numbers_in
from repertory.teams.coaching.words import content_stems, fold, quote, sentences

__all__ = ("TIME_STEMS", "WILL", "Promise", "count_of", "find_promises", "grounded_promise", "same_promise")

WILL = re.compile(
    r"\b(?:i'?ll|i will|i'm going to|i am going to|i'm gonna|i promise (?:to|that)|i commit to|i plan to|i intend to|"
    r"i'm planning to|i've decided to|"
    r"(?:eu )?vou|(?:eu )?prometo|comprometo-me a|me comprometo a|pretendo|decidi|hei de|irei|"
    r"voy a|(?:yo )?prometo|me comprometo a|pienso|tengo (?:pensado|previsto)|"
    r"ich werde|werde ich|ich verspreche|ich nehme mir(?: \w+)? vor|ich habe mir(?: \w+)? vorgenommen|nehme mir vor|ich plane|"
    r"je vais|je promets|je m'engage a|je compte|je prevois|j'ai decide|je me promets)\b"
)
_NO_PROMISE = re.compile(
    r"\b(?:i'?ll|i will) (?:see|be honest|admit|think|try to think|never know|believe|probably|maybe|explain|tell you|say)\b|"
    r"\b(?:if|whether|se|si|wenn|ob) i?\b.{0,20}\b(?:i'?ll ever|will ever)\b|"
    r"\bvou (?:ser|estar|ver|bem|mal|indo|ao|a(?:o)? trabalho todos)\b|\bvoy a (?:ser sincer|ver|estar)|\bvoy (?:bien|mal|al)\b|"
    r"\bpienso que\b|\bich werde (?:immer|oft|nie|gerade|krank|wahnsinnig|ja|dir sagen)\b|\bje vais (?:bien|mal|voir|etre|mieux|te dire)\b|"
    r"\bvou te (?:dizer|contar)\b|\b(?:don'?t know|nao sei|no se|weiss nicht|ne sais pas)\b|\bgoing to (?:be|have to|die|kill)\b"
)
_ELLIPSIS = re.compile(
    rf"^(?:(?:ok(?:ay)?|so|now|next|plan|goal|and|then|this week|next week|e|agora|entao|esta semana|proxima semana|proximo passo|"
    rf"y|ahora|entonces|bueno|nachste woche|diese woche|also|dann|jetzt|et|alors|maintenant|cette semaine|"
    rf"la semaine prochaine|i'd like|i would like|let's say|say|i'm \d{{1,3}} ?(?:percent|%) sure about)[,:]? )*"
    rf"(?P<number>{NUMBER})\b(?P<rest>.*)"
)
_AGAIN = re.compile(
    r"\b(?:again|de novo|outra vez|otra vez|de nuevo|nochmal|wieder|encore|a nouveau|now|agora|ahora|jetzt)\b"
)
_SAME = re.compile(
    r"\b(?:same (?:plan|goal|thing|again|as last)|(?:o )?mesmo plano|(?:el )?mismo plan|igual (?:plan|que)|"
    r"(?:der)?selber? plan|gleicher plan|dasselbe|(?:le )?meme (?:plan|chose|objectif)|pareil)\b"
)
_PAST = re.compile(
    r"\b(?:did|went|was|were|had|have done|'ve done|done|kept|made|finished|skipped|missed|wrote|ran|called|sent|managed|yesterday|"
    r"last (?:week|month|year|night)|ago|since|fiz|fui|foi|fiquei|consegui|ontem|passad[ao]|hice|fue|ayer|pasad[ao]|consegui|"
    r"habe|hatte|war|gestern|letzte\w*|geschafft|gemacht|ai|j'ai|etais|hier|dernier\w*|fait)\b"
)
_PERIOD_DAILY = re.compile(
    r"\b(?:a day|per day|every (?:day|morning|evening|night)|daily|each day|por dia|todos os dias|todo dia|cada dia|al dia|"
    r"todos los dias|am tag|pro tag|taglich|jeden (?:tag|morgen|abend)|par jour|chaque jour|tous les (?:jours|matins|soirs))\b"
)
_CUE = re.compile(
    r"\b(?:after|before|when|whenever|as soon as|straight from|right after|at (?:\d|noon|lunch|home|the)|during|with my bag|"
    r"depois d[eoa]|antes d[eoa]|quando|assim que|as \d|logo apos|despues de|antes de|cuando|en cuanto|a las \d|"
    r"nach (?:der|dem)|vor (?:der|dem)|wenn|sobald|direkt (?:nach|aus)|um \d|apres|avant|quand|des que|a \d{1,2} ?h|"
    r"same days?|mesmos dias|mismos dias|gleichen tage\w*|memes jours)\b|\b\d{1,2}(?::\d{2})? ?(?:am|pm|uhr|h)\b|"
    r"\b\d{1,2} (?:to|until|till|bis|as|ate|a) \d{1,2}\b"
)
_WORKDAYS = 5


@dataclass(frozen=True)
class Promise:
    """Something the person says they will do.

    Attributes:
        what: What, in their words.
        when: The sentence it stands in, for the due date.
        count: How many times in its period, None when not said; a daily promise counts five for a week.
        has_cue: Whether a day, time, place or trigger is named.
        repeats: Whether it carries on the last promise without naming what.
    """

    what: str
    when: str
    count: int | None
    has_cue: bool
    repeats: bool = False

    @property
    def kind(self) -> str:
        """Its class for the forecast."""
        return kind_of(self.count, self.has_cue)


_ANNOUNCED = re.compile(r"\s*(?:next|then|also|now|proximo|depois|luego|als nachstes|ensuite)\s*:\s*", re.IGNORECASE)
_DURATION = re.compile(rf"{NUMBER} ?(?:min|hour|hora|std|stund|heur)")
_ASSURANCE = re.compile(
    r"(?:[,;]? (?:promise|for sure|i promise|really|prometo|te lo prometo|versprochen|promis|\d{1,3} ?(?:percent|%)(?: sure)?))+[.! ]*$",
    re.IGNORECASE,
)


def _trimmed(what: str) -> str:
    """The promise without its assurances, as one safe line."""
    return quote(_ASSURANCE.sub("", what.rstrip(".! ")).rstrip(".!, "), 80)


def count_of(sentence: str) -> int | None:
    """How many times in its period something is promised, None when not said; a daily promise counts for five days."""
    folded = fold(sentence)
    days = len(weekdays_in(sentence))
    if _PERIOD_DAILY.search(folded):
        numbers = numbers_in(re.sub(r"\b\d+ (?:min|hour|std|heur|hora)\w*", "", folded))
        return _WORKDAYS * (numbers[0] if numbers else 1)
    without_spans = re.sub(
        rf"\b{NUMBER} ?(?:min|hour|hora|std|stund|heur|page|pag|seite|word|km|am|pm|uhr|h)\w*", " ", folded
    )
    without_spans = re.sub(r"\b\d{1,2} (?:to|until|bis|as|ate|a) \d{1,2}\b", " ", without_spans)
    numbers = numbers_in(without_spans)
    return max(numbers[0], days) if numbers else days or None


def _has_cue(sentence: str) -> bool:
    return bool(weekdays_in(sentence)) or bool(_CUE.search(fold(sentence)))


def _is_asked_or_doubted(sentence: str) -> bool:
    return sentence.rstrip(" \"')»”").endswith("?")


def _stated(sentence: str) -> Promise | None:
    folded = fold(sentence)
    match = WILL.search(folded)
    if not match or _NO_PROMISE.search(folded):
        return None
    rest = sentence[match.end() :].strip(" ,:") if len(folded) == len(sentence) else folded[match.end() :].strip(" ,:")
    if not content_stems(rest) and not numbers_in(rest):
        return None
    return Promise(_trimmed(rest), sentence, count_of(sentence), _has_cue(sentence))


def _elliptic(sentence: str, before: str, last: Commitment | None) -> Promise | None:
    folded = fold(sentence).strip()
    if _SAME.search(folded) and has_time_words(sentence) and last is not None:
        return Promise(last.what, sentence, None, last.kind.endswith("_cue"), repeats=True)
    match = _ELLIPSIS.match(folded)
    if not match or _PAST.search(folded.replace("now", "")):
        return None
    again = bool(_AGAIN.search(match["rest"]))
    sure = "sure about" in folded or folded.startswith(("i'd like", "i would like"))
    if not again and not sure and not has_time_words(sentence):
        return None
    count = count_of(sentence) or number_of(match["number"])
    own_words = content_stems(re.sub(r"\b(?:again|now|really|sure|percent|like|same)\b", " ", folded)) - TIME_STEMS
    if last is not None and not own_words:
        cue = _has_cue(sentence) or last.kind.endswith("_cue")
        return Promise(_with_number(last.what, match["number"]), sentence, count, cue, repeats=True)
    count = 1 if _DURATION.match(folded[match.start("number") :]) else count
    topic = f"{before.rstrip('.!: ')}: " if before else ""
    own = sentence[match.start("number") :] if len(folded) == len(sentence) else sentence
    return Promise(_trimmed(f"{topic}{own}"), sentence, count, _has_cue(sentence))


TIME_STEMS = content_stems(
    "monday tuesday wednesday thursday friday saturday sunday segunda terca quarta quinta sexta sabado domingo lunes martes "
    "miercoles jueves viernes montag dienstag mittwoch donnerstag freitag samstag sonntag lundi mardi mercredi jeudi vendredi "
    "samedi dimanche tomorrow tonight hours minutes same days next evening morning abend noite noche soir"
)


def _with_number(what: str, number: str) -> str:
    """An earlier promise with its first number replaced."""
    named, found = re.subn(rf"\b{NUMBER}\b", number, what, count=1, flags=re.IGNORECASE)
    return quote(named if found else f"{number} {what}", 80)


def find_promises(text: str, earlier: Sequence[Commitment]) -> list[Promise]:
    """The plain promises of a message, at most two; `earlier` are the person's commitments, oldest first."""
    last = earlier[-1] if earlier else None
    found: list[Promise] = []
    before = ""
    for sentence in sentences(text[:4000]):
        promise = None
        if not _is_asked_or_doubted(sentence):
            promise = _stated(sentence) or _elliptic(sentence, before, last)
        if promise and not any(same_promise(promise, other) for other in found):
            found.append(promise)
        announced = _ANNOUNCED.match(sentence)
        before = sentence[announced.end() :] if announced else ""
    return found[:2]


def same_promise(left: Promise, right: Promise) -> bool:
    """Whether two promises of one message are the same thing said twice."""
    if left.repeats and right.repeats:
        return True
    mine, theirs = content_stems(left.what), content_stems(right.what)
    return bool(mine & theirs) and len(mine & theirs) >= min(len(mine), len(theirs)) / 2


def grounded_promise(what: str, when: str, text: str) -> Promise | None:
    """A model's claim of a promise, held against the message: a sentence that says it, and does not ask or tell the past."""
    wanted = content_stems(what)
    if not wanted:
        return None
    for sentence in sentences(text[:4000]):
        folded = fold(sentence)
        shared = wanted & content_stems(sentence)
        if len(shared) * 2 < len(wanted) or _is_asked_or_doubted(sentence) or _PAST.search(folded):
            continue
        if not (WILL.search(folded) or has_time_words(sentence)) or _NO_PROMISE.search(folded) or _WISH.search(folded):
            continue
        return Promise(
            quote(what, 80), when if has_time_words(when) else sentence, count_of(sentence), _has_cue(sentence)
        )
    return None


_WISH = re.compile(
    r"\b(?:i want|i'd like|i would like|i wish|i should|my goal|eu quero|quero|queria|gostaria|quiero|quisiera|me gustaria|"
    r"ich will|ich mochte|ich moechte|ich sollte|je veux|je voudrais|j'aimerais|je devrais)\b"
)
