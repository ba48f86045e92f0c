"""Reads JSON that a stranger wrote: whatever it is, the only error is `ValueError`."""

import json
import re
from typing import Any

__all__ = ("load_json",)

_MAX_DEPTH = 200
"""Levels of nesting. No engine's frame and no answer needs them; many more exhaust the stack of whoever walks them."""
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[{]|[\]}]', re.DOTALL)


def load_json(text: str | bytes) -> Any:
    """The value of a JSON text.

    Raises:
        ValueError: It is not JSON, or nested too deeply.
    """
    decoded = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    if decoded.count("[") + decoded.count("{") > _MAX_DEPTH and _depth(decoded) > _MAX_DEPTH:
        message = f"nested deeper than {_MAX_DEPTH} levels"
        raise ValueError(message)
    return json.loads(decoded)


def _depth(text: str) -> int:
    depth = deepest = 0
    for token in _TOKEN.finditer(text):
        char = text[token.start()]
        if char in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "]}":
            depth -= 1
    return deepest
