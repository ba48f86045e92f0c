"""The language that a turn answers in."""

from repertory.runtime.rules import TurnView
from repertory.teams.coaching.language import FIXED_LANGUAGES, FixedLanguage, detect

__all__ = ("fixed_language_of", "language_code")


def language_code(view: TurnView) -> str | None:
    """The code of the language to answer in: that of the message, else of the newest earlier one that tells it."""
    said = [message.text for message in (*view.past_messages, *view.history) if message.role == "person"]
    return next((code for text in (view.message.text, *reversed(said)) if (code := detect(text))), None)


def fixed_language_of(view: TurnView) -> FixedLanguage | None:
    """The language to answer in where it is one of the five; English when nothing tells it; None for another one."""
    code = language_code(view)
    return "en" if code is None else next((known for known in FIXED_LANGUAGES if known == code), None)
