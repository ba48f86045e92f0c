"""Scenario files: YAML to scenarios, with mistakes told at their line and column."""

from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from repertory.errors import UsageError
from repertory.runtime.team_yaml import Entry, Node, read_yaml
from repertory.runtime.yaml_events import YamlSyntaxError
from repertory.spelling import printable
from repertory.teams.coaching.evaluation.scenario import ScenarioFile

__all__ = ("built_in_scenarios", "load_scenarios", "parse_scenarios")

MAX_BYTES = 2 * 1024 * 1024
_HINT = "docs/how-to/evaluate.md describes the format"


def built_in_scenarios() -> ScenarioFile:
    """The scenarios that come with the package."""
    data = resources.files("repertory.teams.coaching.evaluation") / "data" / "scenarios.yaml"
    return parse_scenarios(data.read_text(encoding="utf-8"), file="built-in scenarios")


def load_scenarios(path: Path) -> ScenarioFile:
    """Read a scenario file.

    Raises:
        UsageError: It can not be read, or is not a scenario file; tells line and column.
    """
    place = printable(str(path))
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        message = f"the scenario file can not be read: {error.strerror or error}"
        raise UsageError(message, where=place) from None
    if len(data) > MAX_BYTES:
        message = f"the file is larger than {MAX_BYTES // 1024} KiB"
        raise UsageError(message, where=place, hint="split it")
    try:
        return parse_scenarios(data.decode("utf-8"), file=place)
    except UnicodeDecodeError:
        raise UsageError("the file is not UTF-8", where=place, hint="save it as UTF-8") from None


def parse_scenarios(text: str, *, file: str) -> ScenarioFile:
    """Read scenarios from YAML text.

    Raises:
        UsageError: It is not a scenario file.
    """
    try:
        root, problems = read_yaml(text)
    except YamlSyntaxError as error:
        raise _at(text, file, error.problem.index, error.problem.message, error.problem.hint) from None
    if root is None:
        raise UsageError("the file is empty", where=file, hint=_HINT)
    if problems:
        raise _at(text, file, problems[0].index, problems[0].message, problems[0].hint)
    try:
        return ScenarioFile.model_validate(_plain(root))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = ".".join(str(part) for part in first["loc"])
        more = error.error_count() - 1
        no_mapping = first["type"] in ("model_type", "dict_type")
        told = "a mapping of keys to values belongs here" if no_mapping else first["msg"].removeprefix("Value error, ")
        message = f"{path}: {told}" if path else told
        hint = f"{more} more mistakes; {_HINT}" if more else _HINT
        raise _at(text, file, _index(root, first["loc"]), printable(message), hint) from None


def _at(text: str, file: str, index: int, message: str, hint: str | None) -> UsageError:
    before = text[:index]
    line, column = before.count("\n") + 1, index - (before.rfind("\n") + 1) + 1
    return UsageError(message, where=f"{file}:{line}:{column}", hint=hint)


def _plain(node: Node) -> Any:
    match node.content:
        case list():
            return [_plain(item) for item in node.content]
        case dict():
            return {key: _plain(entry.value) for key, entry in node.content.items()}
        case _:
            return node.content


def _index(root: Node, path: tuple[int | str, ...]) -> int:
    """Where the deepest part of the path that the file has stands."""
    node, index = root, root.index
    for part in path:
        match node.content:
            case list() if isinstance(part, int) and part < len(node.content):
                node = node.content[part]
                index = node.index
            case dict() if isinstance(part, str) and part in node.content:
                entry: Entry = node.content[part]
                node, index = entry.value, entry.index
            case _:
                break
    return index
