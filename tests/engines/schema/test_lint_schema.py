from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repertory.engines.schema import lint_schema
from repertory.engines.schema.keywords import KNOWN


def problems_of(properties: dict[str, Any], severity: str) -> list[tuple[str, str]]:
    schema = {"type": "object", "properties": properties}
    return [(found.pointer, found.message) for found in lint_schema(schema) if found.severity == severity]


@pytest.mark.parametrize(
    "decision",
    [{"type": "number"}, {"type": "boolean"}, {"enum": ["a", "b"]}, {"anyOf": [{"enum": [1, 2]}, {"type": "null"}]}],
)
@pytest.mark.parametrize("name", ["rationale", "why", "the_reason", "basis"])
def test_b14_a_reason_after_the_decision_is_a_warning(decision: dict[str, Any], name: str) -> None:
    text = {"type": "string", "maxLength": 50}
    ((pointer, message),) = problems_of({"p": decision, name: text}, "warning")
    assert pointer == f"/properties/{name}"
    assert "after `p`" in message
    assert problems_of({name: text, "p": decision}, "warning") == []


def test_b14_is_seen_inside_of_lists() -> None:
    item = {"type": "object", "properties": {"p": {"type": "number"}, "why": {"type": "string", "maxLength": 9}}}
    found = problems_of({"a": {"type": "array", "maxItems": 2, "items": item}}, "warning")
    assert [pointer for pointer, _ in found] == ["/properties/a/items/properties/why"]


def test_other_text_after_a_decision_is_fine() -> None:
    assert problems_of({"p": {"type": "number"}, "title": {"type": "string", "maxLength": 9}}, "warning") == []


def test_a_word_that_is_no_keyword_is_a_warning() -> None:
    ((pointer, message),) = problems_of({"a": {"type": "integer", "maxVal": 3}}, "warning")
    assert pointer == "/properties/a/maxVal"
    assert "not a keyword" in message


def test_all_errors_are_found_not_only_the_first() -> None:
    found = problems_of({"a": {}, "b": {"type": "array"}, "c": {"$ref": "#/x"}, "d": {"type": "null"}}, "error")
    assert [pointer for pointer, _ in found] == ["/properties/a", "/properties/b/items", "/properties/c"]


def test_a_clean_schema_has_no_problems() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"enum": ["x", "y"]}}}
    assert lint_schema(schema) == []


@pytest.mark.parametrize(
    "node",
    [
        {"type": "array", "items": {"type": "null"}, "minItems": "x"},
        {"type": "string", "maxLength": "5"},
        {"type": "string", "maxLength": -1},
        {"type": 3},
        {"type": []},
        {"enum": 3},
        {"anyOf": {}},
        {"properties": []},
        {"properties": {"a": 3}},
        {"type": "object", "properties": {"x": {"type": "null"}}, "required": "x"},
        {"$ref": 3},
        {"allOf": "x"},
        {"pattern": 3},
        {"minimum": "1"},
        "string",
        3,
        None,
        ["string"],
    ],
)
def test_what_is_no_json_schema_is_an_error_and_not_a_crash(node: Any) -> None:
    found = lint_schema({"type": "object", "properties": {"a": node}})
    assert any(problem.severity == "error" and problem.pointer.startswith("/properties/a") for problem in found)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["object", "array", "string", "#/a", "^a$", ""]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*sorted(KNOWN), "a", "x-y"]), inner, max_size=4)
    ),
    max_leaves=20,
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(KNOWN)), JUNK, max_size=5))
def test_any_json_is_linted(schema: dict[str, Any]) -> None:
    for problem in lint_schema(schema):
        assert problem.message
        assert problem.pointer == "" or problem.pointer.startswith("/")
