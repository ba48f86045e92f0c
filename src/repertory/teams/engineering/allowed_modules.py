"""The modules of the standard library that an agent's code is offered; all of them do nothing but compute."""

from typing import Any

__all__ = ("MODULES", "MODULES_DRAFT")

MODULES = (
    "ast",
    "base64",
    "bisect",
    "calendar",
    "collections",
    "csv",
    "datetime",
    "decimal",
    "difflib",
    "fractions",
    "functools",
    "graphlib",
    "hashlib",
    "heapq",
    "hmac",
    "html",
    "ipaddress",
    "itertools",
    "json",
    "math",
    "operator",
    "random",
    "re",
    "secrets",
    "statistics",
    "string",
    "textwrap",
    "time",
    "unicodedata",
    "urllib.parse",
    "uuid",
    "zoneinfo",
)

MODULES_DRAFT: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["modules"],
    "properties": {"modules": {"type": "array", "maxItems": 4, "items": {"enum": list(MODULES)}}},
}
"""What the Researcher fills in."""
