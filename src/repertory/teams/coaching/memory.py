"""The memory snapshot: what earlier sessions left, in a few lines that stay the same for the whole session."""

from dataclasses import replace

from repertory.runtime.rules import TurnView
from repertory.storage.records import Commitment
from repertory.teams.coaching.forecast import track_record
from repertory.teams.coaching.moves import MOVE_FACTS
from repertory.teams.coaching.ocean import DOMAINS
from repertory.teams.coaching.persona import previous_persona
from repertory.teams.coaching.plasticity import current_voice
from repertory.teams.coaching.preferences import find_preferences
from repertory.teams.coaching.stability import standing_blocks
from repertory.teams.coaching.words import quote

__all__ = ("MAX_CHARS", "snapshot")

MAX_CHARS = 1100
"""About 250 tokens."""


def _goals(view: TurnView) -> str:
    persona = previous_persona(view)
    goals = sorted(persona.recurring_goals, key=lambda goal: (-goal.times, goal.id))[:3] if persona else []
    return "; ".join(f"{quote(goal.goal, 70)} ({', '.join(goal.said_in[-3:])})" for goal in goals)


def _promise(item: Commitment) -> str:
    due = f", due {item.due.date().isoformat()}" if item.due else ""
    return f"{item.id} {quote(item.what, 70)} (said in {item.made_in}{due})"


def _traits(view: TurnView) -> str:
    persona = previous_persona(view)
    if persona is None:
        return ""
    traits = {name: persona.ocean.trait(name) for name in DOMAINS}
    sure = {name: trait for name, trait in traits.items() if trait.confidence != "insufficient"}
    return ", ".join(f"{name} {trait.low:.0f}-{trait.high:.0f}" for name, trait in sure.items())


def _wishes(view: TurnView) -> str:
    wishes = [item.name.replace("_", " ") for item in find_preferences(view.past_messages)]
    voice = current_voice(view)
    if voice.length != "normal" and not wishes:
        wishes.append(f"{voice.length} answers")
    return ", ".join(wishes)


def _last_session(view: TurnView) -> str:
    said = [message for message in view.past_messages if message.role == "person"]
    if not said:
        return ""
    return f"on {said[-1].at.date().isoformat()} they wrote ({said[-1].id}): {quote(said[-1].text, 150)}"


def snapshot(view: TurnView) -> str:
    """The snapshot for a session, in a fixed order, at most `MAX_CHARS` characters; empty for a first session."""
    # The message that starts the session is no memory yet.
    view = replace(view, message=replace(view.message, text=""))
    record = track_record(item.outcome for item in view.commitments)
    waiting = [item for item in view.commitments if item.outcome == "open"][-3:]
    blocks = "; ".join(
        f"{MOVE_FACTS[block.move].words} ({quote(block.reason, 50)}, {', '.join(block.evidence[-2:])})"
        for block in standing_blocks(view)
    )
    lines = (
        ("Goals they named", _goals(view)),
        ("Open promises", "; ".join(_promise(item) for item in waiting)),
        ("Promises kept so far", f"{record.kept} of {record.n}" if record.n else ""),
        ("Never suggest", blocks),
        ("How they want to be spoken to", _wishes(view)),
        ("Traits, rough guesses 0-100", _traits(view)),
        ("Last session", _last_session(view)),
    )
    text = "\n".join(f"{name}: {value}" for name, value in lines if value)
    return text if len(text) <= MAX_CHARS else text[:MAX_CHARS].rsplit(" ", 1)[0] + "…"
