"""Reading text by code: folding, sentences, words, stems and safe quoting.

Everything works on folded text (lower case, no accents), so that one pattern covers "não", "nao" and "NÃO".
"""

import re
import unicodedata
from collections.abc import Iterable

__all__ = (
    "content_stems",
    "ends_in_abbreviation",
    "ends_with_content",
    "fold",
    "mentions",
    "overlap",
    "quote",
    "sentences",
    "stem",
    "word_count",
    "word_set",
    "words",
)

_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
# Full-width marks end sentences too.
_SENTENCE_END = re.compile(r"(?<=[.!?…。\uff01\uff1f])[\"')\]»”]*\s+|\n+")
_ABBREVIATION = re.compile(
    r"(?:^|\s)(?:z\.\s?b|d\.\s?h|e\.g|i\.e|etc|mr|mrs|ms|dr|sr|sra|p\.\s?ex|bzw|ca|nr|vs)\.$|^\d{1,2}\.$", re.IGNORECASE
)
_UNSAFE = re.compile(r"[<>{}\[\]`\x00-\x1f\x7f]+")


def word_set(text: str) -> frozenset[str]:
    """A set of words, written as one text."""
    return frozenset(text.split())


# Words that carry no topic in any of the five languages, folded.
_STOP = word_set(
    """
        a about after again ain all also always am an and any anybody are as at be because been before being
        both but by can could did do does doing done don down each even every everybody few for from get go
        going got had has have having he her here him his how if in into is it its just know like make me
        might more most much my need never no not now of off on once one only or other our out over own
        person really same she should since so some something still such than that the their them then there
        these they thing things think this those three through time to today tomorrow too two until up us
        very want wants was way we week weeks day days well were what when where which while who will with
        would yes you your yours i'm i'll i've i'd don't didn't it's that's ao aos as com como da das de
        dele dela do dos e ela ele eles em era essa esse esta este eu foi ha isso isto ja mais mas me mesmo
        meu meus minha muito na nao nas nem no nos num numa o os ou para pela pelo por pra quando que quem
        quero se sem ser seu sua so sou sao tambem te tem tenho ter tinha todo tudo um uma umas uns vai vou
        semana dia dias hoje al algo ante antes cada con cual cuando del desde donde el ella ellos en entre
        eran es eso ese fue hace hasta hay la las le les lo los mi mis mucho muy nada ni nos nuestro otra
        otro pero poco porque quiere quiero quien se ser si sin sobre son soy su sus tambien tanto tener
        tengo tiene todos tu un una uno voy y ya yo manana hoy aber alle als also am an auch auf aus bei bin
        bis da damit dann das dass dein dem den denn der des die dies doch du durch ein eine einem einen
        einer er es etwas fur habe haben hat hatte ich ihm ihn ihr im immer in ist ja jede kann kein keine
        konnen man mein meine mich mir mit muss nach nicht nichts noch nur ob oder ohne sehr sein seine sich
        sie sind so soll um und uns unter vom von vor war warum was weil wenn wer werde werden wie wieder
        will wir wird wo woche zu zum zur heute morgen tag tage ai ait au aussi aux avec avoir c'est ce ces
        cette ceux chaque comme dans des deux donc du elle elles en encore est et etre eu fait il ils j'ai
        je jour la le les leur lui ma mais mes moi mon ne nous on ont ou par pas peu peut plus pour qu quand
        que qui sa sans ses si son sont sur ta tes toi ton tous tout tres un une vais veux vous y semaine
    """
)


def fold(text: str) -> str:
    """Lower case, compatibility forms unified, accents and invisible characters removed, apostrophes made plain."""
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    kept = (char for char in decomposed if unicodedata.category(char) not in {"Mn", "Cf"})
    return "".join(kept).translate(_APOSTROPHES)


_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u00b4": "'", "\u02bc": "'", "\u2010": "-", "\u2011": "-"})


def sentences(text: str) -> list[str]:
    """Split into sentences, keeping their punctuation; abbreviations and "3." do not end one."""
    parts: list[str] = []
    for piece in _SENTENCE_END.split(text):
        stripped = piece.strip()
        if not stripped:
            continue
        if parts and _ABBREVIATION.search(parts[-1]):
            parts[-1] = f"{parts[-1]} {stripped}"
        else:
            parts.append(stripped)
    return parts


def ends_in_abbreviation(text: str) -> bool:
    """Whether a text's last full stop belongs to an abbreviation or a list number and ends no sentence."""
    return bool(_ABBREVIATION.search(text.rstrip()))


def ends_with_content(text: str) -> bool:
    """Whether a text's last word carries a topic; one that was cut off often ends in "on", "the" or "para"."""
    last = words(text)[-1:]
    return bool(last) and fold(last[0]) not in _STOP


def words(text: str) -> list[str]:
    """The words of a text, as written."""
    return _WORD.findall(text)


def word_count(text: str) -> int:
    """How many words a text has."""
    return len(_WORD.findall(text))


_ENDING = re.compile(r"(?:ing|ed|es|en|er|s|e)$")


def stem(word: str) -> str:
    """A crude stem that works across the five languages: a common ending off, then the first five letters."""
    folded = fold(word)
    shorter = _ENDING.sub("", folded)
    if len(shorter) < 3:
        return folded[:5]
    if len(shorter) > 3 and shorter[-1] == shorter[-2]:
        shorter = shorter[:-1]
    return shorter[:5]


def content_stems(text: str) -> frozenset[str]:
    """Stems of the words that carry a topic (three letters or more, no stop words, no bare numbers)."""
    folded = _WORD.findall(fold(text))
    return frozenset(stem(word) for word in folded if len(word) >= 3 and word not in _STOP and not word.isdigit())


def overlap(left: str, right: str) -> float:
    """Share of the smaller text's topic stems that the other has too, 0..1."""
    first, second = content_stems(left), content_stems(right)
    smaller = min(len(first), len(second))
    return len(first & second) / smaller if smaller else 0.0


def mentions(text: str, sources: Iterable[str]) -> bool:
    """Whether at least one topic stem of `text` occurs in one of the sources."""
    wanted = content_stems(text)
    return any(wanted & content_stems(source) for source in sources)


def quote(text: str, limit: int = 120) -> str:
    """One safe line of somebody's words: no brackets, markup or line breaks, cut at a word."""
    line = " ".join(_UNSAFE.sub(" ", text).split())
    if len(line) <= limit:
        return line
    return line[:limit].rsplit(" ", 1)[0] + "…"
