"""Stability's section: the risks, and the moves they block; blocks stand until time or evidence lifts them."""

from datetime import timedelta

from pydantic import ValidationError

from repertory.clock import parse_time
from repertory.runtime.rules import TurnView, Written
from repertory.teams.coaching.drafts import RiskDraft, StabilityDraft
from repertory.teams.coaching.evidence import cited, clean, latest_value, person_messages, texts_of
from repertory.teams.coaching.harm import Harm, find_harm, good_experience
from repertory.teams.coaching.moves import Move
from repertory.teams.coaching.risk import priority_of, reversibility_class
from repertory.teams.coaching.sections import BlockedMove, LiftedMove, Risk, StabilitySection
from repertory.teams.coaching.suggests import mentions_move
from repertory.teams.coaching.words import mentions, quote

__all__ = ("BLOCK_LASTS", "standing_blocks", "write_stability")

BLOCK_LASTS = timedelta(days=90)
"""A block ends this long after the last message that bore it out."""


def _previous(view: TurnView) -> StabilitySection:
    value = latest_value(view, "stability")
    try:
        return StabilitySection.model_validate(value) if value else StabilitySection(risks=[], blocked_moves=[])
    except ValidationError:
        return StabilitySection(risks=[], blocked_moves=[])


def _told_harm(view: TurnView) -> list[tuple[Harm, str, str]]:
    """Harm by code in everything the person wrote within the time a block lasts: harm, message id, day."""
    since = view.now - BLOCK_LASTS
    return [
        (harm, message.id, message.at.date().isoformat())
        for message in person_messages(view)
        if message.at >= since
        for harm in find_harm(message.text)
    ]


def _block(move: Move, reason: str, ids: list[str], severity: int, day: str, source: str) -> BlockedMove:
    until = (parse_time(day) + BLOCK_LASTS).date().isoformat()
    return BlockedMove.model_validate(
        {
            "move": move,
            "reason": reason,
            "evidence": ids,
            "severity": severity,
            "since": day,
            "until": until,
            "source": source,
        }
    )


def _merged(old: BlockedMove, new: BlockedMove) -> BlockedMove:
    return old.model_copy(
        update={
            "evidence": list(dict.fromkeys((*old.evidence, *new.evidence))),
            "severity": max(old.severity, new.severity),
            "until": max(old.until, new.until),
        }
    )


def _lift(blocks: dict[Move, BlockedMove], view: TurnView, lifted: list[LiftedMove]) -> None:
    today = view.now.date().isoformat()
    order = {message.id: index for index, message in enumerate(person_messages(view))}
    for move, block in list(blocks.items()):
        newest = max((order.get(item, -1) for item in block.evidence), default=-1)
        good = [
            message.id
            for message in person_messages(view)
            if order[message.id] > newest and good_experience(move, message.text)
        ]
        if block.until < today:
            lifted.append(
                LiftedMove(move=move, why=f"nothing has borne it out since {block.since}", evidence=[], at=today)
            )
            del blocks[move]
        elif good:
            lifted.append(LiftedMove(move=move, why="they told that it went well", evidence=good, at=today))
            del blocks[move]


def _code_blocks(view: TurnView, lifted: list[LiftedMove]) -> dict[Move, BlockedMove]:
    """The standing blocks of the last version with this message's told harm, less what was lifted."""
    blocks = {block.move: block for block in _previous(view).blocked_moves}
    cleared = {item.move: item.at for item in _previous(view).lifted_moves}
    for harm, message, day in _told_harm(view):
        if day <= cleared.get(harm.move, "") and message != view.message.id:
            continue
        fresh = _block(harm.move, harm.reason, [message], harm.severity, day, "rule")
        blocks[harm.move] = _merged(blocks[harm.move], fresh) if harm.move in blocks else fresh
    _lift(blocks, view, lifted)
    return blocks


def standing_blocks(view: TurnView) -> list[BlockedMove]:
    """What no reply of this turn may suggest, as far as it is known now."""
    section = view.sections.get("stability")
    if section and section.status == "written":
        return _previous(view).blocked_moves
    return list(_code_blocks(view, []).values())


def _rule_risk(harm: Harm, message: str) -> Risk:
    return Risk(
        what=f"{harm.move.value}: {harm.reason}",
        severity=harm.severity,
        occurrence=harm.occurrence,
        detectability=harm.detectability,
        reversibility=harm.reversibility,
        reversibility_class=reversibility_class(harm.reversibility),
        priority=priority_of(harm.severity, harm.occurrence, harm.detectability, harm.reversibility),
        move=harm.move,
        evidence=[message],
        source="rule",
    )


def _model_risk(claim: RiskDraft, view: TurnView, dropped: list[str]) -> Risk | None:
    what, ids = clean(claim.what), cited([claim.evidence], view)
    if not what:
        return None
    if not ids or not mentions(what, texts_of(ids, view)):
        dropped.append(f"risk without evidence: {quote(what)}")
        return None
    ratings = (claim.severity, claim.occurrence, claim.detectability, claim.reversibility)
    return Risk(
        what=quote(what),
        severity=ratings[0],
        occurrence=ratings[1],
        detectability=ratings[2],
        reversibility=ratings[3],
        reversibility_class=reversibility_class(ratings[3]),
        priority=priority_of(*ratings),
        move=None if claim.move == "none" else Move(claim.move.value),
        evidence=list(ids),
        source="model",
    )


def write_stability(draft: StabilityDraft | None, view: TurnView) -> Written:
    """Make the section: told harm by code, risks by the model, blocks from both, none lost without a reason."""
    dropped: list[str] = []
    lifted = list(_previous(view).lifted_moves)
    blocks = _code_blocks(view, lifted)
    risks = {f"{harm.move}:{harm.reason}": _rule_risk(harm, message) for harm, message, _ in _told_harm(view)}
    said = [message.text for message in person_messages(view)]
    today = view.now.date().isoformat()
    for claim in draft.risks if draft else []:
        risk = _model_risk(claim, view, dropped)
        if risk is None:
            continue
        risks.setdefault(risk.what, risk)
        if risk.priority != "H" or risk.move is None or risk.move in blocks:
            continue
        if any(mentions_move(risk.move, text) for text in said):
            blocks[risk.move] = _block(risk.move, risk.what, risk.evidence, risk.severity, today, "model")
        else:
            dropped.append(f"block of a move nobody spoke of: {risk.move.value}")
    section = StabilitySection(
        risks=list(risks.values())[-12:],
        blocked_moves=list(blocks.values()),
        lifted_moves=lifted[-20:],
        dropped=dropped,
    )
    evidence = tuple(dict.fromkeys(item for risk in section.risks for item in risk.evidence))
    return Written(section.model_dump(mode="json"), evidence)
