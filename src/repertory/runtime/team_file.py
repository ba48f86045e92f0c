"""Team files: YAML to `Team` and back, with every mistake told at its line and column."""

import stat
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from repertory.errors import TeamError, TeamProblem
from repertory.runtime.team import Team
from repertory.runtime.team_checks import check_team
from repertory.runtime.team_dump import dump_team
from repertory.runtime.team_file_schema import team_file_schema
from repertory.runtime.team_shape import KEY, TeamPath, shape_team
from repertory.runtime.team_yaml import Entry, Node, Scalar, read_yaml
from repertory.runtime.yaml_events import YamlProblem, YamlSyntaxError
from repertory.spelling import printable

__all__ = (
    "MAX_BYTES",
    "TeamReport",
    "dump_team",
    "inspect_team_file",
    "inspect_team_text",
    "load_team",
    "parse_team",
    "team_file_schema",
)

MAX_BYTES = 1024 * 1024
"""The largest team file that is read."""

_EXCERPT = 100


class TeamReport(NamedTuple):
    """What was found in a team file: the team when it has no error, and all problems, warnings too, in file order."""

    team: Team | None
    problems: list[TeamProblem]


def load_team(path: str | Path) -> Team:
    """Read a team from its YAML file.

    Raises:
        TeamError: The file can not be read or is not a valid team; the error tells all problems with their lines.
    """
    return _team_of(inspect_team_file(path))


def parse_team(text: str, *, file: str = "team.yaml") -> Team:
    """Read a team from YAML text; `file` is the name that errors carry.

    Raises:
        TeamError: The text is not a valid team.
    """
    return _team_of(inspect_team_text(text, file=file))


def _team_of(report: TeamReport) -> Team:
    if report.team is None:
        raise TeamError.of([problem for problem in report.problems if problem.severity == "error"])
    return report.team


def inspect_team_file(
    path: str | Path, code_sections: Collection[str] = (), *, context_tokens: int | None = None
) -> TeamReport:
    """Read a team file and tell everything about it; see `check_team` for the arguments."""
    file = printable(str(path))
    text, problem = _read_text(Path(path))
    if problem is not None:
        where = f"{file}:{problem.line}:{problem.column}" if problem.line else file
        return TeamReport(None, [replace(problem, where=where)])
    return inspect_team_text(text, file=file, code_sections=code_sections, context_tokens=context_tokens)


def _read_text(path: Path) -> tuple[str, TeamProblem | None]:
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            return "", TeamProblem("this is a folder, not a team file", hint="name the YAML file in it")
        if not stat.S_ISREG(status.st_mode):
            return "", TeamProblem("this is not a regular file")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return "", TeamProblem("there is no such file", hint=_neighbours(path))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return "", TeamProblem(f"the file can not be read: {reason}")
    if len(data) > MAX_BYTES:
        return "", TeamProblem(f"the file is larger than {MAX_BYTES // 1024} KiB", hint="a team file is text, not data")
    try:
        return data.decode("utf-8"), None
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        line, column = _line_and_column(before, len(before))
        message = f"the file is not UTF-8: byte 0x{data[error.start]:02X} does not fit"
        return "", TeamProblem(message, line=line, column=column, hint="save it as UTF-8")


def _neighbours(path: Path) -> str | None:
    """The team files that do stand in that folder."""
    try:
        names = sorted(other.name for other in path.parent.iterdir() if other.suffix in (".yaml", ".yml"))[:8]
    except (OSError, ValueError):
        return None
    return f"in that folder: {printable(', '.join(names))}" if names else None


def inspect_team_text(
    text: str,
    *,
    file: str = "team.yaml",
    code_sections: Collection[str] = (),
    context_tokens: int | None = None,
) -> TeamReport:
    """Read a team from YAML text and tell everything about it; see `check_team` for the arguments."""
    source = _Source(text.removeprefix("﻿"), file)
    try:
        root, found = read_yaml(source.text)
    except YamlSyntaxError as error:
        return TeamReport(None, [source.place_yaml(error.problem)])
    problems = [source.place_yaml(problem) for problem in found]
    if root is None or root.content is None:
        empty = YamlProblem(0, "the file is empty", "start with `name:`; docs/how-to/own-team.md has a whole team")
        return TeamReport(None, [source.place_yaml(empty)])
    if not isinstance(root.content, dict):
        wrong = YamlProblem(root.index, "a team file is a mapping of keys to values", "start with `name: my_team`")
        return TeamReport(None, [*problems, source.place_yaml(wrong)])
    places = _places(root)
    shape = shape_team(_plain_mapping(root.content))
    for path, found in shape.moved.items():
        inside = [(place[len(found) :], at) for place, at in places.items() if place[: len(found)] == found]
        places |= {(*path, *rest): at for rest, at in inside}
    problems.extend(source.place(problem, places) for problem in shape.problems)
    if shape.team is not None:
        checked = check_team(shape.team, code_sections, context_tokens=context_tokens)
        # A team that was mended by guess is good for errors; its warnings could come from the guess.
        kept = [problem for problem in checked if not shape.problems or problem.severity == "error"]
        problems.extend(source.place(problem, places) for problem in kept)
    problems.sort(key=lambda problem: (problem.line or 0, problem.column or 0))
    valid = all(problem.severity == "warning" for problem in problems)
    return TeamReport(shape.team if valid else None, problems)


@dataclass(frozen=True)
class _Place:
    """Where a path stands: the index of its key (None for an item of a list) and of its value.

    `scalar`: the value is one word or number; one that is left out stands nowhere.
    """

    key: int | None
    value: int
    scalar: bool


def _places(root: Node) -> dict[TeamPath, _Place]:
    places: dict[TeamPath, _Place] = {}

    def walk(node: Node, key: int | None, path: TeamPath) -> None:
        places[path] = _Place(key, node.index, isinstance(node.content, str | int | float))
        if isinstance(node.content, dict):
            for name, entry in node.content.items():
                walk(entry.value, entry.index, (*path, name))
        elif isinstance(node.content, list):
            for number, item in enumerate(node.content):
                walk(item, None, (*path, number))

    walk(root, None, ())
    # The short forms: `reply: answer` stands for `replies: {full: answer}`, `critique: fresh` for `{mode: fresh}`,
    # `harness: acp` for `{kind: acp}`.
    if ("reply",) in places and ("replies",) not in places:
        places["replies",] = places["replies", "full"] = places["reply",]
    for path, place in list(places.items()):
        if len(path) == 4 and path[2] == "reads" and place.scalar:
            places[*path, "mode"] = place
        if len(path) == 3 and path[2] == "harness" and place.scalar:
            places[*path, "kind"] = place
    return places


def _plain(node: Node) -> Any:
    if isinstance(node.content, dict):
        return _plain_mapping(node.content)
    if isinstance(node.content, list):
        return [_plain(item) for item in node.content]
    scalar: Scalar = node.content
    return scalar


def _plain_mapping(entries: dict[str, Entry]) -> dict[str, Any]:
    return {name: _plain(entry.value) for name, entry in entries.items()}


def _line_and_column(text: str, index: int) -> tuple[int, int]:
    """Line and column, both from 1; a line ends with a line feed, as editors count."""
    start = text.rfind("\n", 0, index) + 1
    return text.count("\n", 0, index) + 1, index - start + 1


@dataclass(frozen=True)
class _Source:
    text: str
    file: str

    def place_yaml(self, problem: YamlProblem) -> TeamProblem:
        message = problem.message
        if problem.related is not None:
            message += f" (first in line {_line_and_column(self.text, problem.related)[0]})"
        return self._at(TeamProblem(message, hint=problem.hint), problem.index)

    def place(self, problem: TeamProblem, places: dict[TeamPath, _Place]) -> TeamProblem:
        """Give a problem its line, column and excerpt."""
        if problem.related:
            others = (self._index(path, places) for path in problem.related)
            spots = (":".join(map(str, _line_and_column(self.text, index))) for index in others)
            problem = replace(problem, message=f"{problem.message} (see also {', '.join(spots)})")
        index = self._index(problem.path, places)
        path = problem.path[:-1] if problem.path[-1:] == (KEY,) else problem.path
        return self._at(replace(problem, path=path), index)

    def _index(self, path: TeamPath, places: dict[TeamPath, _Place]) -> int:
        """The index of the text that a path stands for, or of what it should stand in."""
        by_key = path[-1:] == (KEY,)
        path = path[:-1] if by_key else path
        # The model's own name of a key that must be unknown is kept apart by a blank; see `team_shape`.
        path = (*path[:-1], path[-1].strip()) if path and isinstance(path[-1], str) else path
        exact = path in places
        while path not in places:
            path = path[:-1]
        place = places[path]
        # A read is named by its key; so is what is incomplete or larger than one scalar.
        is_read = len(path) == 4 and path[2] == "reads"
        if place.key is None or (place.scalar and exact and not is_read and not by_key):
            return place.value
        return place.key

    def _at(self, problem: TeamProblem, index: int) -> TeamProblem:
        line, column = _line_and_column(self.text, index)
        where = f"{self.file}:{line}:{column}"
        # Messages may quote the file: keys, types, schema keywords.
        message, hint = printable(problem.message), printable(problem.hint or "") or None
        source = self._excerpt(index)
        return replace(problem, message=message, hint=hint, line=line, column=column, where=where, source=source)

    def _excerpt(self, index: int) -> str | None:
        start = self.text.rfind("\n", 0, index) + 1
        end = self.text.find("\n", index)
        line = self.text[start : end if end >= 0 else len(self.text)].rstrip()
        if not line:
            return None
        column = index - start
        left = max(0, column - _EXCERPT // 2)
        shown = line[left : left + _EXCERPT].replace("\t", " ")
        return f"{printable(shown)}\n{' ' * (column - left)}^"
