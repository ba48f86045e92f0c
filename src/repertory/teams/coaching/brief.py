"""What each agent alone is shown of the blackboard, in as few words as do."""

import re

from repertory.runtime.rules import TurnView
from repertory.teams.coaching.evidence import latest_value, open_commitments, texts_of
from repertory.teams.coaching.language import detect, fixed_language, language_name
from repertory.teams.coaching.moves import MOVE_FACTS, Move
from repertory.teams.coaching.persona import previous_persona
from repertory.teams.coaching.plasticity import current_voice
from repertory.teams.coaching.preferences import voice_in_words
from repertory.teams.coaching.reconcile import BLOCKS_FROM_SEVERITY
from repertory.teams.coaching.stability import standing_blocks
from repertory.teams.coaching.words import fold, quote

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


_ASKS_CHANCE = re.compile(
    r"\b(?:odds|chances?|how likely|likelihood|probab\w*|probabilidad\w*|chances|wahrscheinlich\w*|probabilites?)\b"
)
_POINTS = 3
_TOPICS = ("chance", "promise", "priority", "growth", "pattern", "goal", "recurring")
_RANK = {name: rank for rank, name in enumerate(_TOPICS)}


def _points(view: TurnView) -> list[str]:
    """The claims that the reply is to be made of, under their numbers; a chance only when the person asks for it."""
    asked = bool(_ASKS_CHANCE.search(fold(view.message.text)))
    claims = [claim for claim in (view.merge.claims if view.merge else ()) if claim.topic != "chance" or asked]
    ranked = sorted(claims, key=lambda claim: _RANK.get(claim.topic.split(" ")[0], len(_RANK)))
    return [f"{claim.id.removeprefix('c')}. {quote(claim.text, 150)}" for claim in ranked[:_POINTS]]


def _not_this(view: TurnView) -> list[str]:
    """That a move which somebody wanted is not advised, and why, in the person's words."""
    conflicts = view.merge.conflicts if view.merge else ()
    lost = {item.topic for item in conflicts if item.rule == "blocked_beats_recommended"}
    lines: list[str] = []
    for block in standing_blocks(view):
        if block.move.value in lost:
            said = " ".join(texts_of(block.evidence[:1], view))
            reason = f'you wrote: "{quote(said, 130)}"' if said else block.reason
            lines.append(f"- Rather not {MOVE_FACTS[block.move].words}, because {reason}.")
    return lines[:2]


def _synth(view: TurnView) -> str:
    merge = view.merge
    first = view.sections.get("first_reply")
    lines: list[str] = []
    if first and isinstance(first.value, str) and first.value:
        lines.append(f'Said already: "{quote(first.value, 200)}"')
    lines += ["What to say next:", *_points(view), *_not_this(view)]
    tensions = [item for item in (merge.conflicts if merge else ()) if item.rule == "tension_kept"]
    lines += [
        f"- On one side {item.topic.replace('_', ' ')}; on the other {quote(item.why, 90)}." for item in tensions[:1]
    ]
    says = [MOVE_FACTS[Move(name)].say for name in (merge.moves if merge else ())]
    lines += [f"- {say}" for say in says if say][:2]
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
