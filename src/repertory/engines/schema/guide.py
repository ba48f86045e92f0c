"""A schema in words, for the prompt.

A grammar only shapes what a model writes; the model does not see the schema. The guide tells it, in few tokens (every
agent of a turn pays for its own), without an example in JSON (an example beside a grammar makes some models loop).
"""

from collections.abc import Iterator
from typing import Any, cast

from repertory.engines.schema.compile import normal_form
from repertory.engines.schema.limits import DEFAULT_LIMITS, SchemaLimits
from repertory.engines.schema.problems import JsonSchema

__all__ = ("field_guide",)


def field_guide(schema: JsonSchema, *, limits: SchemaLimits = DEFAULT_LIMITS) -> str:
    """One line per field, in the order in which they must be written: name, kind, limits or choices, description.

    Raises:
        SchemaError: The schema can not be used.
    """
    form = normal_form(schema, limits)
    variants = cast("list[JsonSchema]", form["anyOf"]) if "anyOf" in form else [form]
    texts = dict.fromkeys("\n".join(_fields(variant, indent="")) for variant in variants)
    return "\nor:\n".join(texts)


def _fields(node: JsonSchema, indent: str) -> Iterator[str]:
    for name, inner in cast("dict[str, JsonSchema]", node["properties"]).items():
        kind, nested = _kind(inner)
        description = " ".join(str(inner.get("description", "")).split())
        line = f"{indent}{name}: {kind}"
        yield f"{line}. {description}" if description else line
        for variant in nested:
            yield from _fields(variant, indent + "  ")


def _kind(node: JsonSchema) -> tuple[str, list[JsonSchema]]:
    """What a node may hold, in words, and the objects whose fields are listed below it."""
    if "enum" in node:
        return " | ".join(_word(value) for value in cast("list[Any]", node["enum"])), []
    if "anyOf" in node:
        parts = [_kind(branch) for branch in cast("list[JsonSchema]", node["anyOf"])]
        return " or ".join(dict.fromkeys(words for words, _ in parts)), [
            inner for _, nested in parts for inner in nested
        ]
    kind = str(node["type"])
    if kind == "object":
        return "object with", [node]
    if kind == "array" and "prefixItems" in node:
        parts = [_kind(item) for item in cast("list[JsonSchema]", node["prefixItems"])]
        count = _range(node.get("minItems", 0), node["maxItems"])
        return f"list of {count}: {'; '.join(words for words, _ in parts)}", [
            one for _, nested in parts for one in nested
        ]
    if kind == "array":
        words, nested = _kind(cast("JsonSchema", node["items"]))
        count = _range(node.get("minItems", 0), node["maxItems"])
        return f"list of {count}, each {words}", nested
    if kind == "string":
        return _text(node), []
    if kind in ("integer", "number"):
        return _number(node, "whole number" if kind == "integer" else "number"), []
    return {"boolean": "true | false", "null": "null"}[kind], []


def _word(value: Any) -> str:
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _range(low: Any, high: Any) -> str:
    return f"{high}" if low == high else f"{low}-{high}"


def _text(node: JsonSchema) -> str:
    if "pattern" in node:
        return f"text of the form {node['pattern']}"
    if node.get("format") in ("date", "time", "date-time", "uuid"):
        return f"{node['format']}"
    least = node.get("minLength", 0)
    return (
        f"text, {_range(least, node['maxLength'])} characters"
        if least > 1
        else f"text, max {node['maxLength']} characters"
    )


def _number(node: JsonSchema, kind: str) -> str:
    low, over = node.get("minimum"), node.get("exclusiveMinimum")
    high, under = node.get("maximum"), node.get("exclusiveMaximum")
    if low is not None and high is not None and over is None and under is None:
        return f"{kind} {low}-{high}" if low >= 0 else f"{kind} {low} to {high}"
    bounds = [
        f"{words} {bound}"
        for words, bound in (("at least", low), ("over", over), ("at most", high), ("under", under))
        if bound is not None
    ]
    return " ".join([kind, ", ".join(bounds)]) if bounds else kind
