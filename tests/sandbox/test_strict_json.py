import pytest

from repertory.sandbox.strict_json import MAX_DEPTH, NotStrictJsonError, dump_strict, parse_strict


@pytest.mark.parametrize(
    "text",
    [
        b"NaN",
        b"[Infinity]",
        b"-Infinity",
        b"1e999",
        b"[-1e400]",
        b'"\\ud800"',
        b'{"\\udfff": 1}',
        b"\xff",
        b"",
        b"{",
        b"1 2",
    ],
)
def test_what_is_no_strict_json_is_not_taken(text: bytes) -> None:
    with pytest.raises(NotStrictJsonError):
        parse_strict(text)


def test_depth_is_bounded_exactly() -> None:
    deepest = b"[" * MAX_DEPTH + b"1" + b"]" * MAX_DEPTH
    assert parse_strict(deepest)
    for levels in (MAX_DEPTH + 1, 100_000):
        with pytest.raises(NotStrictJsonError, match="nested"):
            parse_strict(b"[" * levels + b"1" + b"]" * levels)


def test_a_number_with_too_many_digits_is_not_taken() -> None:
    with pytest.raises(NotStrictJsonError, match="not JSON"):
        parse_strict(b"9" * 1_000_000)


def test_values_come_back_as_they_were() -> None:
    value: dict[str, object] = {"text": "é\0 \U0001f600", "list": [1, -2.5, True, None, 10**30], "": {}}
    assert parse_strict(dump_strict(value)) == value


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, object(), "\ud800", b"x"])
def test_what_is_no_json_value_is_not_written(value: object) -> None:
    with pytest.raises(NotStrictJsonError):
        dump_strict(value)
