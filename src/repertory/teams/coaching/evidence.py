"""Which messages there are, and which of the ids that a model cites are real."""

import re
from collections.abc import Iterable

from repertory.runtime.rules import SectionView, TurnView
from repertory.storage.records import Commitment, Message

__all__ = ("cited", "clean", "latest_value", "open_commitments", "person_messages", "texts_of")

_ID = re.compile(r"m\d+")
_NOTHING = frozenset(
    {"", "none", "n/a", "na", "null", "unknown", "empty", "not specified", "nothing", "-", "no", "not stated"}
)


def person_messages(view: TurnView) -> list[Message]:
    """Everything the person wrote, oldest first, this turn's message last."""
    earlier = (message for message in (*view.past_messages, *view.history) if message.role == "person")
    return [*(message for message in earlier if message.id != view.message.id), view.message]


def cited(ids: Iterable[str], view: TurnView) -> tuple[str, ...]:
    """Those ids that name a message of the person, each once, in order."""
    known = {message.id for message in person_messages(view)}
    wanted = (match.group() for item in ids for match in _ID.finditer(item))
    return tuple(item for item in dict.fromkeys(wanted) if item in known)


def texts_of(ids: Iterable[str], view: TurnView) -> list[str]:
    """The texts of these messages."""
    by_id = {message.id: message.text for message in person_messages(view)}
    return [by_id[item] for item in ids if item in by_id]


def clean(text: str) -> str:
    """A model's phrase on one line, empty when it says nothing."""
    line = " ".join(text.split()).strip(" \"'")
    return "" if line.casefold().strip(".") in _NOTHING else line


def latest_value(view: TurnView, section: str) -> dict[str, object] | None:
    """A section's last committed value, if it is an object."""
    found: SectionView | None = view.sections.get(section)
    value = found.value if found else None
    return value if isinstance(value, dict) else None  # pyright: ignore[reportUnknownVariableType] - JSON objects have text keys


def open_commitments(view: TurnView) -> list[Commitment]:
    """Commitments made before this message whose outcome is not known, oldest first."""
    return [item for item in view.commitments if item.outcome == "open" and item.made_in != view.message.id]
