from typing import Any

import pytest

from repertory.engines.schema import lint_schema


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
