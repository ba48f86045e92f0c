"""Reconcile: what the agents found becomes numbered claims and a set of allowed moves, by rules and without a model.

Rules, each conflict a record:

* `blocked_beats_recommended`: a blocked move of severity 6 or more leaves the recommended set.
* `tension_kept`: below that, the move stays and the tension is shown as a trade-off.
* `evidence_then_recency_then_confidence`: of claims that contradict each other on one topic one is kept.
* `no_evidence_no_claim`: a claim that cites no message is dropped and listed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from pydantic import ValidationError

from repertory.runtime.rules import Claim, Conflict, Merge, SectionView, TurnView
from repertory.teams.coaching.claims import Candidate, persona_claims, shadow_claims, stability_claims
from repertory.teams.coaching.evidence import person_messages
from repertory.teams.coaching.goals import topics_of
from repertory.teams.coaching.moves import MOVE_FACTS, Move
from repertory.teams.coaching.plasticity import default_moves
from repertory.teams.coaching.sections import (
    BlockedMove,
    PersonaSection,
    PlasticitySection,
    Risk,
    ShadowSection,
    StabilitySection,
)
from repertory.teams.coaching.stability import standing_blocks
from repertory.teams.coaching.suggests import mentions_move
from repertory.teams.coaching.words import quote

__all__ = (
    "BLOCKS_FROM_SEVERITY",
    "Candidate",
    "merge_sections",
    "number_claims",
    "settle_contradictions",
    "settle_moves",
    "with_substitutes",
)

BLOCKS_FROM_SEVERITY = 6
_MAX_CLAIMS = 8
_SPECIALISTS = ("shadow", "persona", "plasticity", "stability")
# Moves that would serve a growth edge or goal on a topic, whether anybody picked them or not.
_SERVES = {
    "visibility": Move.PUBLIC_COMMITMENT, "weight": Move.DIET_TARGET, "exercise": Move.INCREASE_TARGET,
    "money": Move.FINANCIAL_STAKE,
}  # fmt: skip


_S = TypeVar("_S", ShadowSection, PersonaSection, PlasticitySection, StabilitySection)


def settle_moves(wanted: Sequence[tuple[Move, str]], blocks: Sequence[BlockedMove],
                 tensions: Sequence[Risk]) -> tuple[tuple[Move, ...], tuple[Conflict, ...]]:  # fmt: skip
    """Blocked beats recommended from severity 6; below, the tension is kept.

    Args:
        wanted: Moves with who wants them.
        blocks: Blocked moves.
        tensions: Risks that name a move and do not block it.

    Returns:
        The moves that stay allowed, and a record for every move that was wanted and spoken against.
    """
    blocked = {block.move: block for block in blocks}
    doubted = {risk.move: risk for risk in tensions if risk.move}
    allowed: list[Move] = []
    conflicts: dict[Move, Conflict] = {}
    for move, wanter in wanted:
        want = f"{wanter}: {move.value}"
        block, doubt = blocked.get(move), doubted.get(move)
        if block and block.severity >= BLOCKS_FROM_SEVERITY:
            against = f"stability: blocks {move.value}"
            conflicts.setdefault(
                move,
                Conflict(move.value, (want, against), "blocked_beats_recommended", (against,), (want,),
                         f"severity {block.severity}: {block.reason}"),
            )  # fmt: skip
            continue
        if block or doubt:
            why = block.reason if block else doubt.what if doubt else ""
            against = f"stability: doubts {move.value}"
            conflicts.setdefault(move, Conflict(move.value, (want, against), "tension_kept", (want, against), (), why))
        allowed.append(move)
    return tuple(dict.fromkeys(allowed)), tuple(conflicts.values())


def with_substitutes(
    moves: Sequence[Move], conflicts: Sequence[Conflict], blocks: Sequence[BlockedMove]
) -> tuple[Move, ...]:
    """The safer moves that serve the ends of those that were blocked, first; then what is allowed."""
    blocked = {block.move for block in blocks}
    lost = [Move(item.topic) for item in conflicts if item.rule == "blocked_beats_recommended"]
    safer = [MOVE_FACTS[move].instead for move in lost]
    return tuple(dict.fromkeys((*(move for move in safer if move and move not in blocked), *moves)))


def settle_contradictions(candidates: Sequence[Candidate]) -> tuple[list[Candidate], list[Conflict]]:
    """Of claims with different stances on one topic keep that with more evidence, then the newer, then the surer."""
    kept: list[Candidate] = []
    conflicts: list[Conflict] = []
    for candidate in candidates:
        rival = next(
            (
                other
                for other in kept
                if candidate.stance and other.stance and other.claim.topic == candidate.claim.topic
                and other.stance != candidate.stance
            ),
            None,
        )  # fmt: skip
        if rival is None:
            kept.append(candidate)
            continue
        winner = max((rival, candidate), key=_strength)
        loser = candidate if winner is rival else rival
        if winner is candidate:
            kept[kept.index(rival)] = candidate
        both = (_label(rival.claim), _label(candidate.claim))
        conflicts.append(
            Conflict(candidate.claim.topic, both, "evidence_then_recency_then_confidence", (_label(winner.claim),),
                     (_label(loser.claim),), _why(winner, loser))
        )  # fmt: skip
    return kept, conflicts


def _strength(candidate: Candidate) -> tuple[int, int, float]:
    return len(candidate.claim.evidence), candidate.recency, candidate.claim.confidence or 0.0


def _why(winner: Candidate, loser: Candidate) -> str:
    mine, theirs = _strength(winner), _strength(loser)
    if mine[0] != theirs[0]:
        return f"{mine[0]} messages against {theirs[0]}"
    return "newer" if mine[1] != theirs[1] else "surer"


def _label(claim: Claim) -> str:
    return f"{claim.agent}: {claim.text}"


def number_claims(candidates: Iterable[Candidate]) -> tuple[tuple[Claim, ...], tuple[str, ...]]:
    """Number the claims c1, c2 ...; those without evidence are dropped and listed."""
    claims: list[Claim] = []
    dropped: list[str] = []
    for candidate in candidates:
        if not candidate.claim.evidence:
            dropped.append(f"{_label(candidate.claim)} (no evidence)")
        elif len(claims) < _MAX_CLAIMS:
            claims.append(replace(candidate.claim, id=f"c{len(claims) + 1}"))
    return tuple(claims), tuple(dropped)


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
    if shadow:
        candidates += shadow_claims(shadow, view)
    if persona and "persona" not in missing:
        candidates += persona_claims(persona)
    if stability:
        candidates += stability_claims(stability)
    if not candidates:
        said = Claim("", "coach", "message", f"you wrote: {quote(view.message.text)}", (view.message.id,))
        candidates.append(Candidate(said))
    known = {message.id for message in person_messages(view)}
    candidates = [
        replace(item, claim=replace(item.claim, evidence=tuple(e for e in item.claim.evidence if e in known)))
        for item in candidates
    ]
    kept, contradictions = settle_contradictions(candidates)
    claims, unfounded = number_claims(kept)
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
        conflicts=(*conflicts, *contradictions),
        blocked_moves=tuple(block.move.value for block in blocks if block.severity >= BLOCKS_FROM_SEVERITY),
        moves=tuple(move.value for move in moves),
        dropped_claims=(*dropped, *unfounded),
        missing_agents=missing,
        stale_agents=stale,
    )
