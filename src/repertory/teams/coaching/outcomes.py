"""What became of open promises, from a person's own report.

Signs are read sentence by sentence: "did both", "skipped", "went once" (against what was promised), "no writing", or the promised
day spent on something else. A sentence is about the open promise whose topic it shares, else about the newest.
"""

# ruff: noqa: E501 - word lists read best with one alternative group a line

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from repertory.storage.records import Commitment
from repertory.teams.coaching.dates import weekdays_in
from repertory.teams.coaching.numbers import numbers_in
from repertory.teams.coaching.promises import TIME_STEMS, WILL, count_of
from repertory.teams.coaching.words import content_stems, fold, sentences

__all__ = ("Report", "confirms", "find_outcomes")

_MISSED = re.compile(
    r"\b(?:skipped|skip it|(?:i )?(?:didn'?t|did not|haven'?t|have not|couldn'?t|never) (?!(?:think|know|want|mean|expect|like)\b)\w+|"
    r"missed|failed|fell behind|forgot|none(?: since| of)|not once|not a single|nothing (?:done|happened)|no luck|gave up|"
    r"never (?:got|happened)|didn'?t happen|bailed|"
    r"nao (?:fiz|fui|consegui|escrevi|deu|corri|cumpri|liguei|estudei|treinei|mandei|comecei|acabei|terminei)|faltei|falhei|esqueci|"
    r"nenhum[a]? vez|nada feito|deixei (?:de|para)|"
    r"no (?:hice|fui|pude|he \w+|escribi|cumpli|corri|llame|estudie|logre|consegui|termine|empece|di)|falte|falle|se me olvido|"
    r"ninguna vez|me salte|lo deje|"
    r"(?:habe|hab|bin) (?:\w+ ){0,4}(?:nicht|nichts|kein\w*)|nicht (?:geschafft|gemacht|geschrieben|gegangen|gelaufen|geklappt)|"
    r"ausgelassen|vergessen|verpasst|kein einziges mal|ausgefallen|nichts geschafft|"
    r"(?:n'ai|ne suis|n'y suis|l'ai)(?: \w+)? (?:pas|rien|jamais)|pas (?:reussi|fait|ecrit|couru|alle|tenu|pu)|j'ai (?:rate|oublie|saute|laisse tomber)|"
    r"rate\b|aucune? fois)\b"
)
_KEPT = re.compile(
    r"\b(?:did (?:it|both|all|them|that|everything|every)|(?:both|all|everything) done|all of them|done(?: and dusted)?\b|kept (?:it|them|to|my|both|two|three|\d)|"
    r"finished|completed|managed(?: to| it| all| both)?|made it|went (?:well|every|to all)|stuck to|nailed it|sent it|handed (?:it )?in|"
    r"submitted|every (?:single )?(?:one|time|day)|(?:is|was|went) (?:done|ok|okay|fine)|\w+ ok\b|"
    r"(?:fiz|cumpri|consegui|terminei|acabei|entreguei|mandei|escrevi|corri|liguei|treinei|estudei)(?: (?:tudo|todos|todas|os dois|as duas|ambos|isso))?|feito|"
    r"(?:hice|cumpli|consegui|logre|termine|acabe|entregue|envie|escribi|corri|llame|entrene|estudie)(?: (?:todo|todos|todas|los dos|las dos|ambos|eso))?|hecho|"
    r"geschafft|erledigt|gemacht|fertig|durchgezogen|abgegeben|beide (?:male|gemacht|geschafft)|alles (?:gemacht|geschafft)|hat geklappt|"
    r"(?:j'ai|je l'ai|c'est)(?: tout| bien)? (?:fait|reussi|termine|fini|tenu|envoye|rendu|ecrit|couru|appele)|les deux)\b"
)
_NO_TOPIC = re.compile(
    r"^(?:no|zero|not|nada de|nenhum[a]?|sin|nada|ningun[a]?|cero|kein\w*|null|pas (?:de|d')|aucune?)\b"
)
_TELLS = re.compile(
    r"\b(?:did|went|called|wrote|ran|kept|made|sent|read|trained|visited|worked|swam|walked|cooked|studied|better|only|just|"
    r"fiz|fui|liguei|escrevi|corri|treinei|estudei|so|melhor|hice|llame|escribi|corri|entrene|estudie|solo|mejor|"
    r"war|habe|hab|bin|nur|besser|ging|j'ai|suis|seulement|mieux|que)\b"
)
_ELSEWHERE = re.compile(
    r"\b(?:i was|i had|i worked|i spent|i went|we had|estava|estive|tive|passei|trabalhei|estaba|estuve|tuve|pase|trabaje|"
    r"war ich|ich war|hatte ich|ich hatte|j'etais|j'ai (?:passe|travaille|eu))\b"
)


@dataclass(frozen=True)
class Report:
    """The outcome of one commitment, as told."""

    commitment: str
    outcome: Literal["kept", "missed"]
    sentence: str


def _promised(item: Commitment) -> int | None:
    return count_of(f"{item.what}. {item.when}" if item.when not in item.what else item.what)


def _done_count(sentence: str) -> int | None:
    """How often it was done: "kept two and did two" says two; "four calls" says four."""
    folded = fold(sentence)
    numbers = numbers_in(folded)
    if not numbers or not (_TELLS.search(folded) or len(folded.split()) <= _SHORT):
        return None
    return numbers[-1] if "kept" in folded else numbers[0]


_SHORT = 4


def _verdict(sentence: str, item: Commitment) -> Literal["kept", "missed"] | None:
    folded = fold(sentence).strip()
    about = (content_stems(sentence) & content_stems(item.what)) - TIME_STEMS
    if _MISSED.search(folded) or (_NO_TOPIC.match(folded) and about):
        return "missed"
    done, promised = _done_count(sentence), _promised(item)
    kept_to = re.search(r"\bkept\b|\bstuck to\b|\bmantive\b|\bmantuve\b", folded)
    if done is not None and promised is not None and not kept_to:
        return "kept" if done >= promised else "missed"
    if kept_to or _KEPT.search(folded):
        return "kept"
    shared_days = set(weekdays_in(sentence)) & set(weekdays_in(f"{item.what} {item.when}"))
    if shared_days and not about and _ELSEWHERE.search(folded):
        return "missed"
    return None


def find_outcomes(text: str, open_items: Sequence[Commitment]) -> list[Report]:
    """What the message tells of open commitments (oldest first); the first plain sentence about each decides.

    "Missed" outweighs "kept" within one sentence; a promise for the future in the same sentence is not a report.
    """
    found: dict[str, Report] = {}
    newest = open_items[-1].id if open_items else ""
    for sentence in sentences(text[:4000]):
        folded = fold(sentence)
        if sentence.rstrip().endswith("?") or WILL.search(folded):
            continue
        topical = [item for item in open_items if (content_stems(sentence) & content_stems(item.what)) - TIME_STEMS]
        for item in topical or [item for item in open_items if item.id == newest]:
            if item.id in found:
                continue
            verdict = _verdict(sentence, item)
            if verdict:
                found[item.id] = Report(item.id, verdict, sentence)
    return list(found.values())


def confirms(text: str, result: str, item: Commitment) -> bool:
    """Whether a message bears out a model's claim about a commitment: it shares the topic and shows a sign of the result."""
    folded = fold(text[:4000])
    sign = (_MISSED if result == "missed" else _KEPT).search(folded)
    contrary = (_KEPT if result == "missed" else _MISSED).search(folded)
    return bool(sign) and not contrary and bool(content_stems(text) & content_stems(f"{item.what} {item.when}"))
