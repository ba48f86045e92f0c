"""Reads a contract as people write it: `tool: slug(text: string, max_len: int = 60) -> string; empty stays empty`.

Signatures are read by grammar, and as generously as can be done without guessing: what is no type that we know is
`any`, and every word of the contract is still shown to the agents as it was written.
"""

import ast
import re
from typing import Any

from repertory.errors import UsageError
from repertory.teams.engineering.contract import NO_DEFAULT, Contract, Parameter, Route, Tool
from repertory.teams.engineering.value_types import ANYTHING, ValueType

__all__ = ("MAX_CONTRACT_CHARS", "read_contract")

MAX_CONTRACT_CHARS = 8000
"""The longest contract that is read."""

_TYPES = {
    "string": "string",
    "str": "string",
    "text": "string",
    "number": "number",
    "float": "number",
    "int": "integer",
    "integer": "integer",
    "bool": "boolean",
    "boolean": "boolean",
    "null": "null",
    "none": "null",
    "any": "any",
    "json": "any",
    "object": "object",
    "dict": "object",
    "list": "array",
    "array": "array",
}
_SIGNATURE = re.compile(r"\b([A-Za-z_]\w{0,63})\s*\(")
_ARROW = re.compile(r"\s*(?:->|→|=>)\s*")
_ROUTE = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE|HEAD)\s+(/[\w/{}.:<>-]*)")
_NAME = re.compile(r"[A-Za-z_]\w*")
_NUMBER = r"-?\d+(?:\.\d+)?"
_RANGE = re.compile(rf"\s*({_NUMBER})\s*\.\.\.?\s*({_NUMBER})")
_BOUND = re.compile(rf"\s*(>=|<=|>|<)\s*({_NUMBER})")
_QUOTED = re.compile(r"""'([^']*)'|"([^"]*)\"""")
_CHAT = re.compile(r"^\s*(?:chat|conversation(?:al)?)\b", re.IGNORECASE)
_HTTP = re.compile(r"^\s*(?:http|rest|web)\b", re.IGNORECASE)
_DEEPEST = 12


def read_contract(text: str) -> Contract:
    """Read a contract that a person gave.

    Raises:
        UsageError: It promises nothing that can be called, or is too long.
    """
    if len(text) > MAX_CONTRACT_CHARS:
        message = f"the contract has {len(text)} characters; at most {MAX_CONTRACT_CHARS} are read"
        raise UsageError(message, hint="say what is offered, not how it is done")
    routes = tuple(dict.fromkeys(Route(*found.groups()) for found in _ROUTE.finditer(text)))
    tools = _tools(text)
    rules = tuple(part.strip() for part in re.split(r"[;\n]", text)[1:] if part.strip())
    if _CHAT.match(text):
        return Contract("chat", text, given=True, rules=rules)
    if routes and (_HTTP.match(text) or not tools):
        return Contract("http", text, routes=routes, given=True, rules=rules)
    if tools:
        return Contract("tools", text, tools=tools, given=True, rules=rules)
    message = "the contract names no tool, no route and no conversation"
    raise UsageError(
        message,
        hint="write it like `tool: slug(text: string, max_len: int = 60) -> string`, `HTTP: GET /totals -> {...}` "
        "or `chat agent; ...`, or leave it out and let the team write one",
    )


def _tools(text: str) -> tuple[Tool, ...]:
    found: dict[str, Tool] = {}
    at = 0
    while match := _SIGNATURE.search(text, at):
        at = match.end()
        reader = _Reader(text, match.end())
        parameters = reader.parameters()
        if parameters is None:
            continue
        arrow = _ARROW.match(text, reader.at)
        if arrow is None:
            continue
        reader.at = arrow.end()
        returns = reader.type()
        found.setdefault(match.group(1), Tool(match.group(1), parameters, returns, reader.note()))
        at = reader.at
    return tuple(found.values())


class _Reader:
    """Reads types from a place in a text on; never fails, only finds `any`."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at
        self._depth = 0

    def parameters(self) -> tuple[Parameter, ...] | None:
        """The parameters up to the closing bracket; None where it is no list of parameters."""
        found: list[Parameter] = []
        while True:
            self._blanks()
            if self._take(")"):
                return tuple(found)
            name = self._match(_NAME)
            if name is None:
                return None
            optional = self._take("?")
            kind = self.type() if self._take(":") else ANYTHING
            default = self._default()
            self._skip_to(",)")
            if optional and default is NO_DEFAULT:
                default = None
            found.append(Parameter(name, kind, default))
            if not self._take(",") and self._peek() != ")":
                return None

    def type(self) -> ValueType:
        """A type, with its alternatives."""
        self._depth += 1
        try:
            if self._depth > _DEEPEST:
                return ANYTHING
            options = [self._one_type()]
            while self._take("|"):
                options.append(self._one_type())
        finally:
            self._depth -= 1
        if all(option.kind == "enum" for option in options):
            return ValueType("enum", options=tuple(value for option in options for value in option.options))
        return options[0] if len(options) == 1 else ValueType("union", items=tuple(options))

    def note(self) -> str:
        """The words after a signature, up to the next clause or signature."""
        rest = re.split(r"[;\n]|,\s*[A-Za-z_]\w*\s*\(", self.text[self.at :], maxsplit=1)[0]
        return rest.strip(" ,.")

    def _one_type(self) -> ValueType:
        self._blanks()
        if self._take("{"):
            return self._object()
        if self._take("["):
            return self._tuple()
        if (quoted := self._quoted()) is not None:
            return ValueType("enum", options=(quoted,))
        word = self._match(_NAME)
        if word is None:
            return ANYTHING
        kind = _TYPES.get(word.lower())
        if kind == "array":
            return self._array()
        if kind in ("integer", "number"):
            return self._bounded(kind)
        if kind == "object":
            return ValueType("object", open=True)
        return ValueType(kind) if kind else ANYTHING  # type: ignore[arg-type]

    def _array(self) -> ValueType:
        for opening, closing in ("[]", "<>"):
            if self._take(opening):
                item = self.type()
                self._skip_to(closing)
                self._take(closing)
                return ValueType("array", items=(item,))
        return ValueType("array")

    def _tuple(self) -> ValueType:
        items: list[ValueType] = []
        while not self._take("]"):
            if self.at >= len(self.text):
                return ANYTHING
            name = self._match(_NAME)
            known = name is not None and name.lower() in _TYPES
            if name is not None and known:
                self.at -= len(name)
            if name is None or known:
                items.append(self.type())
            else:
                items.append(self.type() if self._take(":") else ANYTHING)
            self._skip_to(",]")
            self._take(",")
        return ValueType("tuple", items=tuple(items)) if len(items) != 1 else ValueType("array", items=(items[0],))

    def _object(self) -> ValueType:
        fields: dict[str, ValueType] = {}
        more = False
        while not self._take("}"):
            if self.at >= len(self.text):
                return ValueType("object", open=True)
            if self.text.startswith(("...", "…"), self.at):
                more = True
            quoted = self._quoted()
            name = quoted if quoted is not None else self._match(_NAME)
            if name is not None:
                optional = self._take("?")
                kind = self.type() if self._take(":") else ANYTHING
                more = more or optional
                if not optional:
                    fields[name] = kind
            self._skip_to(",}")
            self._take(",")
        return ValueType("object", fields=tuple(fields.items()), open=more or not fields)

    def _bounded(self, kind: str) -> ValueType:
        low = high = None
        if found := _RANGE.match(self.text, self.at):
            low, high = float(found.group(1)), float(found.group(2))
            self.at = found.end()
        elif found := _BOUND.match(self.text, self.at):
            step = 1 if kind == "integer" else 0
            bound = float(found.group(2))
            sign = found.group(1)
            low = bound + (step if sign == ">" else 0) if sign.startswith(">") else None
            high = bound - (step if sign == "<" else 0) if sign.startswith("<") else None
            self.at = found.end()
        return ValueType("integer" if kind == "integer" else "number", low=low, high=high)

    def _default(self) -> Any:
        if not self._take("="):
            return NO_DEFAULT
        start = self.at
        self._skip_to(",)")
        written = self.text[start : self.at].strip()
        word = {"true": True, "false": False, "null": None, "none": None}
        if written.lower() in word:
            return word[written.lower()]
        try:
            return ast.literal_eval(written)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None

    def _quoted(self) -> str | None:
        self._blanks()
        found = _QUOTED.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return found.group(1) if found.group(1) is not None else found.group(2)

    def _skip_to(self, ends: str) -> None:
        """Pass over words that are no part of a type, brackets and quotes as wholes."""
        open_brackets = 0
        while self.at < len(self.text):
            character = self.text[self.at]
            if open_brackets == 0 and character in ends:
                return
            if character in "'\"" and (quoted := _QUOTED.match(self.text, self.at)):
                self.at = quoted.end()
                continue
            open_brackets += (character in "([{") - (character in ")]}")
            if open_brackets < 0:
                return
            self.at += 1

    def _match(self, pattern: re.Pattern[str]) -> str | None:
        self._blanks()
        found = pattern.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return found.group()

    def _take(self, character: str) -> bool:
        self._blanks()
        if self.text.startswith(character, self.at):
            self.at += len(character)
            return True
        return False

    def _peek(self) -> str:
        self._blanks()
        return self.text[self.at : self.at + 1]

    def _blanks(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
