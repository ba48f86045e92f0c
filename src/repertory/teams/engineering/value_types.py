"""The types of a contract's values: what a tool takes and returns, as JSON can carry it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

__all__ = ("ANYTHING", "ValueType", "annotation", "conforms", "json_schema")

Kind = Literal["any", "null", "string", "integer", "number", "boolean", "array", "tuple", "object", "enum", "union"]


@dataclass(frozen=True)
class ValueType:
    """One type.

    Attributes:
        kind: What it is.
        items: The element of an array, the elements of a tuple, or the options of a union.
        fields: The named parts of an object, with their types.
        open: Whether an object may have more fields than those named.
        options: The values of an enumeration.
        low: Least value of a number, where the contract states one.
        high: Greatest value of a number.
    """

    kind: Kind
    items: tuple["ValueType", ...] = ()
    fields: tuple[tuple[str, "ValueType"], ...] = ()
    open: bool = False
    options: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None


ANYTHING = ValueType("any")

_ANNOTATIONS: dict[str, str] = {
    "any": "object",
    "null": "None",
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "enum": "str",
    "tuple": "list",
}


def annotation(kind: ValueType) -> str:
    """The type as Python writes it in a signature."""
    if kind.kind == "array":
        return f"list[{annotation(kind.items[0])}]" if kind.items and kind.items[0] != ANYTHING else "list"
    if kind.kind == "object":
        return "dict"
    if kind.kind == "union":
        return " | ".join(dict.fromkeys(annotation(option) for option in kind.items))
    return _ANNOTATIONS[kind.kind]


def json_schema(kind: ValueType) -> dict[str, Any]:
    """The type as JSON Schema."""
    match kind.kind:
        case "any":
            return {}
        case "enum":
            return {"type": "string", "enum": list(kind.options)}
        case "array":
            return {"type": "array", "items": json_schema(kind.items[0])} if kind.items else {"type": "array"}
        case "tuple":
            return {
                "type": "array",
                "prefixItems": [json_schema(item) for item in kind.items],
                "minItems": len(kind.items),
                "maxItems": len(kind.items),
            }
        case "object":
            names = [name for name, _ in kind.fields]
            schema: dict[str, Any] = {
                "type": "object",
                "properties": {name: json_schema(inner) for name, inner in kind.fields},
                "required": names,
            }
            return schema if kind.open else {**schema, "additionalProperties": False}
        case "union":
            return {"anyOf": [json_schema(option) for option in kind.items]}
        case _:
            return {"type": kind.kind}  # bounds are the tool's own to refuse, with its own words


def conforms(value: object, kind: ValueType) -> bool:
    """Whether a value is of a type. True is no number here, as in JSON; bounds are not looked at."""
    match kind.kind:
        case "any":
            return True
        case "null":
            return value is None
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "enum":
            return value in kind.options
        case "union":
            return any(conforms(value, option) for option in kind.items)
        case "array" | "tuple":
            return isinstance(value, list) and _items_conform(cast("list[object]", value), kind)
        case "object":
            return isinstance(value, dict) and _fields_conform(cast("dict[str, object]", value), kind)


def _items_conform(items: Sequence[object], kind: ValueType) -> bool:
    if kind.kind == "tuple":
        return len(items) == len(kind.items) and all(map(conforms, items, kind.items))
    return not kind.items or all(conforms(item, kind.items[0]) for item in items)


def _fields_conform(fields: dict[str, object], kind: ValueType) -> bool:
    if not kind.open and kind.fields and len(fields) > len(kind.fields):
        return False
    return all(name in fields and conforms(fields[name], inner) for name, inner in kind.fields)
