"""What each agent alone is shown of the blackboard, in as few words as do."""

import re

from repertory.runtime.rules import Claim, TurnView
from repertory.teams.coaching.evidence import latest_value, open_commitments, texts_of
from repertory.teams.coaching.fixed_texts import FIXED_TEXTS
from repertory.teams.coaching.moves import MOVE_FACTS, Move
from repertory.teams.coaching.persona import previous_persona
from repertory.teams.coaching.plasticity import current_voice
from repertory.teams.coaching.preferences import voice_in_words
from repertory.teams.coaching.reply_language import fixed_language_of
from repertory.teams.coaching.settle import BLOCKS_FROM_SEVERITY
from repertory.teams.coaching.stability import standing_blocks
from repertory.teams.coaching.words import fold, quote

__all__ = ("brief_for", "points_of")

_EARLIER = 4


def _not_to_suggest(view: TurnView) -> str:
    moves = [block.move for block in standing_blocks(view) if block.severity >= BLOCKS_FROM_SEVERITY]
    return "; ".join(MOVE_FACTS[move].words for move in moves)


def _instead(view: TurnView) -> str:
    moves = [block.move for block in standing_blocks(view) if block.severity >= BLOCKS_FROM_SEVERITY]
    return "; ".join(dict.fromkeys(MOVE_FACTS[move].instead_words for move in moves))


def _coach(view: TurnView) -> str:
    lines: list[str] = []
    language = fixed_language_of(view)
    if language is not None:
        texts = FIXED_TEXTS[language]
        lines += [f"Example of the form. Message: {texts.example_message}", f"Answer: {texts.example_reply}"]
    lines.append(f"Voice: {voice_in_words(current_voice(view))}.")
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
_POINTS = 4
_TOPICS = ("chance", "priority", "promise", "growth", "pattern", "goal", "recurring")
_RANK = {name: rank for rank, name in enumerate(_TOPICS)}


def points_of(view: TurnView) -> list[Claim]:
    """The claims that the reply is to be made of, the most telling first; a chance only when the person asks for it.

    What the person wrote now is one of them only where nothing else is known.
    """
    asked = bool(_ASKS_CHANCE.search(fold(view.message.text)))
    claims = [claim for claim in (view.merge.claims if view.merge else ()) if claim.topic != "chance" or asked]
    claims = [claim for claim in claims if claim.topic != "message"] or claims
    ranked = sorted(claims, key=lambda claim: _RANK.get(claim.topic.split(" ")[0], len(_RANK)))
    return ranked[:_POINTS]


def _synth(view: TurnView) -> str:
    first = view.sections.get("first_reply")
    lines: list[str] = []
    if first and isinstance(first.value, str) and first.value:
        lines.append(f'Said already: "{quote(first.value, 200)}"')
    points = points_of(view)
    lines += ["Points:", *(f"{claim.id}: {quote(claim.text, 150)}" for claim in points)]
    heard = dict.fromkeys(item for claim in points for item in claim.evidence[-2:] if item != view.message.id)
    told = [quote(text, 160) for text in texts_of(list(heard)[-2:], view)]
    if told:
        lines += ["They rest on what the person wrote:", *(f'- "{text}"' for text in told)]
    tensions = [item for item in (view.merge.conflicts if view.merge else ()) if item.rule == "tension_kept"]
    lines += [f"Weigh up: {item.topic.replace('_', ' ')}; but {quote(item.why, 90)}." for item in tensions[:1]]
    if view.merge and view.merge.moves:
        lines.append(f"For `next`: {MOVE_FACTS[Move(view.merge.moves[0])].words}.")
    if blocked := _not_to_suggest(view):
        lines.append(f"Never suggest: {blocked}.")
    lines.append(f"Voice: {voice_in_words(current_voice(view))}.")
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
