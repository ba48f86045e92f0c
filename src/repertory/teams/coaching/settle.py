"""The rules by which claims and moves that can not all stand are settled; every settlement is a record.

* `blocked_beats_recommended`: a blocked move of severity 6 or more leaves the recommended set, whoever wanted it
  (Persona's growth edge, Plasticity, the person); a safer move that serves the same end comes in.
* `blocked_beats_claim`: a claim that would itself suggest such a move is dropped.
* `tension_kept`: below that severity, the move stays and the tension is shown as a trade-off.
* `evidence_then_recency_then_confidence`: of claims that contradict each other on one topic one is kept.
* `news_beats_pattern`: that the person kept a promise just now beats a pattern of not keeping them.
* `said_once`: of claims that say the same, the first is kept.
* `no_evidence_no_claim`: a claim that cites no message is dropped.
* `most_telling_first`: what is over the number of claims that Synth can carry is dropped.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from repertory.runtime.rules import Claim, Conflict
from repertory.teams.coaching.claims import Candidate
from repertory.teams.coaching.moves import MOVE_FACTS, Move
from repertory.teams.coaching.repeats import repeats
from repertory.teams.coaching.sections import BlockedMove, Risk
from repertory.teams.coaching.suggests import suggested_moves

__all__ = (
    "BLOCKS_FROM_SEVERITY",
    "number_claims",
    "settle_blocked_claims",
    "settle_contradictions",
    "settle_moves",
    "settle_news",
    "settle_repeats",
    "with_substitutes",
)

BLOCKS_FROM_SEVERITY = 6
"""Severity (1..10) from which a block beats every wish for the move."""
_MAX_CLAIMS = 9
# Whose claims may advise: what the person wants or did is said back, also where it names a blocked move.
_ADVISING = frozenset({"persona"})


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
    wanters: dict[Move, list[str]] = {}
    for move, wanter in wanted:
        wanters.setdefault(move, []).append(f"{wanter}: {move.value}")
    allowed: list[Move] = []
    conflicts: list[Conflict] = []
    for move, wants in wanters.items():
        block, doubt, who = blocked.get(move), doubted.get(move), tuple(dict.fromkeys(wants))
        if block and block.severity >= BLOCKS_FROM_SEVERITY:
            against = f"stability: blocks {move.value}"
            safer = MOVE_FACTS[move].instead
            why = f"severity {block.severity}: {block.reason}" + (f"; instead {safer.value}" if safer else "")
            conflicts.append(Conflict(move.value, (*who, against), "blocked_beats_recommended", (against,), who, why))
            continue
        if block or doubt:
            why = block.reason if block else doubt.what if doubt else ""
            everything = (*who, f"stability: doubts {move.value}")
            conflicts.append(Conflict(move.value, everything, "tension_kept", everything, (), why))
        allowed.append(move)
    return tuple(allowed), tuple(conflicts)


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


def settle_blocked_claims(
    candidates: Sequence[Candidate], blocks: Sequence[BlockedMove]
) -> tuple[list[Candidate], list[Conflict]]:
    """Drop claims that would themselves suggest a blocked move, such as a growth edge that names it as the way."""
    grave = {block.move: block for block in blocks if block.severity >= BLOCKS_FROM_SEVERITY}
    kept: list[Candidate] = []
    conflicts: list[Conflict] = []
    for candidate in candidates:
        suggested = suggested_moves(candidate.claim.text, grave) if candidate.claim.agent in _ADVISING else []
        if not suggested:
            kept.append(candidate)
            continue
        label, against = _label(candidate.claim), f"stability: blocks {suggested[0].value}"
        why = f"severity {grave[suggested[0]].severity}: {grave[suggested[0]].reason}"
        conflicts.append(
            Conflict(candidate.claim.topic, (label, against), "blocked_beats_claim", (against,), (label,), why)
        )
    return kept, conflicts


def settle_news(candidates: Sequence[Candidate]) -> tuple[list[Candidate], list[Conflict]]:
    """Drop a pattern of broken promises in the turn that tells of a kept one: the news is newer."""
    news = next((item for item in candidates if item.stance == "kept" and item.claim.topic != "pattern"), None)
    kept: list[Candidate] = []
    conflicts: list[Conflict] = []
    for candidate in candidates:
        if news is None or candidate.claim.topic != "pattern" or candidate.stance != "missed":
            kept.append(candidate)
            continue
        both, why = (_label(news.claim), _label(candidate.claim)), "they kept one just now"
        conflicts.append(Conflict("pattern", both, "news_beats_pattern", both[:1], both[1:], why))
    return kept, conflicts


def settle_repeats(candidates: Sequence[Candidate]) -> tuple[list[Candidate], list[Conflict]]:
    """Of claims that say the same, keep the first."""
    kept: list[Candidate] = []
    conflicts: list[Conflict] = []
    for candidate in candidates:
        twin = next((other for other in kept if repeats(candidate.claim.text, other.claim.text)), None)
        if twin is None:
            kept.append(candidate)
            continue
        both = (_label(twin.claim), _label(candidate.claim))
        conflicts.append(Conflict(candidate.claim.topic, both, "said_once", both[:1], both[1:], "they say the same"))
    return kept, conflicts


def number_claims(candidates: Iterable[Candidate]) -> tuple[tuple[Claim, ...], tuple[Conflict, ...]]:
    """Number the claims c1, c2 ...; what has no evidence, or is too much, is dropped, each with a record."""
    claims: list[Claim] = []
    dropped: list[Conflict] = []
    for candidate in candidates:
        label = _label(candidate.claim)
        if not candidate.claim.evidence:
            why = "no message bears it out"
            dropped.append(Conflict(candidate.claim.topic, (label,), "no_evidence_no_claim", (), (label,), why))
        elif len(claims) < _MAX_CLAIMS:
            claims.append(replace(candidate.claim, id=f"c{len(claims) + 1}"))
        else:
            why = f"{_MAX_CLAIMS} claims are enough for one reply"
            dropped.append(Conflict(candidate.claim.topic, (label,), "most_telling_first", (), (label,), why))
    return tuple(claims), tuple(dropped)
