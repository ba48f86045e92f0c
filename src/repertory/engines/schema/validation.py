"""Whether a value satisfies a schema, and if not, why, in words that a model can act on."""

from collections.abc import Iterable, Iterator
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from repertory.engines.schema.problem_words import describe
from repertory.engines.schema.problems import JsonSchema, Problem

__all__ = ("META_SCHEMA", "validate")

META_SCHEMA: JsonSchema = dict(Draft202012Validator.META_SCHEMA)
"""The schema of schemas."""

_MAX_PROBLEMS = 8


def validate(value: object, schema: JsonSchema, *, at_most: int = _MAX_PROBLEMS) -> list[Problem]:
    """What in `value` breaks `schema` (Draft 2020-12; formats are not checked), the first `at_most` problems.

    A value too deep or too odd for the rules to be applied is reported as a problem of the whole value.
    """
    found: dict[tuple[str, str], Problem] = {}
    try:
        for error in _leaves(_errors(value, schema)):
            problem = describe(error)
            found.setdefault((problem.pointer, problem.rule), problem)
            if len(found) >= at_most:
                break
    except (RecursionError, OverflowError):
        return [Problem("", "size", "the answer is too deeply nested or holds a number that is too large")]
    return list(found.values())


def _errors(value: object, schema: JsonSchema) -> Iterator[ValidationError]:
    validator: Any = Draft202012Validator(schema)  # its stubs know no `object` value
    return validator.iter_errors(value)


def _leaves(errors: Iterable[ValidationError]) -> Iterator[ValidationError]:
    """The errors that say something: of an `anyOf`, those of the branch the value was closest to."""
    for error in errors:
        if error.validator in ("anyOf", "oneOf") and error.context:
            yield from _closest(error)
        else:
            yield error


def _closest(error: ValidationError) -> Iterator[ValidationError]:
    branches: dict[int, list[ValidationError]] = {}
    for inner in error.context or ():
        branches.setdefault(int(inner.schema_path[0]), []).append(inner)
    fitting = {
        index: inner for index, inner in branches.items() if not any(_is_of_another_kind(one, error) for one in inner)
    }
    if len(fitting) == 1:
        yield from _leaves(next(iter(fitting.values())))
    else:
        yield error


def _is_of_another_kind(inner: ValidationError, outer: ValidationError) -> bool:
    """Whether a branch fails because the value is of another type or is another constant than the branch is about."""
    if inner.validator in ("type", "enum", "const"):
        at_top = len(inner.absolute_path) == len(outer.absolute_path)
        return at_top or inner.validator == "const"
    return False
