"""The JSON Schemas of tools: the part of the language whose check takes time in proportion to the value.

A schema comes from a model and is applied, outside of the sandbox, to values that come from code of a model. So there
are no patterns (a pattern can take forever), no references (they can multiply), and no keyword that compares all items.
"""

from collections.abc import Iterator
from typing import Any, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError as JsonSchemaError

__all__ = ("check_tool_schema",)

_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
            "minItems", "maxItems", "minProperties", "maxProperties")  # fmt: skip
_PLAIN = {"type", "enum", "const", "required", "title", "description", "default", "examples", "format", *_NUMBERS}
_ONE = {"items", "additionalProperties", "not"}
_MANY = {"anyOf", "oneOf", "allOf", "prefixItems"}
_NAMED = {"properties"}
_MAX_NODES, _MAX_DEPTH = 400, 24


def check_tool_schema(schema: object, *, arguments: bool) -> list[str]:
    """What is wrong with a schema, each with its place.

    Args:
        schema: The schema.
        arguments: Whether it is of a tool's arguments, which are an object with named properties.
    """
    problems = list(_problems(schema, "", 0, [0]))
    if problems:
        return problems
    try:
        Draft202012Validator.check_schema(cast("dict[str, Any]", schema))
    except JsonSchemaError as error:
        return [f"{error.json_path.removeprefix('$')}: {error.message}"[:300]]
    if arguments and (not isinstance(schema, dict) or cast("dict[str, Any]", schema).get("type") != "object"):
        return ["the arguments of a tool are an object: write `type: object` with `properties`"]
    return []


def _problems(schema: object, place: str, depth: int, count: list[int]) -> Iterator[str]:
    count[0] += 1
    if depth > _MAX_DEPTH or count[0] > _MAX_NODES:
        if count[0] < 10 * _MAX_NODES:  # said once
            count[0] = 10 * _MAX_NODES
            yield f"{place}: the schema has more than {_MAX_NODES} parts or {_MAX_DEPTH} levels"
        return
    if isinstance(schema, bool):
        return
    if not isinstance(schema, dict):
        yield f"{place or 'the schema'}: a schema is an object"
        return
    for word, value in cast("dict[str, object]", schema).items():
        inner = f"{place}/{word}"
        if word in _ONE:
            yield from _problems(value, inner, depth + 1, count)
        elif word in _MANY and isinstance(value, list):
            for index, item in enumerate(cast("list[object]", value)):
                yield from _problems(item, f"{inner}/{index}", depth + 1, count)
        elif word in _NAMED and isinstance(value, dict):
            for name, item in cast("dict[str, object]", value).items():
                yield from _problems(item, f"{inner}/{name}", depth + 1, count)
        elif word not in _PLAIN:
            yield f"{inner}: this keyword can not be used in the schema of a tool"
