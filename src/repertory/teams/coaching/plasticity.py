"""Plasticity's section: how to speak with this person, what drove each setting, and the moves that suit."""

from pydantic import ValidationError

from repertory.runtime.rules import TurnView, Written
from repertory.teams.coaching.drafts import PlasticityDraft
from repertory.teams.coaching.evidence import cited, clean, latest_value, person_messages
from repertory.teams.coaching.moves import Move
from repertory.teams.coaching.ocean import DOMAINS, Domain
from repertory.teams.coaching.persona import previous_persona
from repertory.teams.coaching.preferences import find_preferences, voice_for
from repertory.teams.coaching.sections import Driver, PlasticitySection, Preference, Trait, Voice
from repertory.teams.coaching.words import mentions, quote

__all__ = ("asks_no_questions", "current_voice", "default_moves", "write_plasticity")


def _previous(view: TurnView) -> PlasticitySection | None:
    value = latest_value(view, "plasticity")
    try:
        return PlasticitySection.model_validate(value) if value else None
    except ValidationError:
        return None


def _voice(view: TurnView) -> tuple[Voice, list[Driver], list[Preference]]:
    previous = _previous(view)
    wishes = find_preferences(person_messages(view), previous.preferences if previous else ())
    persona = previous_persona(view)
    traits: dict[Domain, Trait] = {name: persona.ocean.trait(name) for name in DOMAINS} if persona else {}
    voice, drivers = voice_for(traits, wishes)
    return voice, drivers, wishes


def current_voice(view: TurnView) -> Voice:
    """The settings as they stand now: traits and wishes, with this message's wishes and the section's own nudges."""
    section = view.sections.get("plasticity")
    previous = _previous(view)
    if section and section.status == "written" and previous:
        return previous.voice
    return _voice(view)[0]


def asks_no_questions(view: TurnView) -> bool:
    """Whether the person asked not to be asked."""
    return any(wish.name == "no_questions" for wish in _voice(view)[2])


def default_moves(view: TurnView) -> list[Move]:
    """Moves that hardly ever do harm, for when no model has picked any."""
    missed = [item for item in view.commitments if item.outcome == "missed"]
    return [Move.SHRINK_STEP, Move.OPEN_QUESTION] if missed else [Move.OPEN_QUESTION, Move.IF_THEN_PLAN]


def write_plasticity(draft: PlasticityDraft | None, view: TurnView) -> Written:
    """Make the section: settings by code, moves by the model, one nudge when the person's words bear it out."""
    voice, drivers, wishes = _voice(view)
    dropped: list[str] = []
    moves = list(dict.fromkeys(Move(move.value) for move in draft.moves)) if draft else default_moves(view)
    ids = cited(draft.evidence, view) if draft else ()
    if draft and draft.setting != "none":
        reason = clean(draft.because)
        asked_for = {driver.setting for driver in drivers if driver.why == "the person asked for it"}
        if not ids or not mentions(reason, [message.text for message in person_messages(view)]):
            dropped.append(f"voice change without evidence: {draft.change} {draft.setting} ({quote(reason)})")
        elif draft.setting not in asked_for:
            step = 1 if draft.change == "more" else -1
            value = min(5, max(1, int(getattr(voice, draft.setting)) + step))
            voice = voice.model_copy(update={draft.setting: value})
            drivers.append(Driver(setting=draft.setting, by="this message", why=quote(reason), evidence=list(ids)))
    section = PlasticitySection(
        voice=voice, moves=moves[:4], drivers=drivers[:30], preferences=wishes[:20], evidence=list(ids), dropped=dropped
    )
    return Written(section.model_dump(mode="json"), ids)
