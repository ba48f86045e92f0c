"""Following `$ref` and flattening `allOf`: one node that means what several said together."""

from collections.abc import Callable, Sequence
from typing import Any, cast

from repertory.engines.schema.problems import JsonSchema

__all__ = ("Contradiction", "find_reference", "intersect")


class Contradiction(ValueError):  # noqa: N818  (caught and reported with its place; never leaves the package)
    """Two parts of a schema can not both hold."""


def find_reference(root: JsonSchema, reference: str) -> Any:
    """The node that a local reference (`#/$defs/Name`) names.

    Raises:
        LookupError: There is no such node, or the reference is not local.
    """
    if reference != "#" and not reference.startswith("#/"):
        raise LookupError(reference)
    node: Any = root
    for step in reference[1:].split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict) and key in node:
            node = cast("JsonSchema", node)[key]
        elif isinstance(node, list) and key.isdecimal() and int(key) < len(cast("list[Any]", node)):
            node = cast("list[Any]", node)[int(key)]
        else:
            raise LookupError(reference)
    return node


def intersect(first: JsonSchema, second: JsonSchema, *, alternatives: int) -> JsonSchema:
    """One node for two that must both hold. Subschemas that meet are joined lazily, as `allOf`.

    Of keywords that can not be joined (two patterns, two `not`) the first is kept; the value is validated against the
    schema as it was written anyway, so that both still hold.

    Raises:
        Contradiction: Nothing can satisfy both.
    """
    first, second = _as_enum(first), _as_enum(second)
    result = _close(first, second)
    for key, value in _close(second, first).items():
        if key not in result:
            result[key] = value
        elif key in _MERGERS:
            result[key] = _MERGERS[key](result[key], value)
        elif key in ("anyOf", "oneOf"):
            result[key] = _product(result[key], value, alternatives)
    return result


def _as_enum(node: JsonSchema) -> JsonSchema:
    if "const" not in node:
        return dict(node)
    rest = {key: value for key, value in node.items() if key != "const"}
    if "enum" in rest and node["const"] not in rest["enum"]:
        raise Contradiction("`const` is not one of `enum`")
    return rest | {"enum": [node["const"]]}


def _close(node: JsonSchema, other: JsonSchema) -> JsonSchema:
    """Leave out of `node` the properties that `other` does not allow."""
    if other.get("additionalProperties") is not False or "properties" not in node:
        return dict(node)
    allowed = other.get("properties", {})
    kept = {name: schema for name, schema in node["properties"].items() if name in allowed}
    return node | {"properties": kept}


def _both(first: Any, second: Any) -> Any:
    return first if first == second else {"allOf": [first, second]}


def _properties(first: JsonSchema, second: JsonSchema) -> JsonSchema:
    joined = {name: _both(schema, second[name]) if name in second else schema for name, schema in first.items()}
    return joined | {name: schema for name, schema in second.items() if name not in first}


def _types(first: str | list[str], second: str | list[str]) -> str | list[str]:
    left = [first] if isinstance(first, str) else first
    right = [second] if isinstance(second, str) else second
    kept = [kind for kind in left if kind in right or (kind == "integer" and "number" in right)]
    kept += [kind for kind in right if kind == "integer" and "number" in left and kind not in kept]
    if not kept:
        message = f"nothing is both {' or '.join(left)} and {' or '.join(right)}"
        raise Contradiction(message)
    return kept[0] if len(kept) == 1 else kept


def _choices(first: Sequence[Any], second: Sequence[Any]) -> list[Any]:
    kept = [value for value in first if any(value == other and type(value) is type(other) for other in second)]
    if not kept:
        raise Contradiction("the two `enum` lists have no value in common")
    return kept


def _additional(first: Any, second: Any) -> Any:
    if first is False or second is False:
        return False
    if first is True:
        return second
    return first if second is True else _both(first, second)


def _union(first: Sequence[str], second: Sequence[str]) -> list[str]:
    return list(dict.fromkeys([*first, *second]))


def _product(first: Sequence[Any], second: Sequence[Any], alternatives: int) -> list[Any]:
    if len(first) * len(second) > alternatives:
        message = f"combined, they have more than {alternatives} alternatives"
        raise Contradiction(message)
    return [_both(left, right) for left in first for right in second]


def _larger(first: float, second: float) -> float:
    return max(first, second)


def _smaller(first: float, second: float) -> float:
    return min(first, second)


def _either(first: bool, second: bool) -> bool:
    return first or second


_MERGERS: dict[str, Callable[[Any, Any], Any]] = (
    {
        "type": _types,
        "enum": _choices,
        "properties": _properties,
        "required": _union,
        "items": _both,
        "additionalProperties": _additional,
        "uniqueItems": _either,
    }
    | dict.fromkeys(("minLength", "minItems", "minProperties", "minimum", "exclusiveMinimum"), _larger)
    | dict.fromkeys(("maxLength", "maxItems", "maxProperties", "maximum", "exclusiveMaximum"), _smaller)
)
