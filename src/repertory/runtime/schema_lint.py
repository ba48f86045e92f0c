"""Problems of the JSON Schemas in a team, each with its path in the team."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from repertory.errors import TeamProblem

__all__ = ("lint_model_schema", "lint_stored_schema")


def lint_model_schema(schema: Mapping[str, Any], path: tuple[str | int, ...]) -> Iterator[TeamProblem]:
    """Problems of a schema that a model's answer is held to: it must be a schema, and one that engines can enforce."""
    # Loaded when needed: a team whose sections are all text does not pay for it.
    from repertory.engines.schema import lint_schema  # noqa: PLC0415

    broken = list(lint_stored_schema(schema, path))
    yield from broken
    if broken:
        return
    for problem in lint_schema(dict(schema)):
        if problem.severity != "note":
            place = (*path, *_steps(problem.pointer))
            yield TeamProblem(problem.message, path=place, hint=problem.hint or None, severity=problem.severity)


def lint_stored_schema(schema: Mapping[str, Any], path: tuple[str | int, ...]) -> Iterator[TeamProblem]:
    """Problems of a schema that only values from the team's code are held to: it must be a JSON Schema."""
    import jsonschema  # noqa: PLC0415

    meta: Any = jsonschema.Draft202012Validator(jsonschema.Draft202012Validator.META_SCHEMA)
    for error in meta.iter_errors(dict(schema)):
        place = (*path, *error.absolute_path)
        yield TeamProblem(f"not a JSON Schema: {_said(error)}", path=place, hint=_HINTS.get(str(place[-1])))


_HINTS = {
    "type": "the types are object, array, string, number, integer, boolean and null",
    "properties": "write each field's name, and below it its schema: `mood: {type: string}`",
    "required": "write a list of field names: `required: [mood]`",
    "items": "write the schema of one item: `items: {type: string}`",
    "enum": "write a list: `enum: [low, high]`",
}


def _said(error: Any) -> str:
    keyword = str(error.absolute_path[-1]) if error.absolute_path else "schema"
    if keyword == "type" and isinstance(error.instance, str):
        return f"`{error.instance[:60]}` is not a type"
    expected = error.validator_value if error.validator == "type" else None
    if isinstance(expected, str | list):
        names = [expected] if isinstance(expected, str) else cast("list[object]", expected)
        return f"`{keyword[:60]}` must be {' or '.join(map(str, names))}"
    return f"`{keyword[:60]}`: {str(error.message)[:160]}"


def _steps(pointer: str) -> Iterator[str | int]:
    for step in pointer.split("/")[1:]:
        plain = step.replace("~1", "/").replace("~0", "~")
        yield int(plain) if plain.isascii() and plain.isdigit() and len(plain) < 6 else plain
