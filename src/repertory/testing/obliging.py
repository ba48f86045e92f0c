"""Answers that fit whatever is asked: the smallest value of a JSON Schema, or a fixed text."""

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from repertory.testing.scripted_engine import Reply
from repertory.testing.scripted_request import ScriptedRequest

__all__ = ("obliging", "smallest_value")


def smallest_value(schema: Mapping[str, object]) -> object:
    """A small value that is valid for a compiled schema (no `$ref`): first choices, least numbers, shortest strings."""
    if "const" in schema:
        return schema["const"]
    for keyword in ("enum", "anyOf", "oneOf"):
        choices = schema.get(keyword)
        if isinstance(choices, Sequence) and choices:
            first = cast("Sequence[object]", choices)[0]
            return first if keyword == "enum" else smallest_value(cast("Mapping[str, object]", first))
    kind = schema.get("type")
    if isinstance(kind, Sequence) and not isinstance(kind, str):
        kind = cast("Sequence[str]", kind)[0]
    match kind:
        case "object":
            properties = cast("Mapping[str, Mapping[str, object]]", schema.get("properties") or {})
            return {name: smallest_value(part) for name, part in properties.items()}
        case "array":
            least = cast("int", schema.get("minItems", 0))
            return [smallest_value(cast("Mapping[str, object]", schema.get("items") or {}))] * least
        case "integer" | "number":
            return schema.get("minimum", schema.get("exclusiveMinimum", 0))
        case "string":
            return "x" * cast("int", schema.get("minLength", 0))
        case "boolean":
            return False
        case _:
            return None


def obliging(text: str) -> Callable[[ScriptedRequest], Reply]:
    """A reply for `ScriptedEngine`: what the request's schema asks for, else the text."""

    def reply(request: ScriptedRequest) -> Reply:
        schema = request.json_schema
        return text if schema is None else cast("dict[str, object]", smallest_value(schema))

    return reply
