"""What each agent alone is shown of the blackboard, in as few words as do."""

from repertory.runtime.rules import TurnView
from repertory.teams.coaching.evidence import latest_value, open_commitments
from repertory.teams.coaching.language import detect, fixed_language, language_name
from repertory.teams.coaching.moves import MOVE_FACTS, Move
from repertory.teams.coaching.persona import previous_persona
from repertory.teams.coaching.plasticity import current_voice
from repertory.teams.coaching.preferences import voice_in_words
from repertory.teams.coaching.reconcile import BLOCKS_FROM_SEVERITY
from repertory.teams.coaching.stability import standing_blocks
from repertory.teams.coaching.words import quote

__all__ = ("brief_for", "reply_language")

_EARLIER = 4


def reply_language(view: TurnView) -> str:
    """The English name of the language to answer in."""
    code = detect(view.message.text)
    if code is None:
        said = [message.text for message in (*view.past_messages, *view.history) if message.role == "person"]
        code = fixed_language(reversed(said)) if said else None
    return language_name(code)


def _not_to_suggest(view: TurnView) -> str:
    moves = [block.move for block in standing_blocks(view) if block.severity >= BLOCKS_FROM_SEVERITY]
    return "; ".join(MOVE_FACTS[move].words for move in moves)


def _instead(view: TurnView) -> str:
    moves = [block.move for block in standing_blocks(view) if block.severity >= BLOCKS_FROM_SEVERITY]
    return "; ".join(dict.fromkeys(MOVE_FACTS[move].instead_words for move in moves))


def _coach(view: TurnView) -> str:
    lines = [f"Write in {reply_language(view)}. Voice: {voice_in_words(current_voice(view))}."]
    blocked = _not_to_suggest(view)
    if blocked:
        lines.append(f"Never suggest: {blocked}. Better: {_instead(view)}.")
    return "\n".join(lines)


def _shadow(view: TurnView) -> str:
    lines: list[str] = []
    earlier = [message for message in view.past_messages if message.role == "person"][-_EARLIER:]
    if earlier:
        lines.append("Said in earlier sessions:")
        lines += [f"{message.id}: {quote(message.text, 140)}" for message in earlier]
    waiting = open_commitments(view)[-3:]
    listed = "; ".join(f"{item.id} {quote(item.what, 60)} (said in {item.made_in})" for item in waiting)
    lines.append(f"Open promises: {listed or 'none'}.")
    before = latest_value(view, "shadow")
    if before and before.get("revealed_priority"):
        lines.append(f"Found before: their time goes to {quote(str(before['revealed_priority']), 90)}.")
    return "\n".join(lines)


def _persona(view: TurnView) -> str:
    persona = previous_persona(view)
    if persona is None or not persona.recurring_goals:
        return "Known goals: none yet."
    goals = "; ".join(f"{goal.id} {quote(goal.goal, 60)}" for goal in persona.recurring_goals[-4:])
    return f"Known goals: {goals}."


def _plasticity(view: TurnView) -> str:
    return f"Voice now: {voice_in_words(current_voice(view))}."


def _stability(view: TurnView) -> str:
    return f"Blocked already: {_not_to_suggest(view) or 'nothing'}."


def _blocked_lines(view: TurnView) -> list[str]:
    """What must not be suggested, and for what somebody wanted: why, and what serves the same end."""
    blocked = _not_to_suggest(view)
    if not blocked:
        return []
    lines = [f"Never suggest: {blocked}."]
    for item in view.merge.conflicts if view.merge else ():
        if item.rule == "blocked_beats_recommended":
            fact = MOVE_FACTS[Move(item.topic)]
            reason = item.why.partition(": ")[2]
            lines.append(f"Say openly why not {fact.words}: {reason}. Suggest instead: {fact.instead_words}.")
    return lines[:3]


def _synth(view: TurnView) -> str:
    merge = view.merge
    first = view.sections.get("first_reply")
    lines = ["Facts about them (do not show the numbers c1, c2):"]
    lines += [f"{claim.id}. {quote(claim.text, 160)}" for claim in (merge.claims if merge else ())]
    moves = [MOVE_FACTS[Move(name)].words for name in (merge.moves if merge else ())][:2]
    if moves:
        lines.append(f"The step to take with them: {moves[0]}" + (f", or {moves[1]}." if moves[1:] else "."))
    lines += _blocked_lines(view)
    tensions = [item for item in (merge.conflicts if merge else ()) if item.rule == "tension_kept"]
    lines += [f"Show both sides: {item.topic.replace('_', ' ')}, but {quote(item.why, 90)}." for item in tensions[:1]]
    if first and isinstance(first.value, str) and first.value:
        lines.append(f'They have already read this, say something else: "{quote(first.value, 240)}"')
    lines.append(f"Write in {reply_language(view)}: {voice_in_words(current_voice(view))}.")
    return "\n".join(lines)


_BRIEFS = {
    "coach": _coach,
    "shadow": _shadow,
    "persona": _persona,
    "plasticity": _plasticity,
    "stability": _stability,
    "synth": _synth,
}


def brief_for(name: str, view: TurnView) -> str | None:
    """The private part of an agent's context; None for an agent that is not of this team."""
    write = _BRIEFS.get(name)
    return write(view) if write else None
