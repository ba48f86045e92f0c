"""What can be wrong with a JSON Schema, or with a value that should satisfy one."""

from dataclasses import dataclass
from typing import Any, Literal

__all__ = ("JsonSchema", "Problem", "SchemaProblem", "Severity", "child")


JsonSchema = dict[str, Any]
"""A JSON Schema, or one node of it."""

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class SchemaProblem:
    """One thing that a schema's author should know.

    Attributes:
        pointer: JSON pointer to the node (references followed, so it reads as a path through the fields).
        message: What is wrong.
        hint: What to write instead.
        severity: `error`: the schema can not be used; `warning`: it works, less well than it could;
            `note`: how it will be treated.
    """

    pointer: str
    message: str
    hint: str
    severity: Severity


@dataclass(frozen=True)
class Problem:
    """One rule of a schema that a value breaks.

    Attributes:
        pointer: JSON pointer into the value; empty for the whole value.
        rule: The schema keyword.
        message: What is wrong, in words that a model can act on; names the place.
    """

    pointer: str
    rule: str
    message: str


def child(pointer: str, *steps: str | int) -> str:
    """Extend a JSON pointer (RFC 6901 escapes)."""
    return pointer + "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)
