"""A message that is a tool call already, written as JSON: it needs no model.

Two forms are read: `{"tool": "c_to_f", "arguments": {"c": 100}}`, and, for an agent with one tool, its arguments alone.
"""

import re
from typing import Any, NamedTuple, cast

from repertory.registry.manifest import AgentManifest
from repertory.sandbox.strict_json import NotStrictJsonError, parse_strict

__all__ = ("WrittenCall", "read_written_call")

_FENCE = re.compile(r"```(?:json)?\s*\n(.*)\n```", re.DOTALL)
_KEYS = {"tool", "arguments"}


class WrittenCall(NamedTuple):
    """A tool and its arguments, which are not checked yet."""

    tool: str
    arguments: dict[str, Any]


def read_written_call(text: str, manifest: AgentManifest) -> WrittenCall | None:
    """The call that a message is; None when it is none, so that a model has to read it.

    Raises:
        UsageError: It is written as a call, but of a tool that the agent has not.
    """
    if not manifest.tools:
        return None
    stripped = text.strip()
    fenced = _FENCE.fullmatch(stripped)
    body = fenced[1].strip() if fenced else stripped
    if not body.startswith("{"):
        return None
    try:
        value = parse_strict(body.encode("utf-8", "replace"))
    except (NotStrictJsonError, RecursionError):
        return None
    document = cast("dict[str, Any]", value)
    only = manifest.tools[0]
    known = cast("dict[str, Any]", only.input_schema.get("properties", {}))
    if len(manifest.tools) == 1 and set(document) <= set(known):
        return WrittenCall(only.name, document)
    tool, arguments = document.get("tool"), document.get("arguments", {})
    if isinstance(tool, str) and isinstance(arguments, dict) and set(document) <= _KEYS:
        return WrittenCall(manifest.require_tool(tool).name, cast("dict[str, Any]", arguments))
    return None
