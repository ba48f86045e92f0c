from typing import Any

import pytest

from repertory.engines.profile import EngineKind, EngineProfile, FanOut, KeywordSupport
from repertory.engines.schema import CompiledSchema, SchemaLimits, compile_schema, lint_schema, normal_form
from repertory.errors import SchemaError

ALL: dict[str, KeywordSupport] = {
    "minLength": "grammar",
    "maxLength": "grammar",
    "minItems": "grammar",
    "maxItems": "grammar",
    "pattern": "grammar",
    "format": "grammar",
    "minimum": "grammar",
    "maximum": "grammar",
}


def profile(keywords: dict[str, KeywordSupport] | None = None) -> EngineProfile:
    return EngineProfile(kind=EngineKind.LLAMACPP, fan_out=FanOut.PRIME, schema_keywords=ALL | (keywords or {}))


def field(node: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": node}, "required": ["a"], **more}


def compiled_field(node: dict[str, Any], engine: EngineProfile | None = None) -> dict[str, Any]:
    return compile_schema(field(node), engine or profile()).grammar_schema["properties"]["a"]


def client_keywords(node: dict[str, Any], engine: EngineProfile | None = None) -> set[str]:
    return {keyword for _, keyword in compile_schema(field(node), engine or profile()).client_keywords}


def test_objects_are_closed_and_ask_for_every_field_that_can_not_be_null() -> None:
    schema = {
        "properties": {"a": {"type": "boolean"}, "b": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
        "title": "T",
    }
    assert compile_schema(schema, profile()).grammar_schema == {
        "type": "object",
        "properties": {"a": {"type": "boolean"}, "b": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
        "required": ["a"],
        "additionalProperties": False,
    }


def test_references_are_inlined_and_keep_what_stands_beside_them() -> None:
    schema = field({"$ref": "#/$defs/Name", "maxLength": 5}) | {"$defs": {"Name": {"type": "string", "maxLength": 9}}}
    compiled = compile_schema(schema, profile())
    assert compiled.grammar_schema["properties"]["a"] == {"type": "string", "maxLength": 5}
    assert "$defs" not in compiled.grammar_schema


def test_b4_all_of_is_flattened() -> None:
    node = {
        "allOf": [
            {"type": "object", "properties": {"x": {"type": "integer", "minimum": 1}}, "required": ["x"]},
            {"properties": {"x": {"maximum": 5}, "y": {"enum": ["p", "q"]}}},
        ]
    }
    assert compiled_field(node) == {
        "type": "object",
        "properties": {
            "x": {"type": "integer", "minimum": 1, "maximum": 5},
            "y": {"type": "string", "enum": ["p", "q"]},
        },
        "required": ["x", "y"],
        "additionalProperties": False,
    }


def test_all_of_closed_objects_keeps_what_both_allow() -> None:
    one = {"type": "object", "properties": {"x": {"type": "integer"}}, "additionalProperties": False}
    two = {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}}}
    assert list(compiled_field({"allOf": [one, two]})["properties"]) == ["x"]


@pytest.mark.parametrize(
    "node",
    [
        {"allOf": [{"type": "string"}, {"type": "integer"}]},
        {"allOf": [{"enum": ["a"]}, {"enum": ["b"]}]},
        {"allOf": [{"type": "string"}, False]},
        {"type": "string", "enum": [1, 2]},
        {"const": 1, "enum": [2]},
        {"type": "string", "minLength": 5, "maxLength": 4},
        {"type": "array", "items": {"type": "null"}, "minItems": 3, "maxItems": 2},
    ],
)
def test_a_schema_that_nothing_satisfies_is_an_error_with_its_place(node: dict[str, Any]) -> None:
    with pytest.raises(SchemaError) as caught:
        compile_schema(field(node), profile())
    assert "/properties/a" in str(caught.value)


def test_recursion_is_an_error_with_the_path() -> None:
    schema = {
        "$ref": "#/$defs/Node",
        "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}},
    }
    with pytest.raises(SchemaError, match=r"#/\$defs/Node -> #/\$defs/Node") as caught:
        compile_schema(schema, profile())
    assert caught.value.where == "schema /properties/next"


@pytest.mark.parametrize("reference", ["#/$defs/Missing", "other.json", "#anchor", "http://example.org/s"])
def test_a_reference_that_can_not_be_followed_is_an_error(reference: str) -> None:
    with pytest.raises(SchemaError, match="names nothing"):
        compile_schema(field({"$ref": reference}), profile())


@pytest.mark.parametrize(
    "node",
    [{}, True, {"description": "anything"}, {"type": "array"}, {"type": "object"}, {"type": "array", "items": True}],
)
def test_a5_a_node_without_a_type_is_an_error_with_its_path(node: Any) -> None:
    problems = lint_schema(field(node))
    assert problems[0].severity == "error"
    assert problems[0].pointer.startswith("/properties/a")
    with pytest.raises(SchemaError):
        compile_schema(field(node), profile())


def test_a6_every_array_and_string_is_bounded() -> None:
    node = {"type": "array", "items": {"type": "string"}}
    assert compiled_field(node) == {"type": "array", "items": {"type": "string", "maxLength": 400}, "maxItems": 8}
    warned = [(problem.pointer, problem.severity) for problem in lint_schema(field(node))]
    assert warned == [("/properties/a/items", "warning"), ("/properties/a", "warning")]
    assert normal_form(field(node), SchemaLimits(max_items=3, max_length=20))["properties"]["a"]["maxItems"] == 3
    assert compiled_field({"type": "string", "minLength": 900})["maxLength"] == 900


def test_b2_what_the_engine_should_have_enforced_is_checked_again() -> None:
    node = {"type": "array", "items": {"enum": ["a", "b", "c", "d"]}, "maxItems": 2}
    compiled = compile_schema(field(node), profile())
    assert [problem.message for problem in compiled.check({"a": ["a", "b", "c", "d"]})] == [
        "/a: has 4 items, at most 2 are allowed"
    ]
    assert compiled.check({"a": ["a", "b"]}) == []


class TestB3PatternAndLength:
    def test_b3_a_pattern_that_ends_by_itself_goes_to_the_grammar_and_the_length_stays_with_us(self) -> None:
        node = {"type": "string", "pattern": r"^m\d{1,6}$", "maxLength": 4}
        assert compiled_field(node) == {"type": "string", "pattern": "^m[0-9]{1,6}$"}
        assert client_keywords(node) == {"maxLength"}
        compiled = compile_schema(field(node), profile())
        assert [problem.rule for problem in compiled.check({"a": "m12345"})] == ["maxLength"]

    def test_b3_a_pattern_without_end_stays_with_us_and_the_length_goes_to_the_grammar(self) -> None:
        node = {"type": "string", "pattern": "^[a-z]+$", "maxLength": 30}
        assert compiled_field(node) == {"type": "string", "maxLength": 30}
        assert client_keywords(node) == {"pattern"}

    def test_a_format_goes_without_lengths(self) -> None:
        node = {"type": "string", "format": "date", "minLength": 10, "maxLength": 10}
        assert compiled_field(node) == {"type": "string", "format": "date"}
        assert client_keywords(node) == {"minLength", "maxLength"}

    def test_formats_are_looked_up_one_by_one(self) -> None:
        engine = profile({"format:uri": "client"})
        assert compiled_field({"type": "string", "format": "uri"}, engine) == {"type": "string", "maxLength": 400}
        assert client_keywords({"type": "string", "format": "uri"}, engine) == {"format"}


@pytest.mark.parametrize(
    ("node", "why"),
    [
        ({"type": "string", "pattern": "foo"}, "not of the form"),
        ({"type": "string", "pattern": "^foo"}, "not of the form"),
        ({"type": "string", "pattern": "^.{1,5}$"}, "JSON escapes"),
        ({"type": "string", "pattern": '^[^"]{1,5}$'}, "JSON escapes"),
        ({"type": "string", "pattern": "^é{1,5}$"}, "JSON escapes"),
    ],
)
def test_b8_only_anchored_plain_patterns_go_to_a_grammar(node: dict[str, Any], why: str) -> None:
    assert "pattern" not in compiled_field(node)
    assert "pattern" in client_keywords(node)
    assert any(why in problem.message for problem in lint_schema(field(node)))


def test_b7_a_keyword_that_the_engine_does_not_take_is_named_with_pointer_and_engine() -> None:
    schema = {"type": "object", "properties": {"a": {"anyOf": [{"type": "null"}, {"type": "boolean"}]}}}
    with pytest.raises(SchemaError) as caught:
        compile_schema(schema, profile({"anyOf": "reject"}))
    assert caught.value.where == "schema /properties/a/anyOf"
    assert "`anyOf` is not accepted by llama.cpp" in caught.value.message
    (problem,) = [
        problem for problem in lint_schema(schema, profile({"anyOf": "reject"})) if problem.severity == "error"
    ]
    assert problem.pointer == "/properties/a/anyOf"


@pytest.mark.parametrize("support", ["client", "reject"])
@pytest.mark.parametrize(
    ("keyword", "node"),
    [
        ("minItems", {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2}),
        ("minLength", {"type": "string", "minLength": 2, "maxLength": 5}),
        ("minimum", {"type": "integer", "minimum": 1}),
        ("minimum", {"type": "number", "minimum": 1}),
        ("uniqueItems", {"type": "array", "items": {"type": "integer"}, "uniqueItems": True, "maxItems": 2}),
        ("multipleOf", {"type": "integer", "multipleOf": 5}),
    ],
)
def test_b11_b12_what_a_profile_does_not_enforce_is_left_out_and_checked_by_us(
    keyword: str, node: dict[str, Any], support: KeywordSupport
) -> None:
    engine = profile({keyword: support})
    assert keyword not in compiled_field(node, engine)
    assert keyword in client_keywords(node, engine)
    assert any(problem.pointer == f"/properties/a/{keyword}" for problem in lint_schema(field(node), engine))
    assert keyword in compiled_field(node, profile({keyword: "grammar"}))


def test_b11_a_keyword_can_be_enforced_for_one_type_only() -> None:
    engine = profile({"minimum:number": "client"})
    assert compiled_field({"type": "number", "minimum": 1}, engine) == {"type": "number"}
    assert compiled_field({"type": "integer", "minimum": 1}, engine) == {"type": "integer", "minimum": 1}


@pytest.mark.parametrize(
    ("keyword", "more", "bad"),
    [
        ("not", {"not": {"required": ["b"]}}, {"a": 1, "b": 2}),
        ("if", {"if": {"properties": {"a": {"const": 1}}}, "then": {"required": ["b"]}}, {"a": 1}),
        ("dependentRequired", {"dependentRequired": {"a": ["b"]}}, {"a": 1}),
        ("patternProperties", {"patternProperties": {"^a$": {"maximum": 3}}}, {"a": 5}),
        ("propertyNames", {"propertyNames": {"maxLength": 0}}, {"a": 1}),
        ("oneOf", {"oneOf": [{"required": ["a"]}, {"required": ["a", "b"]}]}, {"a": 1, "b": 1}),
    ],
)
def test_b11_keywords_that_no_grammar_gets_are_checked_against_the_schema_as_written(
    keyword: str, more: dict[str, Any], bad: dict[str, Any]
) -> None:
    properties = {"a": {"type": "integer"}, "b": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}
    compiled = compile_schema({"type": "object", "properties": properties, **more}, profile())
    assert keyword not in compiled.grammar_schema
    assert keyword in {name for _, name in compiled.client_keywords}
    assert compiled.check(bad) != []


def test_b6_one_of_is_sent_as_any_of() -> None:
    node = {"oneOf": [{"type": "integer"}, {"type": "boolean"}]}
    assert compiled_field(node) == {"anyOf": [{"type": "integer"}, {"type": "boolean"}]}
    assert client_keywords(node) == {"oneOf"}


PAIR = {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "boolean"}], "minItems": 2, "items": False}


def test_fixed_positions_are_sent_where_the_engine_takes_them() -> None:
    places = [{"type": "integer"}, {"type": "boolean"}]
    takes = profile({"prefixItems": "grammar"})
    assert compiled_field(PAIR, takes) == {"type": "array", "prefixItems": places, "minItems": 2, "maxItems": 2}
    assert client_keywords(PAIR, takes) == set()
    assert "prefixItems" not in compiled_field({**PAIR, "items": {"type": "null"}, "maxItems": 3}, takes)


def test_fixed_positions_are_sent_as_alternatives_elsewhere_and_checked_by_us() -> None:
    assert client_keywords(PAIR) == {"prefixItems"}
    assert compiled_field(PAIR) == {
        "type": "array",
        "items": {"anyOf": [{"type": "integer"}, {"type": "boolean"}]},
        "minItems": 2,
        "maxItems": 2,
    }
    compiled = compile_schema(field(PAIR), profile())
    assert compiled.check({"a": [1, True]}) == []
    assert compiled.check({"a": [True, 1]}) != []


def test_several_types_become_alternatives_with_their_own_keywords() -> None:
    node = {"type": ["string", "integer", "null"], "maxLength": 5, "minimum": 2}
    assert compiled_field(node) == {
        "anyOf": [{"type": "string", "maxLength": 5}, {"type": "integer", "minimum": 2}, {"type": "null"}]
    }


def test_what_stands_beside_any_of_goes_into_its_branches() -> None:
    node = {"type": "string", "anyOf": [{"maxLength": 3}, {"enum": ["longer", "long"]}]}
    assert compiled_field(node) == {
        "anyOf": [{"type": "string", "maxLength": 3}, {"type": "string", "enum": ["longer", "long"]}]
    }


def test_a_const_is_kept_or_written_as_a_choice() -> None:
    assert compiled_field({"const": "x"}) == {"const": "x"}
    assert compiled_field({"const": "x"}, profile({"const": "client"})) == {"type": "string", "enum": ["x"]}


def test_fields_with_free_names_are_refused_or_left_out() -> None:
    with pytest.raises(SchemaError, match="without named fields"):
        compile_schema(field({"type": "object", "additionalProperties": {"type": "integer"}}), profile())
    mixed = field({"type": "integer"}, additionalProperties={"type": "integer"})
    assert compile_schema(mixed, profile()).grammar_schema["additionalProperties"] is False


def test_b1_refused_keywords_are_left_out_on_request() -> None:
    schema = field({"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2})
    compiled: CompiledSchema = compile_schema(schema, profile(), without={"minItems"})
    assert compiled.grammar_schema["properties"]["a"] == {"type": "array", "items": {"type": "integer"}, "maxItems": 2}
    assert ("/properties/a", "minItems") in compiled.client_keywords
    assert [problem.rule for problem in compiled.check({"a": []})] == ["minItems"]


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "string"}, "not an object"),
        ({"type": "object", "properties": {"a": {"type": "date"}}}, "not a JSON Schema"),
        ({"type": "object", "properties": {"a": {"type": "null"}}, "required": ["b"]}, "not described"),
        (field({"$anchor": "x", "type": "null"}), "not supported"),
        (field({"enum": list(range(300))}), "more than 256"),
        (field({"anyOf": [{"type": "null"}] * 40}), "1 to 32 alternatives"),
        (field({"type": "string", "pattern": "^(a+)+$"}), "repeat inside a repeat"),
    ],
)
def test_what_can_not_be_used_is_refused(schema: dict[str, Any], words: str) -> None:
    with pytest.raises(SchemaError, match=words):
        compile_schema(schema, profile())


def test_too_deep_and_too_large_are_refused_with_the_limit() -> None:
    deep: dict[str, Any] = {"type": "integer"}
    for _ in range(20):
        deep = field(deep)
    with pytest.raises(SchemaError, match="deeper than 12"):
        compile_schema(deep, profile())
    wide = {"type": "object", "properties": {f"f{index}": {"type": "null"} for index in range(600)}}
    with pytest.raises(SchemaError, match="more than 500 nodes"):
        compile_schema(wide, profile())


def test_a_schema_that_grows_by_references_is_refused_quickly() -> None:
    definitions: dict[str, Any] = {"d0": {"type": "integer"}}
    for level in range(1, 12):
        inner = {"$ref": f"#/$defs/d{level - 1}"}
        definitions[f"d{level}"] = {"type": "object", "properties": {f"p{index}": inner for index in range(9)}}
    with pytest.raises(SchemaError, match="more than 500 nodes"):
        compile_schema({"$ref": "#/$defs/d11", "$defs": definitions}, profile())
