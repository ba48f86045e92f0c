"""JSON as it is kept: strict, with Unicode as it is, in text that every database accepts."""

import json
import re
from typing import Any, cast

from repertory.errors import StorageError

__all__ = ("dump_json", "load_json", "storable_json")

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def _check_keys(value: object, place: str) -> None:
    """Refuse object keys that are not text: `json` would turn them into text silently."""
    if isinstance(value, dict):
        for key, item in cast("dict[object, object]", value).items():
            if not isinstance(key, str):
                message = f"an object key is not text: {key!r}"
                raise StorageError(message, where=place)
            _check_keys(item, place)
    elif isinstance(value, list | tuple):
        for item in cast("list[object]", value):
            _check_keys(item, place)


def storable_json(text: str) -> str:
    """Escape what UTF-8 can not hold in a JSON text (lone surrogates); NUL is always an escape in JSON already."""
    return _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def dump_json(value: object, *, place: str) -> str:
    """Write a value as strict JSON text.

    Args:
        value: Any JSON value; tuples are written as arrays.
        place: What the value is, for the error.

    Raises:
        StorageError: It is not a JSON value (NaN, infinities, keys that are not text, other types, too deep).
    """
    try:
        _check_keys(value, place)
        return storable_json(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))
    except (TypeError, ValueError, RecursionError) as error:
        message = f"not a JSON value: {error}"
        raise StorageError(message, where=place) from error


def load_json(text: str) -> Any:
    """Read a value that `dump_json` wrote.

    Raises:
        StorageError: The text is no JSON, so something else wrote it.
    """
    try:
        return json.loads(text)
    except ValueError as error:
        message = f"a kept value is damaged: {error}"
        raise StorageError(message, hint="put a copy of the database back") from error
