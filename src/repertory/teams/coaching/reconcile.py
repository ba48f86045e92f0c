"""Reconcile: what the agents found becomes numbered claims and a set of allowed moves, by rules and without a model.

Rules, each conflict a record:

* `blocked_beats_recommended`: a blocked move of severity 6 or more leaves the recommended set.
* `tension_kept`: below that, the move stays and the tension is shown as a trade-off.
* `evidence_then_recency_then_confidence`: of claims that contradict each other on one topic one is kept.
* `no_evidence_no_claim`: a claim that cites no message is dropped and listed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from pydantic import ValidationError

from repertory.runtime.rules import Claim, Conflict, Merge, SectionView, TurnView
from repertory.teams.coaching.drafts import Pattern
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
_PATTERN_WORDS = {
    Pattern.INTENTION_ACTION_GAP: "they plan it and do not do it",
    Pattern.GOAL_SUBSTITUTION: "something else takes the place of the goal",
    Pattern.OVERCOMMITMENT: "they take on more than fits",
    Pattern.AVOIDANCE: "they avoid what is uncomfortable",
    Pattern.ALL_OR_NOTHING: "all or nothing",
    Pattern.PLANNING_FALLACY: "they plan more than they get done",
    Pattern.RELAPSE_CYCLE: "a start, a slip, a new start",
    Pattern.GOAL_CONFLICT: "two goals stand against each other",
    Pattern.STEADY_FOLLOW_THROUGH: "they keep what they plan",
}


_S = TypeVar("_S", ShadowSection, PersonaSection, PlasticitySection, StabilitySection)


@dataclass(frozen=True)
class Candidate:
    """A claim before it has a number, with what settles contradictions.

    Attributes:
        claim: The claim; its id is empty.
        stance: Claims of one topic with different stances contradict each other; empty contradicts nothing.
        recency: Higher is newer.
    """

    claim: Claim
    stance: str = ""
    recency: int = 0


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


def _shadow_claims(shadow: ShadowSection, view: TurnView) -> list[Candidate]:
    evidence = tuple(shadow.evidence)
    found: list[Candidate] = []
    if shadow.stated_goal:
        found.append(Candidate(Claim("", "shadow", "goal", f"they say they want: {shadow.stated_goal}", evidence[-3:])))
    if shadow.revealed_priority:
        found.append(
            Candidate(Claim("", "shadow", "priority", f"their time goes to: {shadow.revealed_priority}", evidence[-3:]))
        )
    words = _PATTERN_WORDS.get(shadow.pattern)
    if words:
        stance = "kept" if shadow.pattern is Pattern.STEADY_FOLLOW_THROUGH else "missed"
        found.append(Candidate(Claim("", "shadow", "pattern", words, evidence), stance))
    prediction = shadow.prediction
    if prediction.n:
        rests_on = tuple(item.settled_in for item in view.commitments if item.settled_in) or evidence
        text = f"kept so far: {prediction.basis}; chance of the next one about {round(100 * prediction.p)} %, a rough guess"
        found.append(Candidate(Claim("", "shadow", "chance", text, rests_on, prediction.p)))
    for item in [item for item in view.commitments if item.outcome == "open" or item.settled_in == view.message.id][
        -2:
    ]:
        state = {"open": "open", "kept": "done", "missed": "not done", "dropped": "dropped"}[item.outcome]
        source = item.settled_in or item.made_in
        found.append(Candidate(Claim("", "shadow", f"promise {item.id}", f"promise ({state}): {item.what}", (source,))))
    return found


def _persona_claims(persona: PersonaSection) -> list[Candidate]:
    found: list[Candidate] = []
    found += [
        Candidate(Claim("", "persona", "growth", f"worth learning: {edge.what}", tuple(edge.evidence)))
        for edge in persona.growth_edges[-1:]
    ]
    for goal in persona.recurring_goals:
        if goal.times > 1:
            text = f"came up {goal.times} times: {goal.goal}"
            found.append(Candidate(Claim("", "persona", "recurring", text, tuple(goal.said_in))))
    record = persona.follow_through
    if record.n >= 3:
        stance = "kept" if record.missed == 0 else "missed" if record.kept == 0 else ""
        text = f"{record.kept} of {record.n} promises kept"
        evidence = tuple(dict.fromkeys(item for edge in persona.growth_edges for item in edge.evidence))
        if stance and evidence:
            found.append(Candidate(Claim("", "persona", "pattern", text, evidence), stance))
    return found


def _stability_claims(stability: StabilitySection) -> list[Candidate]:
    risks = [risk for risk in stability.risks if risk.source == "model" and risk.priority != "L"]
    return [
        Candidate(Claim("", "stability", "risk", f"risk: {risk.what}", tuple(risk.evidence))) for risk in risks[-1:]
    ]


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
        candidates += _shadow_claims(shadow, view)
    if persona and "persona" not in missing:
        candidates += _persona_claims(persona)
    if stability:
        candidates += _stability_claims(stability)
    if not candidates:
        said = Claim("", "coach", "message", f"they wrote: {quote(view.message.text)}", (view.message.id,))
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
