"""What a person can do with their own data outside of a talk: answer, correct, settle, forget, and ask why."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from pydantic import ValidationError

from repertory.errors import UsageError
from repertory.storage.forgetting import Forgotten
from repertory.storage.records import Commitment, Outcome
from repertory.storage.store import Store
from repertory.teams.coaching.commitment_rows import commitment_rows
from repertory.teams.coaching.corrections import CORRECTIONS, Corrections, Fact, corrections_in
from repertory.teams.coaching.forecast import forecast
from repertory.teams.coaching.forgetting import CoachingRedaction
from repertory.teams.coaching.persona import follow_through
from repertory.teams.coaching.questionnaire import check_answers
from repertory.teams.coaching.redaction import PlainRedaction
from repertory.teams.coaching.sections import GrowthEdge, PersonaSection, Prediction, ShadowSection
from repertory.teams.coaching.traits import QUESTIONNAIRE, answered_in, traits_of
from repertory.teams.coaching.words import fold

__all__ = (
    "OUTCOMES",
    "TEAM",
    "Correction",
    "answer_questionnaire",
    "correct",
    "find_messages",
    "forget",
    "messages_meant",
    "settle",
)

TEAM = "coaching"

OUTCOMES: dict[str, Outcome] = {
    "done": "kept", "kept": "kept", "partly": "partly", "not": "missed", "missed": "missed", "dropped": "dropped",
    "open": "open",
}  # fmt: skip
"""What people say of a commitment -> its outcome."""


@dataclass(frozen=True)
class Correction:
    """What a person corrects.

    Attributes:
        traits: Trait -> its score 0..100, or None to withdraw an earlier correction.
        facts: Fact -> how it is; empty: not as it was said.
    """

    traits: dict[str, float | None]
    facts: dict[str, str]


def _values(store: Store, user: str) -> dict[str, Any]:
    return {name: version.value for name, version in store.blackboard(TEAM, user).all_latest().items()}


def _persona(values: dict[str, Any], commitments: Sequence[Commitment], at: datetime) -> PersonaSection:
    """Persona's section with the corrections and answers that stand; an empty one when there is none yet."""
    corrections = corrections_in(values.get(CORRECTIONS))
    try:
        known = PersonaSection.model_validate(values.get("persona"))
    except ValidationError:
        known = None
    items = known.items if known else []
    edges = [edge for edge in (known.growth_edges if known else []) if not corrections.rejects(edge.what)]
    if (said := corrections.fact("growth_edge")) is not None:
        edges = [GrowthEdge(what=said, evidence=[])] if said else []
    goals = [goal for goal in (known.recurring_goals if known else []) if not corrections.rejects(goal.goal)]
    return PersonaSection.model_validate(
        {
            "ocean": traits_of(items, corrections, answered_in(values.get(QUESTIONNAIRE)), at),
            "items": items,
            "recurring_goals": goals,
            "follow_through": follow_through(item.outcome for item in commitments),
            "growth_edges": edges,
        }
    )


def _shadow(values: dict[str, Any], commitments: Sequence[Commitment]) -> ShadowSection | None:
    """Shadow's section with the corrections and outcomes that stand; None when there is none yet."""
    corrections = corrections_in(values.get(CORRECTIONS))
    try:
        known = ShadowSection.model_validate(values.get("shadow"))
    except ValidationError:
        return None
    waiting = [item for item in commitments if item.outcome == "open"]
    expected = forecast(commitments, waiting[-1].kind if waiting else None)
    goal, priority = corrections.fact("goal"), corrections.fact("priority")
    return known.model_copy(
        update={
            "stated_goal": known.stated_goal if goal is None else goal,
            "revealed_priority": known.revealed_priority if priority is None else priority,
            "prediction": Prediction(
                p=expected.p, n=expected.n, n_used=expected.n_used, confidence=expected.confidence,
                basis=expected.basis, commitment=waiting[-1].what if waiting else None,
            ),
        }
    )  # fmt: skip


def _write(store: Store, user: str, changed: dict[str, Any], at: datetime) -> None:
    """Write what changed and what follows from it, in the person's name."""
    values = _values(store, user) | changed
    commitments = store.commitments.all(TEAM, user)
    written = {**changed, "persona": _persona(values, commitments, at).model_dump(mode="json")}
    shadow = _shadow(values, commitments)
    if shadow is not None:
        written["shadow"] = shadow.model_dump(mode="json")
    if commitments:
        written["commitments"] = commitment_rows(commitments)
    store.blackboard(TEAM, user).edit(written, at=at)


def answer_questionnaire(store: Store, user: str, answers: Sequence[object], at: datetime) -> PersonaSection:
    """Keep the answers of the questionnaire, and make the traits from them.

    Raises:
        UsageError: The answers are not twenty numbers from 1 to 5.
    """
    checked = check_answers(answers)
    _write(store, user, {QUESTIONNAIRE: {"answers": list(checked), "at": at.isoformat()}}, at)
    return PersonaSection.model_validate(_values(store, user)["persona"])


def correct(store: Store, user: str, correction: Correction, at: datetime) -> Corrections:
    """Correct traits and facts; what a model says stays below them from now on.

    Raises:
        UsageError: There is no such trait or fact.
    """
    values = _values(store, user)
    corrections = corrections_in(values.get(CORRECTIONS))
    before = _said_before(values)
    for name, score in correction.traits.items():
        corrections = corrections.with_trait(name, score, at)
    for name, text in correction.facts.items():
        known = before.get(cast("Fact", name.replace("-", "_")), "")
        corrections = corrections.with_fact(name, text, at, before=known)
    _write(store, user, {CORRECTIONS: corrections.model_dump(mode="json")}, at)
    return corrections


def _said_before(values: dict[str, Any]) -> dict[Fact, str]:
    """The facts as they were said so far."""
    found: dict[Fact, str] = {}
    try:
        shadow = ShadowSection.model_validate(values.get("shadow"))
        found |= {"goal": shadow.stated_goal, "priority": shadow.revealed_priority}
    except ValidationError:
        pass
    try:
        persona = PersonaSection.model_validate(values.get("persona"))
        found["growth_edge"] = persona.growth_edges[-1].what if persona.growth_edges else ""
    except ValidationError:
        pass
    return found


def settle(store: Store, user: str, commitment: str, outcome: Outcome, at: datetime) -> Commitment:
    """Say what became of a commitment; it stands above what was read from messages.

    Raises:
        UsageError: There is no such commitment.
    """
    settled = store.commitments.settle(TEAM, user, commitment, outcome, at)
    _write(store, user, {}, at)
    return settled


def find_messages(store: Store, user: str, team: str, words: str) -> list[tuple[str, str]]:
    """The person's messages that hold some words, as id and text.

    Raises:
        UsageError: The words are empty.
    """
    wanted = fold(words).strip()
    if not wanted:
        raise UsageError("there is nothing to look for", hint="name a message (m3), a commitment (k1) or some words")
    return [
        (message.id, message.text)
        for session in store.sessions.all(team, user)
        for message in store.messages.messages(session)
        if message.role == "person" and wanted in fold(message.text)
    ]


def messages_meant(store: Store, user: str, team: str, what: str) -> list[tuple[str, str]]:
    """The person's messages that are meant by a message's id, a commitment's id, or words, as id and text.

    Raises:
        UsageError: Nothing is named.
    """
    commitments = {item.id: item.made_in for item in store.commitments.all(team, user)}
    wanted = commitments.get(what, what)
    texts = {
        message.id: message.text
        for session in store.sessions.all(team, user)
        for message in store.messages.messages(session)
        if message.role == "person"
    }
    if wanted in texts:
        return [(wanted, texts[wanted])]
    return find_messages(store, user, team, what)


def forget(store: Store, user: str, team: str, messages: Sequence[str], at: datetime) -> dict[str, int]:
    """Forget messages and everything that was derived from them.

    Raises:
        UsageError: They wrote no such message.
    """
    if team != TEAM:
        return store.forget(team, user, messages, PlainRedaction, at)
    values = _values(store, user)

    def redaction(forgotten: Forgotten) -> CoachingRedaction:
        return CoachingRedaction(forgotten, values.get(CORRECTIONS), values.get(QUESTIONNAIRE))

    return store.forget(team, user, messages, redaction, at)
