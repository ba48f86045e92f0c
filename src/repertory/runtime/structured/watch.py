"""Watches an answer while it streams, so that a loop is stopped when it begins and not at the token cap.

The watch follows the structure of JSON (depth, strings, items, keys) without building it. It is tuned to stay silent on
any JSON a person would call an answer: white space counts only outside of strings and beyond what indentation explains,
repetition only inside one string, between items of one list, or between keys of one object.
"""

from dataclasses import dataclass, field
from typing import Any, cast

from repertory.runtime.structured.failures import FailureKind
from repertory.runtime.structured.repetition import RepetitionDetector

__all__ = ("Finding", "JsonWatch", "TextWatch", "largest_sizes")

_BLANK = " \t\r\n"
_MAX_BLANK = 64
_INDENT = 8
"""The widest indentation that still counts as formatting, in characters a level."""
_MAX_BLANK_IN_TEXT = 200
_MAX_BARE = 64
"""Signs outside of strings (a string counts as one) up to the next comma or bracket."""
_MAX_DEPTH = 64
_MAX_EQUAL_ITEMS = 24
_MAX_ITEMS = 2000
_MAX_FIELDS = 500
_MAX_STRING = 20_000


@dataclass(frozen=True)
class Finding:
    """Why a stream is closed early. `complete`: the object is whole, and only white space followed it."""

    kind: FailureKind
    reason: str
    complete: bool = False


@dataclass
class _Open:
    """An object or list that is being written."""

    is_list: bool
    began: int
    count: int = 0
    equal: int = 1
    last: str | None = None
    keys: set[str] = field(default_factory=set[str])
    empty: int = 0
    """Commas in a row with nothing between."""


def largest_sizes(schema: dict[str, Any]) -> tuple[int, int, int]:
    """The largest `maxItems`, `maxLength` and number of fields of a bounded schema."""
    items = length = fields = 0
    stack: list[Any] = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            branch = cast("dict[str, Any]", node)
            items = max(items, branch["maxItems"] if isinstance(branch.get("maxItems"), int) else 0)
            length = max(length, branch["maxLength"] if isinstance(branch.get("maxLength"), int) else 0)
            fields = max(fields, len(branch["properties"]) if isinstance(branch.get("properties"), dict) else 0)
            stack += branch.values()
        elif isinstance(node, list):
            stack += cast("list[Any]", node)
    return items, length, fields


class JsonWatch:
    """Watches an answer that should be one JSON object.

    Args:
        bounded: The bounded schema, if there is one: lists, texts and objects far beyond its sizes count as loops. A
            little beyond is left to the validation, whose repair then shows the model its own answer.
    """

    def __init__(self, bounded: dict[str, Any] | None = None) -> None:
        items, length, fields = largest_sizes(bounded) if bounded else (0, 0, 0)
        self._max_items = 4 * items + 16 if bounded else _MAX_ITEMS
        self._max_string = 4 * length + 400 if bounded else _MAX_STRING
        self._max_fields = 4 * fields + 64 if bounded else _MAX_FIELDS
        self._stack: list[_Open] = []
        self._written: list[str] = []
        self._blank = 0
        self._bare = 0
        self._string: list[str] | None = None
        self._escaped = False
        self._began = False
        self._closed = False
        self._repetition = RepetitionDetector()

    def feed(self, text: str) -> Finding | None:
        """Take the next text; what is wrong by now."""
        for char in text:
            found = self._in_string(char) if self._string is not None else self._outside(char)
            if found is not None:
                return found
        return None

    def _outside(self, char: str) -> Finding | None:
        if char in _BLANK:
            self._blank += 1
            if self._blank > max(_MAX_BLANK, _INDENT * len(self._stack) + 2):
                reason = f"{self._blank} characters of white space in a row between the parts of the answer"
                return Finding(FailureKind.GRAMMAR_WHITESPACE_LOOP, reason, complete=self._closed)
            return None
        self._blank = 0
        if not self._began and char not in "{[":
            return self._beside(char)
        if self._closed:
            return self._beside(char)
        self._began = True
        self._written.append(char)
        return self._structure(char)

    def _beside(self, char: str) -> Finding | None:
        """Words before or after the object."""
        if self._repetition.feed(char):
            return Finding(FailureKind.REPETITION_LOOP, "the same words again and again beside the answer")
        return None

    def _structure(self, char: str) -> Finding | None:
        if char == '"':
            self._string = []
            self._repetition.reset()
            return self._more_bare()
        if char in "{[":
            self._bare = 0
            self._stack.append(_Open(char == "[", len(self._written)))
            if len(self._stack) > _MAX_DEPTH:
                return Finding(FailureKind.REPETITION_LOOP, f"nested deeper than {_MAX_DEPTH} levels")
            return None
        if char in ",]}":
            self._bare = 0
            return self._end_of_part(char)
        return self._more_bare()

    def _more_bare(self) -> Finding | None:
        self._bare += 1
        if self._bare > _MAX_BARE:
            return Finding(FailureKind.REPETITION_LOOP, f"a number or bare word of more than {_MAX_BARE} characters")
        return None

    def _end_of_part(self, char: str) -> Finding | None:
        if not self._stack:
            return None
        part = self._stack[-1]
        found = self._item(part) if part.is_list else self._field(part)
        part.began = len(self._written)
        if char != ",":
            self._stack.pop()
            self._closed = not self._stack
        return found

    def _item(self, part: _Open) -> Finding | None:
        item = "".join(self._written[part.began : -1])
        part.count += 1
        part.equal = part.equal + 1 if item == part.last else 1
        part.last = item
        if part.equal > _MAX_EQUAL_ITEMS:
            return Finding(FailureKind.REPETITION_LOOP, f"the same item {part.equal} times in one list")
        if part.count > self._max_items:
            return Finding(FailureKind.REPETITION_LOOP, f"a list of more than {self._max_items} items")
        return None

    def _field(self, part: _Open) -> Finding | None:
        part.empty = part.empty + 1 if len(self._written) - part.began <= 1 else 0
        if part.empty > _MAX_EQUAL_ITEMS:
            return Finding(FailureKind.REPETITION_LOOP, f"{part.empty} commas in a row in one object")
        return None

    def _in_string(self, char: str) -> Finding | None:
        string = cast("list[str]", self._string)
        self._written.append(char)
        if char == '"' and not self._escaped:
            self._string = None
            return self._key("".join(string))
        self._escaped = char == "\\" and not self._escaped
        string.append(char)
        if len(string) > self._max_string:
            return Finding(FailureKind.REPETITION_LOOP, f"a text of more than {self._max_string} characters")
        if self._repetition.feed(char):
            return Finding(FailureKind.REPETITION_LOOP, "the same words again and again in one text")
        return None

    def _key(self, string: str) -> Finding | None:
        part = self._stack[-1] if self._stack else None
        if part is None or part.is_list or len(self._written) - part.began != len(string) + 2:
            return None
        if string in part.keys:
            return Finding(FailureKind.REPETITION_LOOP, f"the field {string[:60]!r} is written twice in one object")
        part.keys.add(string)
        if len(part.keys) > self._max_fields:
            return Finding(FailureKind.REPETITION_LOOP, f"an object of more than {self._max_fields} fields")
        return None


class TextWatch:
    """Watches an answer in words."""

    def __init__(self) -> None:
        self._repetition = RepetitionDetector()
        self._blank = 0

    def feed(self, text: str) -> Finding | None:
        """Take the next text; what is wrong by now."""
        for char in text:
            self._blank = self._blank + 1 if char.isspace() else 0
            if self._blank > _MAX_BLANK_IN_TEXT:
                return Finding(FailureKind.REPETITION_LOOP, f"{self._blank} characters of white space in a row")
        if self._repetition.feed(text):
            return Finding(FailureKind.REPETITION_LOOP, "the same words again and again")
        return None
