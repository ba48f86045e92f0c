"""Small questions about nodes of a schema, and the one way in which alternatives are joined."""

from collections.abc import Sequence
from typing import cast

from repertory.engines.schema.keywords import TYPES_OF
from repertory.engines.schema.problems import JsonSchema

__all__ = ("FORMAT_LENGTHS", "any_of", "has_type", "of_type", "undescribed")

FORMAT_LENGTHS = {"date": 10, "date-time": 40, "time": 30, "uuid": 36}
"""The longest text of the formats that engines know, in characters."""


def has_type(value: object, kind: str) -> bool:
    """Whether a JSON value is of a type."""
    if kind == "null":
        return value is None
    if kind == "boolean":
        return isinstance(value, bool)
    if isinstance(value, bool):
        return False
    if kind == "integer":
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    expected = {"number": (int, float), "string": (str,), "array": (list,), "object": (dict,)}.get(kind, ())
    return isinstance(value, expected)


def of_type(node: JsonSchema, kind: str) -> JsonSchema:
    """The keywords of a node that say something about one type."""
    return {
        key: value
        for key, value in node.items()
        if key not in ("type", "description", "title", "default") and kind in TYPES_OF.get(key, (kind,))
    }


def undescribed(node: JsonSchema) -> JsonSchema:
    """A node without its description."""
    return {key: value for key, value in node.items() if key != "description"}


def any_of(forms: Sequence[JsonSchema]) -> JsonSchema:
    """One node for several alternatives: nested ones flattened, doubles removed."""
    flat: list[JsonSchema] = []
    for form in forms:
        parts = cast("list[JsonSchema]", form["anyOf"]) if "anyOf" in form and "description" not in form else [form]
        flat += [part for part in parts if part not in flat]
    return flat[0] if len(flat) == 1 else {"anyOf": flat}
