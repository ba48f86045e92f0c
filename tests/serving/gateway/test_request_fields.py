import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertory.serving.gateway.request_fields import BodyError, read_fields

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), VALUES, max_size=6), st.sampled_from([None, 1, "\t"]), st.booleans())
def test_every_member_is_found_as_json_reads_it(
    value: dict[str, object], indent: int | str | None, ascii_only: bool
) -> None:
    body = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    fields = read_fields(body)
    assert {name: fields.value(name) for name in fields.spans if "\ufffd" not in name} == {
        name: item for name, item in value.items() if name in fields.spans and "\ufffd" not in name
    }
    assert len(fields.spans) == len(value)


@given(st.dictionaries(st.text("abc", min_size=1), VALUES, max_size=4), VALUES)
def test_a_replaced_member_changes_nothing_else(rest: dict[str, object], value: object) -> None:
    before = {"model": "x" * 7, **rest}
    fields = read_fields(json.dumps(before).encode()).with_value("model", json.dumps(value).encode())
    assert json.loads(fields.body) == before | {"model": value}
    assert {name: fields.value(name) for name in fields.spans} == before | {"model": value}
    more = fields.with_member(b'"added":true')
    assert json.loads(more.body) == {"added": True, **before, "model": value}
    assert more.value("model") == value


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'"text"',
        b"{",
        b'{"a"}',
        b'{"a":}',
        b'{"a":1,}',
        b'{"a":1}{"model":"other"}',
        b'{"a":1 "b":2}',
        b'{"a":[1,2}',
        b'{"a":"open}',
        b"{'a':1}",
        b'{"a":' + b"[" * 500 + b"]" * 500 + b"}",
        b'{"a":"' + b'\\"' * 200_000,
        b'{"a":' + b'["' * 100_000,
    ],
)
def test_what_is_no_object_is_refused(body: bytes) -> None:
    with pytest.raises(BodyError):
        read_fields(body)


@pytest.mark.parametrize("second", [b'"model"', b'"mod\\u0065l"'])
def test_a_second_model_is_refused_however_it_is_spelt(second: bytes) -> None:
    with pytest.raises(BodyError, match="given twice"):
        read_fields(b'{"model":"allowed",' + second + b':"forbidden"}')


def test_a_quoted_model_inside_the_prompt_is_not_the_model() -> None:
    body = json.dumps({"messages": [{"content": '"model": "other", {"stream": true}'}], "model": "right"}).encode()
    fields = read_fields(body)
    assert fields.value("model") == "right"
    assert "stream" not in fields.spans
