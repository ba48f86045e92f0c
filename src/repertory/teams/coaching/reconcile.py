"""Reconcile: what the agents found becomes numbered claims and a set of allowed moves, without a model.

The rules are in `repertory.teams.coaching.settle`. The order is: claims without real evidence, contradictions, claims
against blocks, repeats; then the moves.
"""

from dataclasses import replace
from typing import TypeVar

from pydantic import ValidationError

from repertory.runtime.rules import Claim, Merge, SectionView, TurnView
from repertory.teams.coaching.claim_words import CLAIM_WORDS
from repertory.teams.coaching.claims import Candidate, persona_claims, shadow_claims, stability_claims
from repertory.teams.coaching.evidence import person_messages
from repertory.teams.coaching.goals import topics_of
from repertory.teams.coaching.moves import MOVE_FACTS, Move
from repertory.teams.coaching.plasticity import default_moves
from repertory.teams.coaching.reply_language import fixed_language_of
from repertory.teams.coaching.sections import PersonaSection, PlasticitySection, ShadowSection, StabilitySection
from repertory.teams.coaching.settle import (
    BLOCKS_FROM_SEVERITY,
    number_claims,
    settle_blocked_claims,
    settle_contradictions,
    settle_moves,
    settle_news,
    settle_repeats,
    with_substitutes,
)
from repertory.teams.coaching.stability import standing_blocks
from repertory.teams.coaching.suggests import mentions_move
from repertory.teams.coaching.words import quote

__all__ = ("merge_sections",)

_SPECIALISTS = ("shadow", "persona", "plasticity", "stability")
# Moves that would serve a growth edge or goal on a topic, whether anybody picked them or not.
_SERVES = {
    "visibility": Move.PUBLIC_COMMITMENT, "weight": Move.DIET_TARGET, "exercise": Move.INCREASE_TARGET,
    "money": Move.FINANCIAL_STAKE,
}  # fmt: skip


_S = TypeVar("_S", ShadowSection, PersonaSection, PlasticitySection, StabilitySection)


def _read(view: TurnView, name: str, model: type[_S]) -> _S | None:
    section = view.sections.get(name)
    if section is None or section.status == "missing":
        return None
    try:
        return model.model_validate(section.value)
    except ValidationError:
        return None


def _wanted(
    view: TurnView, plasticity: PlasticitySection | None, persona: PersonaSection | None
) -> list[tuple[Move, str]]:
    wanted = [(move, "plasticity") for move in (plasticity.moves if plasticity else default_moves(view))]
    for edge in persona.growth_edges if persona else []:
        wanted += [(_SERVES[topic], "persona") for topic in sorted(topics_of(edge.what)) if topic in _SERVES]
    wanted += [(move, "person") for move in MOVE_FACTS if mentions_move(move, view.message.text)]
    return wanted


def _states(view: TurnView) -> tuple[tuple[str, ...], tuple[str, ...]]:
    missing: list[str] = []
    stale: list[str] = []
    for name in _SPECIALISTS:
        section: SectionView | None = view.sections.get(name)
        if section is None or section.status == "missing":
            missing.append(name)
        elif section.status == "latest":
            stale.append(name)
            if name in view.failures:
                missing.append(name)
    return tuple(missing), tuple(stale)


def merge_sections(view: TurnView) -> Merge:
    """Reconcile the four specialists' sections of this turn."""
    shadow, persona = _read(view, "shadow", ShadowSection), _read(view, "persona", PersonaSection)
    plasticity = _read(view, "plasticity", PlasticitySection)
    stability = _read(view, "stability", StabilitySection)
    missing, stale = _states(view)
    blocks = standing_blocks(view)
    candidates: list[Candidate] = []
    language = fixed_language_of(view) or "en"
    if shadow:
        candidates += shadow_claims(shadow, view, language)
    if persona and "persona" not in missing:
        candidates += persona_claims(persona, language)
    if stability:
        candidates += stability_claims(stability)
    known = {message.id for message in person_messages(view)}
    candidates = [
        replace(item, claim=replace(item.claim, evidence=tuple(e for e in item.claim.evidence if e in known)))
        for item in candidates
    ]
    kept, contradictions = settle_contradictions(candidates)
    kept, against_blocks = settle_blocked_claims(kept, blocks)
    kept, against_news = settle_news(kept)
    kept, said_twice = settle_repeats(kept)
    # What they wrote now is the one claim that always stands: the reply may speak of it.
    said = CLAIM_WORDS[language].message.format(x=quote(view.message.text))
    message = Candidate(Claim("", "coach", "message", said, (view.message.id,)))
    claims, left_out = number_claims([message, *kept])
    doubts = [risk for risk in (stability.risks if stability else []) if risk.move and risk.priority == "M"]
    wanted = _wanted(view, plasticity, persona)
    moves, conflicts = settle_moves(wanted, blocks, doubts)
    moves = with_substitutes(moves, conflicts, blocks)
    dropped = [
        f"{name}: {text}"
        for name, section in (
            ("shadow", shadow),
            ("persona", persona),
            ("plasticity", plasticity),
            ("stability", stability),
        )
        if section
        for text in section.dropped
    ]
    return Merge(
        claims=claims,
        conflicts=(*conflicts, *against_blocks, *contradictions, *against_news, *said_twice, *left_out),
        blocked_moves=tuple(block.move.value for block in blocks if block.severity >= BLOCKS_FROM_SEVERITY),
        moves=tuple(move.value for move in moves),
        dropped_claims=(*dropped, *(f"{item.dropped[0]} ({item.why})" for item in left_out)),
        missing_agents=missing,
        stale_agents=stale,
    )
