import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertory.errors import StorageError
from repertory.storage.json_text import dump_json, load_json

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@given(json_values)
def test_any_json_value_comes_back_as_it_was(value: Any) -> None:
    assert load_json(dump_json(value, place="here")) == value


@given(st.text(alphabet=st.sampled_from(["\x00", "\ud800", "\udfff", "a", "é", "\U0001f600"])))
def test_what_databases_refuse_is_escaped(text: str) -> None:
    written = dump_json({"text": text}, place="here")
    assert "\x00" not in written
    assert written.encode("utf-8")
    # A high and a low surrogate side by side are one character; anything else comes back as it was.
    assert load_json(written)["text"].encode("utf-16", "surrogatepass") == text.encode("utf-16", "surrogatepass")


def test_unicode_stays_readable() -> None:
    assert dump_json("你好 👋", place="here") == '"你好 👋"'


def _cycle() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, -math.inf, {"a": [math.nan]}, {1: "a"}, {"a": {None: 1}}, {1, 2}, b"a", object(), _cycle()],
    ids=lambda value: type(value).__name__,
)
def test_what_is_not_json_is_refused_with_its_place(value: object) -> None:
    with pytest.raises(StorageError) as error:
        dump_json(value, place="section shadow")
    assert error.value.where == "section shadow"


def test_too_deep_is_refused() -> None:
    value: Any = 1
    for _ in range(100_000):
        value = [value]
    with pytest.raises(StorageError):
        dump_json(value, place="here")


def test_tuples_are_arrays() -> None:
    assert json.loads(dump_json({"a": (1, 2)}, place="here")) == {"a": [1, 2]}


def test_text_that_is_no_json_is_told_in_words() -> None:
    with pytest.raises(StorageError, match="damaged"):
        load_json("{bad")
