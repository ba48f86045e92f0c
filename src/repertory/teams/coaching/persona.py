"""Persona's section: the big five as guesses with intervals, goals that recur, follow-through, growth edges."""

# ruff: noqa: E501 - word lists read best with one alternative group a line

import re
from collections.abc import Iterable

from pydantic import ValidationError

from repertory.runtime.rules import TurnView, Written
from repertory.storage.records import Outcome
from repertory.teams.coaching.corrections import Corrections, corrections_of
from repertory.teams.coaching.drafts import PersonaDraft
from repertory.teams.coaching.evidence import cited, clean, latest_value, person_messages
from repertory.teams.coaching.forecast import beta_interval, beta_mean, track_record
from repertory.teams.coaching.goals import add_goal, goal_in
from repertory.teams.coaching.ocean import ItemEvidence, domain_of
from repertory.teams.coaching.preferences import PREFERENCES
from repertory.teams.coaching.sections import FollowThrough, GrowthEdge, Item, PersonaSection
from repertory.teams.coaching.shadow import settled_view
from repertory.teams.coaching.traits import QUESTIONNAIRE, answered_in, traits_of
from repertory.teams.coaching.words import fold, mentions, overlap, quote

__all__ = ("follow_through", "previous_persona", "write_persona")

_MAX_ITEMS = 200
_SAME_EDGE = 0.5
# Growth edges that people name in plain words.
_EDGES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "showing unfinished work and being visible",
        re.compile(
            r"\b(?:hide my work|until it(?:'s| is) perfect|visib\w+|show (?:it|my work) to|escondo (?:o )?meu trabalho|visibilidade|"
            r"escondo mi trabajo|visibilidad|verstecke meine arbeit|sichtbar\w*|cache mon travail|visibilite)\b"
        ),
    ),
    (
        "saying no to requests",
        re.compile(
            r"\b(?:can'?t say no|hard to say no|said yes (?:again|to everything)|nao consigo dizer nao|no (?:se|puedo) decir que no|"
            r"kann nicht nein sagen|ne sais pas dire non)\b"
        ),
    ),
    (
        "asking for help",
        re.compile(
            r"\b(?:hard to ask for help|(?:don'?t|never) ask for help|nao (?:sei )?pec?o ajuda|no pido ayuda|um hilfe (?:zu )?bitten|demander de l'aide)\b"
        ),
    ),
)


def previous_persona(view: TurnView) -> PersonaSection | None:
    """The last version of the section, if it can be read."""
    value = latest_value(view, "persona")
    try:
        return PersonaSection.model_validate(value) if value else None
    except ValidationError:
        return None


def _from_tone_only(item: ItemEvidence, view: TurnView) -> bool:
    """Low agreeableness or high neuroticism read from a wish about style is no evidence."""
    text = next((message.text for message in person_messages(view) if message.id == item.message), "")
    folded = fold(text)
    if not any(pattern.search(folded) for pattern in PREFERENCES.values()):
        return False
    return domain_of(item.statement)[0] in {"agreeableness", "neuroticism"}


def _items(draft: PersonaDraft, view: TurnView, known: list[Item], dropped: list[str]) -> list[Item]:
    fresh: list[Item] = []
    days = {message.id: message.at.date().isoformat() for message in person_messages(view)}
    for claim in draft.traits:
        ids = cited([claim.message], view)
        if not ids:
            dropped.append(f"trait without evidence: {claim.statement.value}")
            continue
        evidence = ItemEvidence(claim.statement, claim.agree, ids[0])
        if _from_tone_only(evidence, view):
            dropped.append(f"trait from tone alone: {claim.statement.value}")
            continue
        fresh.append(Item(statement=claim.statement, agree=claim.agree, message=ids[0], at=days.get(ids[0], "")))
    keyed = {(item.statement, item.message): item for item in (*known, *fresh)}
    return list(keyed.values())[-_MAX_ITEMS:]


def _edges(draft: PersonaDraft, view: TurnView, known: list[GrowthEdge], dropped: list[str]) -> list[GrowthEdge]:
    edges = list(known)

    def add(what: str, ids: list[str]) -> None:
        for index, edge in enumerate(edges):
            if overlap(edge.what, what) >= _SAME_EDGE:
                edges[index] = GrowthEdge(what=edge.what, evidence=list(dict.fromkeys((*edge.evidence, *ids))))
                return
        edges.append(GrowthEdge(what=quote(what, 100), evidence=ids))

    for message in person_messages(view):
        for what, pattern in _EDGES:
            if pattern.search(fold(message.text[:4000])):
                add(what, [message.id])
    claimed = clean(draft.growth_edge)
    ids = cited(draft.evidence, view)
    said = [message.text for message in person_messages(view)]
    if claimed and ids and mentions(claimed, said):
        add(claimed, list(ids))
    elif claimed:
        dropped.append(f"growth edge without evidence: {quote(claimed)}")
    return edges[-10:]


def _corrected_edges(edges: list[GrowthEdge], corrections: Corrections, dropped: list[str]) -> list[GrowthEdge]:
    """What the person has set, and of the others those they did not reject."""
    kept = [edge for edge in edges if not corrections.rejects(edge.what)]
    dropped += [f"growth edge that the person said is not so: {quote(edge.what)}" for edge in edges if edge not in kept]
    said = corrections.fact("growth_edge")
    if said is None:
        return kept
    return [GrowthEdge(what=said, evidence=[])] if said else []


def follow_through(outcomes: Iterable[Outcome]) -> FollowThrough:
    """How often commitments were kept, with its 90 % interval."""
    record = track_record(outcomes)
    p = round(beta_mean(record.kept, record.missed), 3)
    low, high = beta_interval(record.kept, record.missed)
    return FollowThrough(
        p=p, percent=round(100 * p), low_percent=round(100 * low), high_percent=round(100 * high),
        n=record.n, kept=record.kept, missed=record.missed,
    )  # fmt: skip


def write_persona(draft: PersonaDraft, view: TurnView) -> Written:
    """Make the section from a draft and what was known before."""
    previous = previous_persona(view)
    dropped: list[str] = []
    items = _items(draft, view, previous.items if previous else [], dropped)
    corrections = corrections_of(view)
    ocean = traits_of(items, corrections, answered_in(latest_value(view, QUESTIONNAIRE)), view.now)
    goal = clean(draft.goal)
    if goal and not mentions(goal, [view.message.text]):
        dropped.append(f"goal without evidence: {quote(goal)}")
        goal = ""
    goals = add_goal(
        previous.recurring_goals if previous else [], goal or goal_in([view.message.text]), view.message.id,
        clean(draft.same_as),
    )  # fmt: skip
    section = PersonaSection.model_validate(
        {
            "ocean": ocean,
            "items": items,
            "recurring_goals": [item for item in goals if not corrections.rejects(item.goal)],
            "follow_through": follow_through(item.outcome for item in settled_view(view)),
            "growth_edges": _corrected_edges(
                _edges(draft, view, previous.growth_edges if previous else [], dropped), corrections, dropped
            ),
            "dropped": dropped,
        }
    )
    rests_on = cited([*draft.evidence, *(item.message for item in draft.traits)], view) or (view.message.id,)
    return Written(section.model_dump(mode="json"), rests_on)
