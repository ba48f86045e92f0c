"""JSON from foreign code: whole, finite, shallow, and Unicode, or not taken at all."""

import json
import math
from typing import Any, NoReturn, cast

__all__ = ("MAX_DEPTH", "NotStrictJsonError", "dump_strict", "parse_strict")

MAX_DEPTH = 100
"""How deep lists and objects may be nested; what reads the value later is recursive."""


class NotStrictJsonError(ValueError):
    """The text or value is not JSON that we take; the message says why."""


def parse_strict(data: bytes) -> Any:
    """Read a JSON text in UTF-8.

    Raises:
        NotStrictJsonError: It is not JSON, or too deep, or holds NaN, an infinity, or half a surrogate pair.
    """
    try:
        value = json.loads(data.decode("utf-8"), parse_constant=_no_constant, parse_float=_finite)
    except RecursionError:
        raise NotStrictJsonError(_too_deep()) from None
    except NotStrictJsonError:
        raise
    except ValueError as error:  # includes text that is not UTF-8 and integers with thousands of digits
        message = f"not JSON: {error}"
        raise NotStrictJsonError(message) from None
    _check(value)
    return value


def dump_strict(value: object) -> bytes:
    """Write a value as JSON in UTF-8.

    Raises:
        NotStrictJsonError: It is not a JSON value, or one that `parse_strict` would not take.
    """
    try:
        data = json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except RecursionError:
        raise NotStrictJsonError(_too_deep()) from None
    except (TypeError, ValueError) as error:
        message = f"not a JSON value: {error}"
        raise NotStrictJsonError(message) from None
    parse_strict(data)
    return data


def _no_constant(word: str) -> NoReturn:
    message = f"{word} is not a JSON number"
    raise NotStrictJsonError(message)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        message = f"the number {text[:40]} is too large"
        raise NotStrictJsonError(message)
    return number


def _too_deep() -> str:
    return f"nested deeper than {MAX_DEPTH} levels"


def _check(value: object) -> None:
    """Refuse too deep nesting and lone surrogates, without recursion."""
    level: list[object] = [value]
    depth = 0
    while level:
        below: list[object] = []
        for item in level:
            if isinstance(item, str):
                _check_text(item)
            elif isinstance(item, dict):
                for key, inner in cast("dict[str, object]", item).items():
                    _check_text(key)
                    below.append(inner)
            elif isinstance(item, list):
                below.extend(cast("list[object]", item))
        depth += 1
        # The innermost values themselves are no level of nesting.
        if depth > MAX_DEPTH + 1:
            raise NotStrictJsonError(_too_deep())
        level = below


def _check_text(text: str) -> None:
    if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        message = "a text holds half of a surrogate pair"
        raise NotStrictJsonError(message)
