"""From a model's text to a JSON object, strictly: nothing is mended, nothing is guessed."""

import json
import math
import re
from typing import Any, cast

__all__ = ("AnswerSyntaxError", "clean_text", "parse_answer")

_FENCED = re.compile(r"```(?:json|JSON)?[ \t]*\n(?P<body>.*)\n[ \t]*```", re.DOTALL)
_UNUSABLE = re.compile("[\x00\ud800-\udfff]")
_MAX_DIGITS = 300
"""A whole number longer than this does not even fit a floating-point number's range."""


class AnswerSyntaxError(ValueError):
    """A text is not one JSON object."""


def clean_text(text: str) -> str:
    """Without NUL and lone surrogates, which neither a database nor an encoder takes."""
    return _UNUSABLE.sub("", text)


def parse_answer(text: str) -> dict[str, Any]:
    """Read one JSON object, alone in the text or alone in one Markdown fence.

    Duplicate keys, NaN, infinite numbers and anything before or after the object are refused; NUL and lone surrogates
    are taken out of keys and texts.

    Raises:
        AnswerSyntaxError: It is not one; the message says why, in words for the model.
    """
    body = text.strip(" \t\r\n\ufeff")
    fenced = _FENCED.fullmatch(body)
    if fenced and "```" not in fenced["body"]:
        body = fenced["body"].strip()
    try:
        value = json.loads(
            body,
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_float=_float,
            parse_int=_int,
        )
        value = _clean(value)
    except AnswerSyntaxError:
        raise
    except RecursionError:
        raise AnswerSyntaxError("the answer is nested too deeply") from None
    except json.JSONDecodeError as error:
        near = " ".join(body[max(0, error.pos - 20) : error.pos + 20].split())
        message = f"the answer is not valid JSON: {error.msg} at character {error.pos}, near {near!r}"
        raise AnswerSyntaxError(message) from None
    if not isinstance(value, dict):
        raise AnswerSyntaxError("the answer is not a JSON object")
    return cast("dict[str, Any]", value)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        name = clean_text(key)
        if name in found:
            message = f"the field {name[:60]!r} is written twice in one object"
            raise AnswerSyntaxError(message)
        found[name] = value
    return found


def _refuse_constant(name: str) -> None:
    message = f"{name} is not a JSON number"
    raise AnswerSyntaxError(message)


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        message = f"the number {text[:20]} is too large"
        raise AnswerSyntaxError(message)
    return value


def _int(text: str) -> int:
    if len(text) > _MAX_DIGITS:
        message = f"the number {text[:20]}... has too many digits"
        raise AnswerSyntaxError(message)
    return int(text)


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [_clean(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {key: _clean(item) for key, item in cast("dict[str, Any]", value).items()}
    return value
