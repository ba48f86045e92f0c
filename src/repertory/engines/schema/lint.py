"""What a schema's author should know before an agent runs on it."""

from collections.abc import Iterator
from typing import Any, cast

from repertory.engines.profile import EngineProfile
from repertory.engines.schema.compile import compile_schema
from repertory.engines.schema.limits import DEFAULT_LIMITS, SchemaLimits
from repertory.engines.schema.normal import Normaliser
from repertory.engines.schema.problems import JsonSchema, SchemaProblem, child
from repertory.errors import SchemaError

__all__ = ("lint_schema",)

_RATIONALE = frozenset(
    {"rationale", "reason", "reasons", "reasoning", "why", "because", "basis", "explanation", "thinking", "analysis"}
)
_DECISIONS = ("boolean", "integer", "number")


def lint_schema(
    schema: JsonSchema, profile: EngineProfile | None = None, *, limits: SchemaLimits = DEFAULT_LIMITS
) -> list[SchemaProblem]:
    """Everything worth saying about a schema, in the order of its fields; errors mean that it can not be used.

    With a profile it also says which keywords that engine does not enforce while the answer is written.
    """
    normaliser = Normaliser(schema, limits)
    form = normaliser.run()
    problems = normaliser.problems
    if any(problem.severity == "error" for problem in problems):
        return problems
    problems += _late_rationales(form, "")
    if profile is None:
        return problems + [_client_note(pointer, key, "no engine's grammar") for pointer, key in normaliser.client]
    try:
        compiled = compile_schema(schema, profile, limits=limits)
    except SchemaError as error:
        pointer = (error.where or "").removeprefix("schema ")
        return [*problems, SchemaProblem(pointer, error.message, error.hint or "", "error")]
    return problems + [
        _client_note(pointer, key, f"{profile.kind.value}'s grammar") for pointer, key in compiled.client_keywords
    ]


def _client_note(pointer: str, keyword: str, who: str) -> SchemaProblem:
    return SchemaProblem(
        child(pointer, keyword),
        f"`{keyword}` is not enforced by {who}",
        "it is checked after the answer, and costs a repair when it is broken",
        "note",
    )


def _late_rationales(node: JsonSchema, pointer: str) -> Iterator[SchemaProblem]:
    """Free text that gives reasons for a decision written before it: a model then defends instead of thinking."""
    properties = cast("dict[str, JsonSchema]", node.get("properties", {}))
    decided: str | None = None
    for name, inner in properties.items():
        place = child(pointer, "properties", name)
        if decided is not None and _is_text(inner) and _RATIONALE & set(name.lower().split("_")):
            yield SchemaProblem(
                place,
                f"`{name}` comes after `{decided}`, so the reason is written when the decision stands",
                f"put `{name}` before `{decided}`",
                "warning",
            )
        if decided is None and _is_decision(inner):
            decided = name
        yield from _late_rationales(inner, place)
    for key in ("items",):
        if key in node:
            yield from _late_rationales(cast("JsonSchema", node[key]), child(pointer, key))
    for index, branch in enumerate(cast("list[JsonSchema]", node.get("anyOf", []))):
        yield from _late_rationales(branch, child(pointer, "anyOf", index))


def _variants(node: JsonSchema) -> list[JsonSchema]:
    return cast("list[JsonSchema]", node["anyOf"]) if "anyOf" in node else [node]


def _is_text(node: JsonSchema) -> bool:
    return any(variant.get("type") == "string" and "pattern" not in variant for variant in _variants(node))


def _is_decision(node: JsonSchema) -> bool:
    return any(_chooses(variant) for variant in _variants(node))


def _chooses(node: JsonSchema) -> bool:
    values: Any = node.get("enum")
    return len(cast("list[Any]", values)) > 1 if isinstance(values, list) else node.get("type") in _DECISIONS
