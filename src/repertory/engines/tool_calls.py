"""Puts streamed tool calls together, and finds those that an engine left in the answer as text."""

import json
import re
from dataclasses import dataclass
from typing import cast

from repertory.engines.json_text import load_json
from repertory.engines.protocol import ToolCall

__all__ = ("ToolCallHold", "ToolCallReader", "find_leaked_calls", "looks_like_tool_call")

_MAX_CALLS = 64
_MAX_HELD = 64
"""White space held back at most before what may become a tool call, so that a loop of it is seen."""
_WRAPPERS = (
    re.compile(r"<tool_call>\s*(?P<body>\{.*?\})\s*(?:</tool_call>|\Z)", re.DOTALL),
    re.compile(r"\[TOOL_CALLS\]\s*(?P<body>[\[{].*[\]}])", re.DOTALL),
    re.compile(r"<function=(?P<name>[\w.-]+)>\s*(?P<body>\{.*?\})\s*(?:</function>|\Z)", re.DOTALL),
    re.compile(r"<\|python_tag\|>\s*(?P<body>\{.*\})", re.DOTALL),
)
_MARKS = (
    "<tool_call>",
    "[TOOL_CALLS]",
    "<function=",
    "<|python_tag|>",
    "<|tool_call",
    "<\uff5ctool\u2581calls\u2581begin\uff5c>",
)


@dataclass
class _Pending:
    id: str = ""
    name: str = ""
    arguments: str = ""


class ToolCallReader:
    """Collects the pieces of tool calls from one stream."""

    def __init__(self) -> None:
        self._pending: dict[int, _Pending] = {}

    @property
    def any(self) -> bool:
        """Whether the model began a call."""
        return bool(self._pending)

    def feed(self, pieces: object) -> None:
        """Take the `tool_calls` of one delta or one whole message."""
        if not isinstance(pieces, list):
            return
        for position, piece in enumerate(cast("list[object]", pieces)):
            if not isinstance(piece, dict):
                continue
            fields = cast("dict[str, object]", piece)
            index = fields.get("index", position)
            if not isinstance(index, int) or (index not in self._pending and len(self._pending) >= _MAX_CALLS):
                continue
            called = fields.get("id") if isinstance(fields.get("id"), str) else None
            pending = self._pending_at(index, str(called or ""))
            function = fields.get("function")
            pending.id = pending.id or str(called or "")
            if isinstance(function, dict):
                _add(pending, cast("dict[str, object]", function))

    def _pending_at(self, index: int, called: str) -> _Pending:
        """The call that a piece belongs to. Some servers write every call at index 0, each with an id of its own."""
        if index in self._pending and called and self._pending[index].id not in {"", called}:
            same = next((pending for pending in self._pending.values() if pending.id == called), None)
            if same is not None:
                return same
            index = max(self._pending) + 1
        return self._pending.setdefault(index, _Pending())

    def calls(self) -> tuple[ToolCall, ...] | None:
        """The calls; None when the arguments of one do not parse, so that it was cut off. No arguments are ``{}``."""
        calls: list[ToolCall] = []
        for index, pending in sorted(self._pending.items()):
            arguments = _parse_arguments(pending.arguments)
            if arguments is None or not pending.name:
                return None
            calls.append(ToolCall(pending.id or f"call_{index}", pending.name, arguments))
        return tuple(calls)


class ToolCallHold:
    """Holds back streamed text from the first line on that begins like a tool call, so that it is shown to nobody."""

    def __init__(self) -> None:
        self._held = ""
        self._found = False
        self._line_start = True

    def feed(self, text: str) -> str:
        """Take the next text; return what of it can be shown."""
        self._held += text
        shown = ""
        while self._held and not self._found:
            if self._line_start:
                body = self._held.lstrip(" \t\r\n")
                if body.startswith(_MARKS):
                    self._found = True
                    break
                if any(mark.startswith(body) for mark in _MARKS) and len(self._held) < _MAX_HELD:
                    break
            line, end, rest = self._held.partition("\n")
            shown += line + end
            self._held, self._line_start = rest, bool(end)
        return shown

    def finish(self) -> str:
        """What was held back when the text ended."""
        held, self._held = self._held, ""
        return held


def find_leaked_calls(text: str) -> tuple[ToolCall, ...] | None:
    """Read the tool calls that stand in a text in one of the wrappers models are trained on.

    Returns:
        The calls, or None when there is none that can be read whole.
    """
    calls: list[ToolCall] = []
    for wrapper in _WRAPPERS:
        for match in wrapper.finditer(text):
            name = match.groupdict().get("name")
            for name_found, arguments in _read_body(match["body"], name):
                calls.append(ToolCall(f"call_{len(calls)}", name_found, arguments))
    return tuple(calls) or None


def looks_like_tool_call(text: str) -> bool:
    """Whether a text begins with, or has on a line of its own, the wrapper of a tool call."""
    return any(line.lstrip().startswith(_MARKS) for line in text.splitlines())


def _add(pending: _Pending, function: dict[str, object]) -> None:
    name, arguments = function.get("name"), function.get("arguments")
    if isinstance(name, str) and name and pending.name != name:
        pending.name += name
    if isinstance(arguments, str):
        pending.arguments += arguments
    elif isinstance(arguments, dict):
        pending.arguments = json.dumps(arguments, ensure_ascii=False)


def _parse_arguments(text: str) -> dict[str, object] | None:
    if not text.strip():
        return {}
    try:
        value: object = load_json(text)
    except ValueError:
        return None
    return cast("dict[str, object]", value) if isinstance(value, dict) else None


def _read_body(body: str, name: str | None) -> list[tuple[str, dict[str, object]]]:
    try:
        value: object = load_json(body)
    except ValueError:
        return []
    if name is not None:
        return [(name, cast("dict[str, object]", value))] if isinstance(value, dict) else []
    found: list[tuple[str, dict[str, object]]] = []
    for item in cast("list[object]", value) if isinstance(value, list) else [value]:
        if not isinstance(item, dict):
            continue
        fields = cast("dict[str, object]", item)
        called, arguments = fields.get("name"), fields.get("arguments", fields.get("parameters", {}))
        if isinstance(called, str) and isinstance(arguments, dict):
            found.append((called, cast("dict[str, object]", arguments)))
    return found
