"""Calls of an agent's tools and what came of them; tests and whether they hold."""

import json
import math
from dataclasses import dataclass
from typing import Any, Literal, cast

__all__ = ("Call", "Case", "CaseResult", "Outcome", "canonical")

OutcomeKind = Literal["value", "value_error", "error", "timeout", "unstable"]

_DIGITS = 9
"""Significant digits in which two numbers must agree to count as the same."""


@dataclass(frozen=True)
class Call:
    """One call of a tool, as JSON: its name and its arguments as JSON text (so that calls can be compared)."""

    tool: str
    arguments: str

    @classmethod
    def of(cls, tool: str, arguments: dict[str, Any]) -> "Call":
        """A call with these arguments."""
        return cls(tool, json.dumps(arguments, ensure_ascii=False, sort_keys=True))

    @property
    def values(self) -> dict[str, Any]:
        """The arguments by name."""
        return cast("dict[str, Any]", json.loads(self.arguments))

    def __str__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.values.items())
        return f"{self.tool}({shown})"


@dataclass(frozen=True)
class Outcome:
    """What came of a call, as the runner saw it.

    Attributes:
        kind: A value; a refusal (`ValueError`); any other exception; no end in time; or another end when called twice.
        value: The value, for kind `value`.
        detail: The exception in one line.
    """

    kind: OutcomeKind
    value: Any = None
    detail: str = ""

    @property
    def key(self) -> str:
        """Equal for outcomes that a user of the tool could not tell apart."""
        return f"value {canonical(self.value)}" if self.kind == "value" else self.kind

    def __str__(self) -> str:
        if self.kind == "value":
            return json.dumps(self.value, ensure_ascii=False)
        words = {"value_error": "raises ValueError", "timeout": "does not end", "unstable": "differs from run to run"}
        return words.get(self.kind) or f"raises {self.detail}"


@dataclass(frozen=True)
class Case:
    """One test: a Python expression over the tools that must be true. It is only ever evaluated in the sandbox.

    Attributes:
        text: The expression, such as `slugify("A b") == "a-b"` or `raises(ValueError, slugify, "")`.
        origin: Who says so: the contract itself, or the Tester's reading of it.
        votes: How many of the Tester's answers hold it. The same result worked out twice is rarely a slip.
    """

    text: str
    origin: Literal["contract", "tester"] = "tester"
    votes: int = 1

    @property
    def firm(self) -> bool:
        """Whether it stands although every draft fails it."""
        return self.origin == "contract" or self.votes > 1


@dataclass(frozen=True)
class CaseResult:
    """Whether a test holds for a candidate, and in one line what was found instead."""

    passed: bool
    found: str = ""


def canonical(value: object) -> str:
    """JSON text in which equal values are equal: numbers by their size, objects without order."""
    return json.dumps(_plain(value), ensure_ascii=False, sort_keys=True)


def _plain(value: object) -> object:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in cast("dict[object, object]", value).items()}
    return str(value)


def _number(value: float) -> object:
    if isinstance(value, int):
        return value
    if math.isnan(value) or math.isinf(value):
        return str(value)
    rounded = float(f"{value:.{_DIGITS}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded
