import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertory.runtime.structured import AnswerSyntaxError, parse_answer


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('  \n{"a": 1}\n', {"a": 1}),
        ('\ufeff{"a": 1}', {"a": 1}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('```\n{"a": 1}\n```\n', {"a": 1}),
        ('{"a": "\\ud83d\\ude00 ü"}', {"a": "😀 ü"}),
        ('{"a": "x\\ud83dy\\u0000z"}', {"a": "xyz"}),
        ('{"a\\u0000": ["\\udfff"]}', {"a": [""]}),
        ("{}", {}),
    ],
)
def test_an_object_is_read(text: str, value: dict[str, Any]) -> None:
    assert parse_answer(text) == value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not valid JSON"),
        ('{"a": 1', "not valid JSON"),
        ('{"a": 1,}', "not valid JSON"),
        ("{'a': 1}", "not valid JSON"),
        ('{"a": 1} {"b": 2}', "not valid JSON"),
        ('Here: {"a": 1}', "not valid JSON"),
        ('{"a": 1} // done', "not valid JSON"),
        ('```json\n{"a": 1}\n```\n```json\n{"b": 1}\n```', "not valid JSON"),
        ('{"a": "line\nbreak"}', "not valid JSON"),
        ('{"a": 1, "a": 2}', "written twice"),
        ('{"a": 1, "a\\u0000": 2}', "written twice"),
        ('{"b": {"a": 1, "a": 2}}', "written twice"),
        ('{"a": NaN}', "not a JSON number"),
        ('{"a": -Infinity}', "not a JSON number"),
        ('{"a": 1e999}', "too large"),
        ('{"a": ' + "9" * 500 + "}", "too many digits"),
        ('{"a": ' + "9" * 5000 + "}", "too many digits"),
        ("[1]", "not a JSON object"),
        ('"text"', "not a JSON object"),
        ("null", "not a JSON object"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
    ],
)
def test_everything_else_is_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(AnswerSyntaxError, match=words):
        parse_answer(text)


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(text: str) -> None:
    refused: AnswerSyntaxError | None = None
    try:
        value = parse_answer(text)
    except AnswerSyntaxError as error:
        refused, value = error, {}
    assert len(str(refused)) < 300
    assert json.loads(json.dumps(value)) == value


@given(st.dictionaries(st.text(alphabet="abc", max_size=3), st.text(max_size=50) | st.integers(-9, 9), max_size=4))
def test_what_was_dumped_is_read_back(value: dict[str, Any]) -> None:
    clean = {key: text.replace("\0", "") if isinstance(text, str) else text for key, text in value.items()}
    assert parse_answer(json.dumps(value, ensure_ascii=False)) == clean
    assert parse_answer(json.dumps(value)) == clean
