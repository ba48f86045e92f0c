"""Properties that hold for every schema the compiler takes."""

import json
from typing import Any, cast

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from repertory.engines.profile import EngineKind, EngineProfile, FanOut, KeywordSupport
from repertory.engines.schema import compile_schema, field_guide, normal_form
from repertory.errors import SchemaError

JsonSchema = dict[str, Any]

NAMES = st.sampled_from(["a", "b", "c", "why", "x/y"])
SIZES = st.integers(0, 12)


def some(**keywords: st.SearchStrategy[Any]) -> st.SearchStrategy[JsonSchema]:
    return st.fixed_dictionaries({}, optional=keywords)


def typed(kind: str, **keywords: st.SearchStrategy[Any]) -> st.SearchStrategy[JsonSchema]:
    return some(**keywords).map(lambda found: {"type": kind, **found})


SCALARS = st.one_of(
    typed(
        "string",
        minLength=SIZES,
        maxLength=st.integers(0, 600),
        pattern=st.sampled_from(["^a{1,3}$", "^[a-c]+$", "b", "^.{2}$"]),
        format=st.sampled_from(["date", "uri"]),
    ),
    typed("integer", minimum=st.integers(-5, 5), maximum=st.integers(-5, 20), multipleOf=st.integers(1, 3)),
    typed("number", minimum=st.integers(-5, 5), exclusiveMaximum=st.integers(0, 9)),
    st.sampled_from(
        [{"type": "boolean"}, {"type": "null"}, {"const": 3}, {"type": ["string", "null"]}, {"$ref": "#/$defs/D"}]
    ),
    st.lists(st.sampled_from(["p", "q", 1, None]), min_size=1, max_size=3, unique=True).map(lambda v: {"enum": v}),
)


def nested(inner: st.SearchStrategy[JsonSchema]) -> st.SearchStrategy[JsonSchema]:
    return st.one_of(
        typed("array", items=inner, minItems=st.integers(0, 3), maxItems=st.integers(0, 20), uniqueItems=st.booleans()),
        objects(inner),
        st.lists(inner, min_size=1, max_size=3).map(lambda found: {"anyOf": found}),
        st.lists(inner, min_size=1, max_size=2).map(lambda found: {"oneOf": found}),
        st.lists(inner, min_size=1, max_size=2).map(lambda found: {"allOf": found}),
        st.tuples(inner, inner).map(lambda found: {"type": "array", "prefixItems": list(found), "items": False}),
    )


def objects(inner: st.SearchStrategy[JsonSchema]) -> st.SearchStrategy[JsonSchema]:
    def build(properties: JsonSchema, every: bool, closed: bool, absent: bool) -> JsonSchema:
        node: JsonSchema = {"type": "object", "properties": properties}
        if every:
            node["required"] = list(properties)
        if closed:
            node["additionalProperties"] = False
        if absent:
            node["not"] = {"required": ["zz"]}
        return node

    return st.builds(
        build, st.dictionaries(NAMES, inner, min_size=1, max_size=3), st.booleans(), st.booleans(), st.booleans()
    )


SCHEMAS = objects(st.recursive(SCALARS, nested, max_leaves=6)).map(
    lambda node: {**node, "$defs": {"D": {"type": "string", "maxLength": 7}}}
)

EVERYTHING: dict[str, KeywordSupport] = dict.fromkeys(
    (
        "minLength", "maxLength", "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
        "minItems", "maxItems", "uniqueItems", "multipleOf",
    ),
    "grammar",
)  # fmt: skip
FEW: dict[str, KeywordSupport] = {"maxLength": "grammar", "maxItems": "grammar"}
NONE: dict[str, KeywordSupport] = {"const": "client"}
PROFILES = [
    EngineProfile(kind=EngineKind.LLAMACPP, fan_out=FanOut.PRIME, schema_keywords=table)
    for table in (EVERYTHING, FEW, NONE)
]


def is_valid(value: Any, schema: JsonSchema) -> bool:
    validator: Any = Draft202012Validator(schema)
    return validator.is_valid(value)


def nodes(schema: JsonSchema) -> list[JsonSchema]:
    found = [schema]
    for inner in [
        *cast("JsonSchema", schema.get("properties", {})).values(),
        *cast("list[JsonSchema]", schema.get("anyOf", [])),
        *([schema["items"]] if "items" in schema else []),
        *cast("list[JsonSchema]", schema.get("prefixItems", [])),
    ]:
        found += nodes(inner)
    return found


@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(SCHEMAS, st.sampled_from(PROFILES[:2]))
def test_every_node_that_is_sent_is_typed_and_ends(schema: JsonSchema, profile: EngineProfile) -> None:
    try:
        compiled = compile_schema(schema, profile)
    except SchemaError:
        return
    Draft202012Validator.check_schema(compiled.grammar_schema)
    for node in nodes(compiled.grammar_schema):
        assert node.keys() & {"type", "enum", "const", "anyOf"}
        assert not node.keys() & {"$ref", "allOf", "oneOf", "not", "$defs", "default", "title"}
        if node.get("type") == "array":
            assert "maxItems" in node
            assert ("items" in node) != ("prefixItems" in node)
        if node.get("type") == "string" and "enum" not in node:
            assert node.keys() & {"maxLength", "pattern", "format"}
            assert not ("maxLength" in node and "pattern" in node)
        if node.get("type") == "object":
            assert node["additionalProperties"] is False
    assert field_guide(schema) == field_guide(json.loads(json.dumps(schema)))


def values_for(draw: st.DrawFn, node: JsonSchema) -> Any:
    """A value that is likely to satisfy a node of the normal form."""
    if "enum" in node:
        return draw(st.sampled_from(node["enum"]))
    if "anyOf" in node:
        return values_for(draw, draw(st.sampled_from(node["anyOf"])))
    match node["type"]:
        case "object":
            properties = cast("dict[str, JsonSchema]", node["properties"])
            kept = [name for name in properties if name in node["required"] or draw(st.booleans())]
            return {name: values_for(draw, properties[name]) for name in kept}
        case "array":
            count = draw(st.integers(node.get("minItems", 0), min(node["maxItems"], node.get("minItems", 0) + 2)))
            return [values_for(draw, node["items"]) for _ in range(count)]
        case "string":
            return draw(st.text("abc2-", min_size=node.get("minLength", 0), max_size=min(node["maxLength"], 20)))
        case "integer":
            return draw(st.integers(-6, 21))
        case "number":
            return draw(st.sampled_from([-6, -1, 0, 0.5, 3, 8.9, 20]))
        case "boolean":
            return draw(st.booleans())
        case _:
            return None


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), SCHEMAS, st.sampled_from(PROFILES))
def test_what_we_accept_is_valid_for_the_schema_as_written(
    data: st.DataObject, schema: JsonSchema, profile: EngineProfile
) -> None:
    try:
        compiled = compile_schema(schema, profile)
    except SchemaError:
        return
    value = data.draw(st.composite(values_for)(compiled.bounded))
    if not compiled.check(value):
        assert is_valid(value, schema)


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), SCHEMAS, st.sampled_from(PROFILES))
def test_what_the_grammar_and_our_keywords_accept_is_what_we_accept(
    data: st.DataObject, schema: JsonSchema, profile: EngineProfile
) -> None:
    """No rule gets lost: a rule of the normal form that is not sent is listed as ours."""
    try:
        compiled = compile_schema(schema, profile)
    except SchemaError:
        return
    value = data.draw(st.composite(values_for)(compiled.bounded))
    accepted_by_grammar = is_valid(value, compiled.grammar_schema)
    if accepted_by_grammar and not compiled.client_keywords:
        assert compiled.check(value) == []


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(SCHEMAS)
def test_the_normal_form_of_a_normal_form_is_itself(schema: JsonSchema) -> None:
    try:
        form = normal_form(schema)
    except SchemaError:
        return
    assert normal_form(form) == form
