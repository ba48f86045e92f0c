"""Finding and taking out what only a forgotten message held: its id, and words that no other message of theirs has."""

import re
from typing import Any, cast

from repertory.storage.forgetting import Forgotten
from repertory.teams.coaching.words import content_stems, fold, sentences

__all__ = ("PlainRedaction",)

_NUMBER = re.compile(r"\d{3,}")
_IDENTIFIER = re.compile(r"[a-z]+(?:_[a-z]+)+")
_MESSAGE_ID = re.compile(r"\bm\d+\b")
# What a record is, not what it says: names from closed lists, never a person's words.
_NOT_WORDS = frozenset(
    {
        "agent", "at", "confidence", "finish_reason", "id", "instance", "kind", "level", "model", "move", "name",
        "outcome",
        "pattern", "priority", "route", "rule", "section", "seq", "session", "setting", "source", "status", "statement",
        "team", "turn", "type", "user", "which",
    }
)  # fmt: skip
_REFERENCES = ("evidence", "said_in", "messages")
_REFERENCE = ("message", "made_in")
_GONE = object()


def _words(text: str) -> frozenset[str]:
    return content_stems(text) | frozenset(_NUMBER.findall(fold(text)))


class PlainRedaction:
    """A redaction for any team: sentences and entries with a forgotten word or id go.

    Args:
        forgotten: What is taken out.
    """

    def __init__(self, forgotten: Forgotten) -> None:
        self.forgotten = forgotten
        self.ids = frozenset(message.id for message in forgotten.messages)
        told = frozenset[str]().union(*(_words(message.text) for message in forgotten.messages))
        known = frozenset[str]().union(*(_words(message.text) for message in forgotten.remaining))
        self._only_there = told - known
        self.known = known

    def tells(self, text: str) -> bool:
        """Whether a text holds a word or id that only the forgotten messages have."""
        return bool(self._only_there & _words(text)) or any(
            match.group() in self.ids for match in _MESSAGE_ID.finditer(text)
        )

    def is_supported(self, text: str) -> bool:
        """Whether every word of a text stands in a message that remains."""
        return _words(text) <= self.known

    def text(self, text: str) -> str:
        """The text without the sentences, and the entries of lists in it, that tell."""
        if not self.tells(text):
            return text
        lines = (self._line(line) for line in text.split("\n"))
        return re.sub(r"\n{3,}", "\n\n", "\n".join(line for line in lines if line is not None)).strip()

    def _line(self, line: str) -> str | None:
        if not line.strip() or not self.tells(line):
            return line
        head, colon, rest = line.partition(": ")
        if colon and "; " in rest and not self.tells(head):
            kept = [entry for entry in rest.split("; ") if not self.tells(entry)]
            return f"{head}: {'; '.join(kept)}" if kept else None
        said = [sentence for sentence in sentences(line) if not self.tells(sentence)]
        return " ".join(said) or None

    def document(self, value: Any) -> Any:
        """A JSON value without entries that rest on the forgotten messages alone, and without their words."""
        found = self._value(value, None)
        return None if found is _GONE else found

    def section(self, name: str, value: Any) -> Any:
        """A section's last value, as a document."""
        del name
        return self.document(value)

    def _value(self, value: Any, key: str | None) -> Any:
        match value:
            case str():
                return self._string(value, key)
            case list():
                items = (self._value(item, key) for item in cast("list[Any]", value))
                return [item for item in items if item is not _GONE]
            case dict():
                record = cast("dict[str, Any]", value)
                if self._rests_on_forgotten(record):
                    return _GONE
                found = {name: self._value(item, name) for name, item in record.items()}
                return {name: None if item is _GONE else item for name, item in found.items()}
            case _:
                return value

    def _string(self, text: str, key: str | None) -> Any:
        if text in self.ids:
            return _GONE
        if key in _NOT_WORDS or _IDENTIFIER.fullmatch(text):
            return text
        return self.text(text)

    def _rests_on_forgotten(self, record: dict[str, Any]) -> bool:
        if any(record.get(name) in self.ids for name in _REFERENCE if isinstance(record.get(name), str)):
            return True
        for name in _REFERENCES:
            rests_on = record.get(name)
            if isinstance(rests_on, list) and rests_on and "type" not in record and "value" not in record:
                ids = {item for item in cast("list[Any]", rests_on) if isinstance(item, str)}
                # A whole section rests on many things; an entry of one that rests on nothing else goes.
                if ids and ids <= self.ids and not _is_section(record):
                    return True
        return False


def _is_section(record: dict[str, Any]) -> bool:
    return "prediction" in record or "ocean" in record or "voice" in record or "blocked_moves" in record
