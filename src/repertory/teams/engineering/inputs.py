"""Inputs for an agent's tools, made by code: they show where candidates differ, and what breaks them."""

import random
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from repertory.teams.engineering.calls import Call, Case
from repertory.teams.engineering.contract import Contract, Parameter, Tool
from repertory.teams.engineering.value_types import ValueType

__all__ = ("distinguishing_calls", "out_of_bounds_cases")

_WORDS = re.compile(r"[^\W\d_][\w'-]*", re.UNICODE)
_STRINGS = ("", " ", "a", "A b", "0", "-1", "é", "a,b\nc,d", "x" * 70, "Hello, World!", "2024-02-29", "?!")
_INTEGERS = (0, 1, 2, 3, 7, 10, -1, 100)
_NUMBERS = (0, 1, -1, 0.5, 2.5, 100, -40, 1e6, 0.1)
_DEEPEST = 3
_ANYTHING: tuple[Any, ...] = (None, True, 0, 1, 1.5, "a", [], [1, 2], {}, {"a": 1}, {"a": {"b": [1, 2]}, "c": None})


def distinguishing_calls(contract: Contract, seeds: Sequence[Call], *, count: int, seed: int = 0) -> list[Call]:
    """Calls that follow the contract's types: variations of calls that are known, and values made from nothing.

    Args:
        contract: The signatures.
        seeds: Calls that somebody wrote; strings with a form (a date, a log line) are best varied from these.
        count: How many calls for each tool, at most.
        seed: Makes the choice repeatable.
    """
    chance = random.Random(seed)  # noqa: S311 - test inputs, not secrets
    words = tuple(dict.fromkeys(_WORDS.findall(contract.text)))[:20]
    found: dict[Call, None] = {}
    for tool in contract.tools:
        known = [call.values for call in seeds if call.tool == tool.name]
        made: dict[Call, None] = {}
        for _ in range(count * 6):
            if len(made) >= count:
                break
            base = dict(chance.choice(known)) if known and chance.random() < 0.7 else None
            arguments = _vary(tool, base, chance) if base is not None else _make(tool, chance, words)
            call = Call.of(tool.name, arguments)
            if call not in seeds:
                made[call] = None
        found.update(made)
    return list(found)


def out_of_bounds_cases(contract: Contract, seeds: Sequence[Call]) -> list[Case]:
    """Tests that a number outside the bounds that the contract states is refused."""
    found: list[Case] = []
    for tool in contract.tools:
        known = next((call.values for call in seeds if call.tool == tool.name), None)
        chance = random.Random(1)  # noqa: S311 - test inputs, not secrets
        base = known or _make(tool, chance, ())
        for parameter in tool.parameters:
            low, high = parameter.type.low, parameter.type.high
            outside = [low - 1] if low is not None else []
            outside += [high + 1] if high is not None else []
            for value in outside:
                number = int(value) if parameter.type.kind == "integer" else value
                arguments = {**base, parameter.name: number}
                shown = ", ".join(f"{name}={argument!r}" for name, argument in arguments.items())
                found.append(Case(f"raises(ValueError, {tool.name}, {shown})", "contract"))
    return found


def _make(tool: Tool, chance: random.Random, words: Sequence[str]) -> dict[str, Any]:
    return {
        parameter.name: _value(parameter.type, chance, words, depth=0)
        for parameter in tool.parameters
        if parameter.required or chance.random() < 0.5
    }


def _value(kind: ValueType, chance: random.Random, words: Sequence[str], depth: int) -> Any:
    match kind.kind:
        case "union":
            return _value(chance.choice(kind.items), chance, words, depth + 1)
        case "array":
            length = 0 if depth > _DEEPEST else chance.randint(0, 4)
            item = kind.items[0] if kind.items else ValueType("integer")
            return [_value(item, chance, words, depth + 1) for _ in range(length)]
        case "tuple":
            return [_value(item, chance, words, depth + 1) for item in kind.items]
        case "object":
            return {name: _value(inner, chance, words, depth + 1) for name, inner in kind.fields}
        case _:
            return _plain_value(kind, chance, words)


def _plain_value(kind: ValueType, chance: random.Random, words: Sequence[str]) -> Any:
    match kind.kind:
        case "string" if words and chance.random() < 0.4:
            return " ".join(chance.choice(words) for _ in range(chance.randint(1, 4)))
        case "string":
            return chance.choice(_STRINGS)
        case "integer":
            return chance.choice(_within(_INTEGERS, kind))
        case "number":
            return chance.choice(_within(_NUMBERS, kind))
        case "boolean":
            return chance.random() < 0.5
        case "enum":
            return chance.choice(kind.options)
        case "null":
            return None
        case _:
            return chance.choice(_ANYTHING)


def _within(values: Iterable[float], kind: ValueType) -> list[float]:
    low = kind.low if kind.low is not None else float("-inf")
    high = kind.high if kind.high is not None else float("inf")
    inside = [value for value in values if low <= value <= high]
    bounds = [int(bound) if kind.kind == "integer" else bound for bound in (kind.low, kind.high) if bound is not None]
    return inside + bounds or [0]


def _vary(tool: Tool, arguments: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """Known arguments with one of them changed a little, inside its type."""
    present = [parameter for parameter in tool.parameters if parameter.name in arguments]
    absent = [parameter for parameter in tool.parameters if parameter.name not in arguments]
    if absent and (not present or chance.random() < 0.2):
        parameter = chance.choice(absent)
        return {**arguments, parameter.name: _value(parameter.type, chance, (), depth=0)}
    if not present:
        return arguments
    parameter = chance.choice(present)
    if not parameter.required and chance.random() < 0.2:
        return {name: value for name, value in arguments.items() if name != parameter.name}
    return {**arguments, parameter.name: _changed(arguments[parameter.name], parameter, chance)}


def _changed(value: Any, parameter: Parameter, chance: random.Random) -> Any:
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        changed = chance.choice((value + 1, value - 1, value * 2, -value, value * 10))
        return value if changed not in _within((changed,), parameter.type) else changed
    if isinstance(value, str):
        return _changed_text(value, chance)
    if isinstance(value, list):
        return _changed_list(cast("list[Any]", value), chance)
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        if not fields:
            return {"a": 1}
        name = chance.choice(sorted(fields))
        if chance.random() < 0.3:
            return {key: item for key, item in fields.items() if key != name}
        return {**fields, name: _changed(fields[name], Parameter(name), chance)}
    return value


def _changed_list(items: list[Any], chance: random.Random) -> list[Any]:
    if not items:
        return items
    ways: tuple[Callable[[], list[Any]], ...] = (
        lambda: items[::-1],
        lambda: items[:-1],
        lambda: items[1:],
        lambda: items + items[:1],
        lambda: [*items],
        lambda: [*items[:-1], _changed(items[-1], Parameter("item"), chance)],
    )
    return chance.choice(ways)()


def _changed_text(text: str, chance: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    ways: list[Callable[[], str]] = [
        lambda: "",
        text.upper,
        text.lower,
        lambda: f" {text} ",
        lambda: text + text,
        lambda: text[: len(text) // 2],
        lambda: re.sub(r"\d", lambda _: str(chance.randint(0, 9)), text),
        lambda: _without_one(text, chance),
    ]
    if len(lines) > 1:
        ways += [lambda: "".join(lines[:-1]), lambda: "".join([*lines, lines[-1]]), lambda: "".join(reversed(lines))]
    return chance.choice(ways)()


def _without_one(text: str, chance: random.Random) -> str:
    if not text:
        return text
    at = chance.randrange(len(text))
    return text[:at] + text[at + 1 :]
