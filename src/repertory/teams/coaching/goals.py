"""Goals that come up again in other words: matched by topic stems in five languages and by shared words."""

# ruff: noqa: E501 - word lists read best with one alternative group a line

import re
from collections.abc import Iterable, Sequence

from repertory.teams.coaching.sections import RecurringGoal
from repertory.teams.coaching.words import content_stems, fold, overlap, quote, sentences

__all__ = ("add_goal", "goal_in", "same_goal", "topics_of")

# Topics with the beginnings of their words (folded), in the five languages.
_TOPICS: dict[str, str] = {
    "writing": "novel book writ manuscr draft chapter blog essay livro romanc escrev capitul libro novela escrib roman buch schreib manuskr livre ecri chapitre",
    "exercise": "gym run running jog workout exercis train fitness swim yoga marathon correr academia trein ginasi exercic gimnas entren ejercic lauf joggen sport fitnes trainier courir salle entrain musc velo",
    "weight": "weight diet eat food calor slim peso dieta emagre comer comida adelgaz abnehm gewicht diat essen poids regime manger maigrir",
    "smoking": "smok cigar nicotin vap fumar cigarr tabac rauch zigar fumer",
    "alcohol": "drink alcohol wine beer sober beber alcool vinho alcohol trink alkohol wein bier boire vin sobri",
    "sleep": "sleep bed insomn dormir sono sueno schlaf bett sommeil coucher",
    "money": "money sav debt budget spend dinheir poupan divida dinero ahorr deuda geld spar schuld argent epargn dette",
    "job": "job career promot salar boss manager empleo emprego carreir carrera trabajo chefe karrier beruf stelle boulot carrier emploi poste",
    "study": "study exam learn degree thesis school estud exame aprend prova tese examen tesis lern prufung studium etudi exam apprend these",
    "visibility": "visib show share unfinish perfect publish present mostrar visivel partilh compart mostr visib zeig sichtbar teilen montrer visibil partag",
    "language": "english spanish german french portugu ingles espanol aleman frances englisch spanisch deutsch franzos anglais espagnol allemand",
    "family": "kids child famil wife husband mother father filhos familia hijos esposa kinder familie enfant famille",
    "screen": "phone screen scroll social tiktok celular tela movil pantalla handy bildschirm portable ecran",
    "order": "clean tidy declutter organi arrum limp orden limpiar aufraum putzen ranger menage",
    "selling": "customer sales client clients cliente vend venta kunde verkauf client vente prospect",
    "calm": "stress calm meditat relax anxi estress calma medit estres ansied stress ruhe entspann calme mediter",
}  # fmt: skip
_STEMS = {topic: tuple(stems.split()) for topic, stems in _TOPICS.items()}
_SAME_FROM = 0.5
_GOAL = re.compile(
    r"\b(?:i (?:really )?want to|i'd (?:like|love) to|i would like to|my goal is(?: to)?|i need to|i'm trying to|i wish i could|"
    r"(?:eu )?quero|gostaria de|queria|meu objetivo e|preciso(?: de)?|"
    r"quiero|me gustaria|mi (?:objetivo|meta) es|necesito|tengo que|"
    r"ich (?:will|mochte|moechte)|mein ziel ist(?: es)?|ich wurde gern\w*|ich muss|"
    r"je (?:veux|voudrais)|j'aimerais|mon (?:but|objectif) est de|je dois)\b\s*(?P<goal>[^.!?;\n]{6,120})"
)
_WORD = re.compile(r"[a-z']+")


def topics_of(text: str) -> frozenset[str]:
    """The topics whose words a text holds."""
    tokens = _WORD.findall(fold(text))
    return frozenset(
        topic for topic, stems in _STEMS.items() if any(token.startswith(stem) for token in tokens for stem in stems)
    )


def same_goal(left: str, right: str) -> bool:
    """Whether two phrases name one goal: half of the shorter one's words, or a topic and no topic that differs."""
    if overlap(left, right) >= _SAME_FROM and content_stems(left) & content_stems(right):
        return True
    mine, theirs = topics_of(left), topics_of(right)
    return bool(mine & theirs) and (mine <= theirs or theirs <= mine)


def goal_in(texts: Iterable[str]) -> str:
    """The first goal that the texts (oldest first) state in plain words, or an empty text."""
    for text in texts:
        for sentence in sentences(text[:4000]):
            match = _GOAL.search(fold(sentence))
            if match and not sentence.rstrip().endswith("?"):
                same_length = len(fold(sentence)) == len(sentence)
                goal = sentence[match.start("goal") : match.end("goal")] if same_length else match["goal"]
                return quote(goal.strip(), 100)
    return ""


def add_goal(known: Sequence[RecurringGoal], goal: str, message: str, hint: str = "") -> list[RecurringGoal]:
    """Count a goal that a message names: a known one in other words, or a new one.

    Args:
        known: The goals so far.
        goal: The goal as named now; empty adds nothing.
        message: The message it came up in.
        hint: The id of the known goal that a model takes it for; believed when topics do not speak against it.
    """
    if not goal:
        return list(known)
    result: list[RecurringGoal] = []
    matched = next((item for item in known if same_goal(item.goal, goal)), None)
    if matched is None and hint:
        hinted = next((item for item in known if item.id == hint), None)
        if hinted and not (topics_of(hinted.goal) and topics_of(goal)):
            matched = hinted
    for item in known:
        if item is matched:
            said = list(dict.fromkeys((*item.said_in, message)))
            result.append(RecurringGoal(id=item.id, goal=item.goal, said_in=said[-200:], times=len(said)))
        else:
            result.append(item)
    if matched is None:
        result.append(RecurringGoal(id=f"g{len(known) + 1}", goal=quote(goal, 80), said_in=[message], times=1))
    return result[-30:]
