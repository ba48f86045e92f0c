"""The crisis protocol: how grave a turn is, what is answered instead of coaching, and what must be said first.

* A sign of danger makes the turn, and every later turn of the session, a crisis: one denial clears nothing.
* The first turn of the next session checks in before anything else; after it, the session stays `elevated`.
* Who says that they are under 18 is told that the coach is for adults, and where young people find help.
* Every session starts by saying that this is an AI, and says it again every three hours (New York GBL art. 47).
"""

from datetime import datetime, timedelta
from typing import Literal

from repertory.runtime.rules import Interception, Safety, TurnView
from repertory.storage.records import Message
from repertory.teams.coaching.language import FixedLanguage, detect, fixed_language
from repertory.teams.coaching.safety.contacts import abuse_contact, crisis_contact
from repertory.teams.coaching.safety.detector import Signal, signal_of
from repertory.teams.coaching.safety.minors import MINOR_TEXTS, MinorPolicy, is_minor, stated_age
from repertory.teams.coaching.safety.protocol_texts import TEXTS

__all__ = ("DISCLOSE_EVERY", "Stage", "answer", "judge", "language_of", "notice_for", "stage_of")

DISCLOSE_EVERY = timedelta(hours=3)
_BY_LANGUAGE = {"nl": "NL", "it": "IT"}

Stage = Literal["none", "fresh", "holding", "check_in", "after_check_in", "elevated"]


def language_of(view: TurnView) -> FixedLanguage:
    """The language for fixed words: the message's, or that of the person's earlier messages."""
    earlier = [message.text for message in (*view.past_messages, *view.history) if message.role == "person"]
    return fixed_language([view.message.text, *reversed(earlier[-10:])])


def _said_in_session(view: TurnView) -> list[Message]:
    return [message for message in view.history if message.role == "person"]


def _session_start(view: TurnView) -> datetime:
    return view.history[0].at if view.history else view.message.at


def _crisis_in_last_session(view: TurnView) -> bool:
    if not view.past_messages:
        return _last_level_was_crisis(view)
    last = view.past_messages[-1].session
    said = (message for message in view.past_messages if message.session == last and message.role == "person")
    return _last_level_was_crisis(view) or any(signal_of(message.text).level == "crisis" for message in said)


def _last_level_was_crisis(view: TurnView) -> bool:
    start = _session_start(view)
    levels = [level for at, level in view.past_safety if at < start and level in {"elevated", "crisis"}]
    return bool(levels) and levels[-1] == "crisis"


def _crisis_in_session(view: TurnView) -> bool:
    start = _session_start(view)
    judged = any(level == "crisis" and at >= start for at, level in view.past_safety) and bool(view.history)
    return judged or any(signal_of(message.text).level == "crisis" for message in _said_in_session(view))


def stage_of(view: TurnView, signal: Signal) -> Stage:
    """Where in the protocol this turn stands."""
    if signal.level == "crisis":
        return "fresh"
    if _crisis_in_session(view):
        return "holding"
    if _crisis_in_last_session(view):
        return "after_check_in" if view.history else "check_in"
    return "elevated" if signal.level == "elevated" else "none"


def judge(view: TurnView) -> Safety:
    """How grave this turn is, and whether the protocol answers instead of the team."""
    signal = signal_of(view.message.text)
    match stage_of(view, signal):
        case "fresh" | "holding":
            return Safety(level="crisis", route="crisis_protocol")
        case "check_in":
            return Safety(level="elevated", route="crisis_protocol")
        case "after_check_in" | "elevated":
            return Safety(level="elevated")
        case "none":
            return Safety(level="low" if signal.level == "low" else "none")


def _country_of(view: TurnView) -> str | None:
    """The country that the message's language points to, where it has no fixed texts of its own."""
    return _BY_LANGUAGE.get(detect(view.message.text) or "")


def answer(view: TurnView, country: str | None, minors: MinorPolicy = "guide") -> Interception | None:
    """The fixed reply of the protocol, or None when the team may work.

    Args:
        view: The turn.
        country: ISO code of the country whose services are named; None names those of the message's language.
        minors: Whether people under 18 are coached.
    """
    country = country or _country_of(view)
    signal = signal_of(view.message.text)
    stage = stage_of(view, signal)
    language = language_of(view)
    texts = TEXTS[language]
    help_line = f"{texts.contact} {crisis_contact(language, country)}"
    if stage == "fresh":
        category = signal.category or "self"
        if category == "danger":
            help_line = f"{help_line} {abuse_contact(language)}"
        paragraphs = (texts.opening[category], help_line, texts.person, texts.machine)
        return Interception("\n\n".join(paragraphs), reason=f"sign of danger: {category}")
    if stage == "holding":
        paragraphs = (texts.holding, help_line, texts.person, texts.machine)
        return Interception("\n\n".join(paragraphs), reason="earlier sign of danger in this session; nothing clears it")
    if stage == "check_in":
        paragraphs = (texts.check_in, help_line, f"{texts.machine} {texts.still_there}")
        return Interception("\n\n".join(paragraphs), reason="check-in after a crisis in the last session")
    if minors == "refuse" and is_minor(view):
        return Interception(MINOR_TEXTS[language], reason="the person is a minor, and this installation coaches adults")
    return None


def _disclosure(view: TurnView, language: FixedLanguage) -> str | None:
    if view.first_turn_of_session or not view.history:
        return TEXTS[language].disclosure
    start, before = view.history[0].at, view.history[-1].at
    if (view.message.at - start) // DISCLOSE_EVERY > (before - start) // DISCLOSE_EVERY:
        return TEXTS[language].reminder
    return None


def notice_for(view: TurnView) -> str | None:
    """Fixed words before the first reply: that this is an AI and for adults, and a check-in when things are heavy."""
    language = language_of(view)
    parts = [_disclosure(view, language)]
    stage = stage_of(view, signal_of(view.message.text))
    if stage == "elevated":
        parts.append(TEXTS[language].elevated)
    says_it_now = stated_age(view.message.text) is not None
    if stage in {"none", "elevated", "after_check_in"} and (says_it_now or not view.history) and is_minor(view):
        parts.append(MINOR_TEXTS[language])
    said = [part for part in parts if part]
    return " ".join(said) or None
