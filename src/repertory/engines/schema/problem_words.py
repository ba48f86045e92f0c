"""What a broken rule is called in front of a model: the place, the rule, the limit, and what was found."""

from collections.abc import Callable, Iterable
from typing import Any, cast

from jsonschema.exceptions import ValidationError

from repertory.engines.schema.problems import JsonSchema, Problem, child

__all__ = ("describe",)

_MAX_SHOWN = 60
_MAX_LISTED = 20


def describe(error: ValidationError) -> Problem:
    """One broken rule as a problem with short words; what the model wrote is quoted, cut and on one line."""
    pointer = child("", *error.absolute_path)
    rule = str(error.validator)
    words = _WORDS.get(rule, lambda _error, _limit, _value: f"breaks the rule `{rule}`")
    limit, value = cast("Any", error.validator_value), cast("Any", error.instance)
    return Problem(pointer, rule, f"{pointer or 'the answer'}: {words(error, limit, value)}")


def _quote(value: Any) -> str:
    text = " ".join((value if isinstance(value, str) else _word(value)).split())
    return f'"{text[:_MAX_SHOWN]}..."' if len(text) > _MAX_SHOWN else f'"{text}"'


def _word(value: Any) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _list(values: Iterable[Any]) -> str:
    shown = [_word(value) for value in values]
    return ", ".join(shown[:_MAX_LISTED]) + (", ..." if len(shown) > _MAX_LISTED else "")


_KINDS = {
    "object": "an object",
    "array": "a list",
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}


def _kinds(kinds: Any) -> str:
    listed = cast("list[str]", kinds) if isinstance(kinds, list) else [str(kinds)]
    return " or ".join(_KINDS.get(kind, kind) for kind in listed)


def _branches(branches: list[JsonSchema]) -> str:
    words: list[str] = []
    for branch in branches:
        if "enum" in branch:
            words.append(f"one of {_list(branch['enum'])}")
        elif "const" in branch:
            words.append(_word(branch["const"]))
        elif "type" in branch:
            words.append(_kinds(branch["type"]))
    return " or ".join(dict.fromkeys(words)) or "one of the allowed forms"


def _missing(_error: ValidationError, limit: Any, value: Any) -> str:
    missing = [name for name in limit if name not in value]
    return f"the field {_list(missing)} is missing" if len(missing) == 1 else f"fields missing: {_list(missing)}"


def _unknown(error: ValidationError, _limit: Any, value: Any) -> str:
    known = cast("JsonSchema", error.schema).get("properties", {})
    return (
        f"has fields that are not asked for: {', '.join(_quote(name) for name in list(value)[:8] if name not in known)}"
    )


_WORDS: dict[str, Callable[[ValidationError, Any, Any], str]] = {
    "type": lambda _, limit, value: f"must be {_kinds(limit)}, not {_quote(value)}",
    "enum": lambda _, limit, value: f"must be one of {_list(limit)}; {_quote(value)} is not",
    "const": lambda _, limit, __: f"must be {_word(limit)}",
    "required": _missing,
    "additionalProperties": _unknown,
    "maxLength": lambda _, limit, value: f"has {len(value)} characters, at most {limit} are allowed; write it shorter",
    "minLength": lambda _, limit, value: f"has {len(value)} characters, at least {limit} are needed",
    "maxItems": lambda _, limit, value: f"has {len(value)} items, at most {limit} are allowed",
    "minItems": lambda _, limit, value: f"has {len(value)} items, at least {limit} are needed",
    "minProperties": lambda _, limit, value: f"has {len(value)} fields, at least {limit} are needed",
    "maxProperties": lambda _, limit, value: f"has {len(value)} fields, at most {limit} are allowed",
    "minimum": lambda _, limit, value: f"must be at least {limit}, not {_quote(value)}",
    "exclusiveMinimum": lambda _, limit, value: f"must be more than {limit}, not {_quote(value)}",
    "maximum": lambda _, limit, value: f"must be at most {limit}, not {_quote(value)}",
    "exclusiveMaximum": lambda _, limit, value: f"must be less than {limit}, not {_quote(value)}",
    "multipleOf": lambda _, limit, value: f"must be a multiple of {limit}, not {_quote(value)}",
    "pattern": lambda _, limit, value: f"{_quote(value)} does not have the form {limit}",
    "uniqueItems": lambda _, __, ___: "holds the same item twice",
    "anyOf": lambda _, limit, __: f"must be {_branches(limit)}",
    "oneOf": lambda _, limit, __: f"must be exactly one of: {_branches(limit)}",
}
