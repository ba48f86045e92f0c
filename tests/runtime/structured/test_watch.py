import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repertory.engines.schema import normal_form
from repertory.runtime.structured import FailureKind, Finding, JsonWatch, TextWatch


def watched(text: str, piece: int = 5, schema: dict[str, Any] | None = None) -> tuple[Finding | None, int]:
    """What the watch found, and after how many characters."""
    watch = JsonWatch(normal_form(schema) if schema else None)
    for start in range(0, len(text), piece):
        found = watch.feed(text[start : start + piece])
        if found is not None:
            return found, start + piece
    return None, len(text)


@pytest.mark.parametrize("filler", [" ", "\n", "\t", " \n", "\r\n"])
@pytest.mark.parametrize("start", ['{\n"questionType":', '{"age": 3', "{", ""])
def test_a1_a4_white_space_without_end_is_stopped_after_64_characters(start: str, filler: str) -> None:
    found, after = watched(start + filler * 900)
    assert found is not None
    assert found.kind is FailureKind.GRAMMAR_WHITESPACE_LOOP
    assert after <= len(start) + 64 + 10


def test_white_space_after_a_whole_object_ends_it() -> None:
    found, _ = watched('{"a": 1}' + "\n" * 900)
    assert found is not None
    assert found.complete


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": ' + "1" * 900, "a number or bare word of more than 64"),
        ('{"a": 0.' + "3" * 900, "a number or bare word of more than 64"),
        ('{"a": ' + "1 2 " * 300, "a number or bare word of more than 64"),
        ('{"a"' + ":" * 900, "a number or bare word of more than 64"),
        ('{"a" ' + '"b" ' * 300, "a number or bare word of more than 64"),
        ("{" + "," * 900, "commas in a row"),
        ('{"a": "' + "ha " * 500, "same words"),
        ('{"a": "' + "I think that we should go on. " * 90, "same words"),
        ('{"a": "' + r"\n" * 500, "same words"),
        ('{"a": [' + '"x", ' * 900, "the same item 25 times"),
        ('{"a": [' + '{"b": 1, "c": [2]}, ' * 900, "the same item 25 times"),
        ("[" * 900, "nested deeper"),
        ('{"a":' * 900, "nested deeper"),
        ('{"a": 1, "b": 2, "a": 1, "b": 2}', "written twice"),
        ("Sure! Here it is. " * 90, "beside the answer"),
        ('{"a": 1} and more and more' + " and more" * 90, "beside the answer"),
    ],
)
def test_a5_a6_loops_are_noticed(text: str, words: str) -> None:
    found, after = watched(text)
    assert found is not None
    assert found.kind is FailureKind.REPETITION_LOOP
    assert words in found.reason
    assert after < 900


def test_a6_a_list_far_beyond_its_schema_is_a_loop_and_a_little_beyond_is_not() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}, "maxItems": 4}}}
    short = json.dumps({"a": list(range(9))})
    assert watched(short, schema=schema)[0] is None
    found, _ = watched(json.dumps({"a": list(range(4000))}), schema=schema)
    assert found is not None
    assert "more than 32 items" in found.reason


def test_an_object_with_fields_without_end_is_a_loop() -> None:
    text = "{" + ", ".join(f'"k{n}": {n}' for n in range(900)) + "}"
    found, after = watched(text, schema={"type": "object", "properties": {"k1": {"type": "integer"}}})
    assert found is not None
    assert "more than 68 fields" in found.reason
    assert after < 900
    assert watched(text[:900] + "}")[0] is None


def test_a_text_far_beyond_its_schema_is_a_loop() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 50}}}
    words = " ".join(str(number) for number in range(5000))
    found, after = watched(json.dumps({"a": words}), schema=schema)
    assert found is not None
    assert after < 700


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=200),
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.text(max_size=12), inner, max_size=8),
    max_leaves=40,
)


@settings(max_examples=300)
@given(
    st.dictionaries(st.text(max_size=12), JSON, max_size=6),
    st.sampled_from([None, 0, 1, 2, 4, 8]),
    st.booleans(),
    st.integers(1, 64),
)
def test_the_watch_is_silent_on_json(value: dict[str, Any], indent: int | None, escaped: bool, piece: int) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=escaped)
    assert watched(text, piece) == (None, len(text))


def test_deep_wide_indentation_is_formatting() -> None:
    value: Any = [1]
    for _ in range(40):
        value = {"a": value}
    assert watched(json.dumps(value, indent=8))[0] is None


@settings(max_examples=100)
@given(st.text(max_size=600), st.integers(1, 64))
def test_the_watch_takes_any_text_in_any_pieces(text: str, piece: int) -> None:
    assert watched(text, piece)[0] == watched(text, 1)[0]


def watched_text(text: str) -> Finding | None:
    watch = TextWatch()
    for start in range(0, len(text), 9):
        found = watch.feed(text[start : start + 9])
        if found is not None:
            return found
    return None


@pytest.mark.parametrize("text", ["I hear you. " * 60, "\n" * 900, "no" * 300, "a b c d e f g " * 80])
def test_text_that_repeats_is_noticed(text: str) -> None:
    found = watched_text(f"You said you would go. {text}")
    assert found is not None
    assert found.kind is FailureKind.REPETITION_LOOP


@pytest.mark.parametrize(
    "text",
    [
        "Well done. Well done. Well done. What now?",
        "| a | b |\n|---|---|\n" + "".join(f"| {n} | {n * n} |\n" for n in range(60)),
        "-" * 80 + "\nA line\n" + "=" * 80,
        " ".join(f"step {n}" for n in range(300)),
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert watched_text(text) is None


def test_the_watch_is_quick() -> None:
    watch = JsonWatch()
    text = json.dumps({"a": [{"b": f"words {n} and more"} for n in range(1500)]})
    assert len(text) > 30_000
    assert watch.feed(text) is None
