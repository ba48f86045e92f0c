"""YAML text as a tree in which everything knows where it stands. YAML 1.2 core schema, and only what JSON can say.

No tag, no directive, no second document, no key that is not text. Depth and size are limited, and an alias counts as
much as what it stands for, so that a small file can not become a large one.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from repertory.runtime.yaml_events import YamlEvent, YamlProblem, YamlSyntaxError, read_events
from repertory.spelling import printable, quoted

__all__ = ("Entry", "Node", "Scalar", "plain_scalar", "read_yaml")

MAX_DEPTH = 64
MAX_NODES = 20_000

Scalar = str | int | float | bool | None


@dataclass(frozen=True)
class Entry:
    """One key of a mapping: where the key stands, and its value."""

    index: int
    value: "Node"


@dataclass(frozen=True)
class Node:
    """A value with the index of its first character; `size` counts it and all that is in it, aliases expanded."""

    index: int
    content: "Scalar | list[Node] | dict[str, Entry]"
    size: int = 1


def read_yaml(text: str) -> tuple[Node | None, list[YamlProblem]]:
    """Read one document.

    Returns:
        The tree, None for an empty document, and the problems that did not stop the reading (such as duplicate keys).

    Raises:
        YamlSyntaxError: The text is not YAML, or uses what is not allowed here.
    """
    composer = _Composer(text, read_events(text))
    return composer.document(), composer.problems


@dataclass
class _Composer:
    text: str
    events: Iterator[YamlEvent]
    anchors: dict[str, Node | None] = field(default_factory=dict[str, Node | None])
    problems: list[YamlProblem] = field(default_factory=list[YamlProblem])
    nodes: int = 0

    def document(self) -> Node | None:
        root: Node | None = None
        for number, event in enumerate(self.events):
            if number > 0:
                hint = "a team is one document; remove `---`"
                raise YamlSyntaxError(event.start, "a second document starts here", hint)
            if event.directives:
                # Its own line is what the text begins with; the event stands at the document's start.
                raise YamlSyntaxError(0, "a YAML directive is not allowed", "remove the line that starts with `%`")
            root = self._node(next(self.events), depth=1)
        return root

    def _node(self, event: YamlEvent, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise YamlSyntaxError(event.start, f"nested deeper than {MAX_DEPTH} levels", "make it flatter")
        if event.kind == "alias":
            node = self._alias(event)
            self._count(event, node.size)
            return node
        self._count(event, 1)
        if event.tag is not None:
            message = f"a YAML tag is not allowed: {quoted(event.tag)}"
            raise YamlSyntaxError(event.start, message, "remove it; quote text that starts with `!`")
        if event.anchor:
            self.anchors[event.anchor] = None
        if event.kind == "scalar":
            node = Node(event.start, _scalar(event))
        elif event.kind == "list":
            node = self._list(event, depth)
        else:
            node = self._mapping(event, depth)
        if event.anchor:
            self.anchors[event.anchor] = node
        return node

    def _alias(self, event: YamlEvent) -> Node:
        name = event.anchor or ""
        if name not in self.anchors:
            message, hint = f"the alias {quoted('*' + name)} has no anchor", f"put {quoted('&' + name)} before it"
            raise YamlSyntaxError(event.start, message, hint)
        node = self.anchors[name]
        if node is None:
            raise YamlSyntaxError(event.start, f"the alias {quoted('*' + name)} stands inside what it names")
        return node

    def _count(self, event: YamlEvent, size: int) -> None:
        self.nodes += size
        if self.nodes > MAX_NODES:
            message = f"more than {MAX_NODES} values, each alias counted in full"
            raise YamlSyntaxError(event.start, message, "a team is far smaller; write less, or use fewer aliases")

    def _list(self, start: YamlEvent, depth: int) -> Node:
        items: list[Node] = []
        while (event := next(self.events)).kind != "end":
            items.append(self._node(event, depth + 1))
        return Node(start.start, items, 1 + sum(item.size for item in items))

    def _mapping(self, start: YamlEvent, depth: int) -> Node:
        entries: dict[str, Entry] = {}
        size = 1
        while (event := next(self.events)).kind != "end":
            key = self._node(event, depth + 1)
            value = self._node(next(self.events), depth + 1)
            size += key.size + value.size
            if self._usable(event, key, entries):
                entries[str(key.content)] = Entry(event.start, value)
        return Node(start.start, entries, size)

    def _usable(self, event: YamlEvent, key: Node, entries: dict[str, Entry]) -> bool:
        """Whether the key can go into the mapping; a problem is noted when not."""
        if not isinstance(key.content, str):
            shown = printable(self.text[event.start : event.end].strip()[:60]) if event.kind == "scalar" else ""
            hint = f'write "{shown}"' if shown else "a key is a word"
            self.problems.append(YamlProblem(event.start, "a key must be text", hint))
            return False
        if key.content in entries:
            message, first = f"the key {quoted(key.content)} stands here twice", entries[key.content].index
            self.problems.append(YamlProblem(event.start, message, "remove or rename one of them", related=first))
            return False
        if key.content == "<<":
            hint = "YAML 1.2 has no merge keys; write the keys out"
            self.problems.append(YamlProblem(event.start, "the key `<<` does not merge here", hint))
            return False
        return True


_NOT_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def _scalar(event: YamlEvent) -> Scalar:
    value = plain_scalar(event.text) if event.plain else event.text
    if isinstance(value, float) and not math.isfinite(value):
        raise YamlSyntaxError(event.start, f"{quoted(event.text)} is not a finite number", "quote it if it is text")
    if isinstance(value, int) and abs(value) >= 2**63:
        raise YamlSyntaxError(event.start, f"{quoted(event.text)} is too large a number", "quote it if it is text")
    if isinstance(value, str) and (bad := _NOT_TEXT.search(value)):
        message = f"text with the character U+{ord(bad.group()):04X}, which can not be shown"
        raise YamlSyntaxError(event.start, message, "take it out")
    return value


_CONSTANTS: dict[str, Scalar] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_INTEGER = re.compile(r"[-+]?[0-9]+")
_OTHER_BASE = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


def plain_scalar(text: str) -> Scalar:
    """What an unquoted scalar means in the YAML 1.2 core schema (section 10.3.2 of the specification)."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        # Python refuses to convert thousands of digits; the reader refuses everything from 2**63 on.
        return int(text) if len(text) <= 30 else 2**63
    if _OTHER_BASE.fullmatch(text):
        return int(text, 0) if len(text) <= 30 else 2**63
    if _FLOAT.fullmatch(text):
        return float(text)
    return math.inf if _NOT_FINITE.fullmatch(text) else text
