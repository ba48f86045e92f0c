"""From plain data to a `Team`: what pydantic finds wrong, said with the words and hints of the team file."""

import copy
import json
from typing import Any, NamedTuple, cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from repertory.errors import TeamProblem
from repertory.runtime.harness.kinds import HarnessKind
from repertory.runtime.harness.settings import ACP_PROGRAMS, HarnessSettings
from repertory.runtime.team import Agent, Read, Replies, Section, Team
from repertory.spelling import nearest, quoted

__all__ = ("KEY", "Shape", "TeamPath", "shape_team")

TeamPath = tuple[str | int, ...]

KEY = "[key]"
"""As the last part of a path: the key itself is meant, not its value (pydantic's own mark)."""


class Shape(NamedTuple):
    """A team read from data.

    Attributes:
        team: The team, with what was wrong in it mended by guess where that changes no read or write; None when not.
        problems: What was wrong with the data; the team counts only when this is empty.
        moved: Where a value was found that was mended to stand at another path (a misspelt key).
    """

    team: Team | None
    problems: list[TeamProblem]
    moved: dict[TeamPath, TeamPath] = {}  # noqa: RUF012  (a NamedTuple's default; never changed)


def shape_team(data: dict[str, Any]) -> Shape:
    """Read a team from plain data, such as a file holds.

    When the data is wrong in a place that does not touch who reads and writes what, the team is returned all the same,
    so that the rules between its parts can be checked too and a user is told everything at once.
    """
    data, problems = _expand(copy.deepcopy(data))
    try:
        return Shape(_validate(data), problems)
    except ValidationError as error:
        details = error.errors(include_url=False)
    mendable = True
    moved: dict[TeamPath, TeamPath] = {}
    for detail in _without_consequences(details):
        problems.append(_problem(detail, data))
    for detail in sorted(details, key=lambda detail: detail["type"] != "extra_forbidden"):
        mendable = _mend(data, detail, moved) and mendable
    if not mendable:
        return Shape(None, problems)
    data, _ = _expand(data)  # the short forms under what was a misspelt key
    try:
        return Shape(_validate(data), problems, moved)
    except ValidationError:
        return Shape(None, problems)


def _validate(data: dict[str, Any]) -> Team:
    # Strict, so that text is never taken for a number; as JSON, so that text is taken for an enumeration's member.
    return Team.model_validate_json(json.dumps(data), strict=True)


def _expand(data: dict[str, Any]) -> tuple[dict[str, Any], list[TeamProblem]]:
    """Write out the short forms: `reply: answer` and `reads: {critique: fresh}`."""
    problems: list[TeamProblem] = []
    if "reply" in data:
        reply = data.pop("reply")
        if "replies" in data:
            hint = "keep one of them: `reply` for one reply, `replies` for a first and a full one"
            problems.append(TeamProblem("both `reply` and `replies` are given", path=("reply", KEY), hint=hint))
        else:
            data["replies"] = {"full": reply}
    agents = data.get("agents")
    for agent in cast("dict[str, Any]", agents).values() if isinstance(agents, dict) else ():
        reads = cast("dict[str, Any]", agent).get("reads") if isinstance(agent, dict) else None
        if isinstance(reads, dict):
            for section, read in cast("dict[str, Any]", reads).items():
                if isinstance(read, str):
                    reads[section] = {"mode": read}
        if isinstance(agent, dict) and isinstance(harness := cast("dict[str, Any]", agent).get("harness"), str):
            agent["harness"] = {"kind": harness}
    sections = data.get("sections")
    for section in cast("dict[str, Any]", sections).values() if isinstance(sections, dict) else ():
        if isinstance(section, dict) and "json_schema" in section:
            # The model's own name for it; a file has one word for it, so this one must be unknown.
            section["json_schema "] = cast("dict[str, Any]", section).pop("json_schema")
    return data, problems


_FIELDS: tuple[tuple[TeamPath, type[Any]], ...] = (
    ((), Team),
    (("sections", "*"), Section),
    (("agents", "*"), Agent),
    (("agents", "*", "reads", "*"), Read),
    (("agents", "*", "harness"), HarnessSettings),
    (("replies",), Replies),
)

_MEANT = {
    "prompt": "instructions", "system": "instructions", "system_prompt": "instructions", "role": "instructions",
    "output": "writes", "outputs": "writes", "write": "writes", "input": "reads", "inputs": "reads", "read": "reads",
    "max_tokens": "max_output_tokens", "max_output": "max_output_tokens", "max_input": "max_input_tokens",
    "json_schema": "schema", "type": "text", "blackboard": "sections", "section": "sections", "agent": "agents",
    "timeout": "deadline_s", "deadline": "deadline_s", "within": "within_s", "missing": "on_missing",
    "context": "preamble", "title": "name", "id": "name",
}  # fmt: skip
"""Words that users of other tools reach for."""


def _keys(path: TeamPath) -> list[str]:
    """The keys that may stand in the mapping at `path`."""
    for pattern, model in _FIELDS:
        if len(pattern) == len(path) and all(p in ("*", part) for p, part in zip(pattern, path, strict=True)):
            return [field.serialization_alias or name for name, field in model.model_fields.items()] + ["reply"] * (
                not path
            )
    return []


def _suggestion(key: str, path: TeamPath) -> str | None:
    keys = _keys(path)
    meant = _MEANT.get(key.lower())
    return meant if meant in keys else nearest(key, keys)


def _location(detail: ErrorDetails) -> TeamPath:
    """The error's path, without the mark of a key."""
    path = detail["loc"]
    return path[:-1] if path and path[-1] == KEY else path


def _without_consequences(details: list[ErrorDetails]) -> list[ErrorDetails]:
    """Leave out `writes is missing` where `wrties` stands: the unknown key says it already."""
    meant = {
        (*path[:-1], guess)
        for detail in details
        if detail["type"] == "extra_forbidden" and (path := detail["loc"])
        and (guess := _suggestion(str(path[-1]).strip(), path[:-1]))
    }  # fmt: skip
    if ("reply",) in meant:
        meant.add(("replies",))
    return [d for d in details if not (d["type"] == "missing" and d["loc"] in meant)]


def _problem(detail: ErrorDetails, data: dict[str, Any]) -> TeamProblem:
    path = _location(detail)
    kind = detail["type"]
    last = str(path[-1]).strip() if path else "the file"
    if kind == "extra_forbidden":
        return _unknown_key(path, last)
    if kind == "missing":
        hint = _MISSING_HINTS.get(last)
        owner = f"{_SINGULAR[str(path[0])]} {quoted(str(path[1]))} has no" if len(path) == 3 else "the team has no"
        return TeamProblem(f"{owner} `{last}`", path=path, hint=hint)
    if kind == "string_pattern_mismatch":
        hint = "lower-case letters, digits and `_`, a letter first, at most 40"
        return TeamProblem(f"{quoted(_text_at(detail))} can not be a name", path=detail["loc"], hint=hint)
    if kind == "enum" or last in _CHOICES:
        return _not_a_choice(path, last, detail["input"])
    if kind in ("string_too_short", "too_short"):
        return TeamProblem(f"`{last}` is empty", path=path, hint=_MISSING_HINTS.get(last))
    if kind in _LIMITS:
        limit = next(iter(detail.get("ctx", {"limit": "?"}).values()))
        message = f"`{last}` is {detail['input']}, but must be {_LIMITS[kind]} {limit:g}"
        return TeamProblem(message, path=path, hint=_RANGE_HINTS.get(last))
    return _wrong_type(path, last, kind, detail, data)


def _text_at(detail: ErrorDetails) -> str:
    return str(detail["input"])


_SINGULAR = {"agents": "agent", "sections": "section"}
_MISSING_HINTS = {
    "name": "add `name: my_team`",
    "preamble": "add `preamble:` with the words that every agent's prompt starts with",
    "sections": "add `sections:` with the parts of the blackboard",
    "agents": "add `agents:` with at least one agent",
    "replies": "add `reply:` with the name of the text section that the person sees",
    "instructions": "say what this agent does: `instructions: |` and the text below it",
    "writes": "name the section that this agent writes: `writes: answer`",
}
_LIMITS = {
    "greater_than": "more than", "greater_than_equal": "at least", "less_than": "less than",
    "less_than_equal": "at most",
}  # fmt: skip
_RANGE_HINTS = {"temperature": "0 is the most repeatable; 0.2 suits most agents"}
_TYPES = {
    "string_type": ("text", "quote it"),
    "bool_type": ("true or false", "YAML 1.2 has no yes, no, on or off: write true or false, without quotes"),
    "int_type": ("a whole number", "write it without quotes"),
    "int_from_float": ("a whole number", "leave out the decimals"),
    "float_type": ("a number", "write it without quotes"),
    "tuple_type": ("a list of texts", "write it as `[first, second]`"),
    "dict_type": ("a mapping of keys to values", None),
    "model_type": ("a mapping of keys to values", None),
    "model_attributes_type": ("a mapping of keys to values", None),
}
_MAPPING_HINTS = {
    "harness": "write `harness: claude-code`, or `harness: {kind: command, command: [python3, /path/agent.py]}`",
    "reads": "write each section with how it is read: `reads: {critique: fresh, memory: latest}`",
    "replies": "write `reply: answer`, or `replies: {first: hello, full: answer}`",
    "sections": "write each section's name, and below it `text: true` or `schema:`",
    "agents": "write each agent's name, and below it `instructions:`, `writes:` and `reads:`",
    "schema": "write a JSON Schema: `{type: object, properties: {...}}`",
    "draft_schema": "write a JSON Schema: `{type: object, properties: {...}}`",
}


def _wrong_type(path: TeamPath, last: str, kind: str, detail: ErrorDetails, data: dict[str, Any]) -> TeamProblem:
    expected, hint = _TYPES.get(kind, (None, None))
    if expected is None:
        return TeamProblem(f"`{last}`: {quoted(detail['msg'], 160)[1:-1]}", path=path)
    given = _shown(detail["input"])
    if kind == "int_type" and isinstance(detail["input"], float):
        hint = "leave out the decimals"
    if detail["input"] is None:
        hint = _MISSING_HINTS.get(last)
    if kind in ("dict_type", "model_type", "model_attributes_type"):
        hint = _MAPPING_HINTS.get(last) or _MAPPING_HINTS.get(str(path[-2]) if len(path) > 1 else "")
        if path in ((), ("replies", "full")) or (len(path) == 4 and path[2] == "reads"):
            hint = "write `fresh`, `latest`, or `{mode: fresh, within_s: 30}`" if len(path) == 4 else hint
    if path == ("replies", "full") and "reply" not in data:
        hint = "name one text section"
    return TeamProblem(f"`{last}` must be {expected}, not {given}", path=path, hint=hint)


def _shown(value: object) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {value}"
        case str():
            return f"the text {quoted(value)}"
        case list():
            return "a list"
        case _:
            return "a mapping"


def _unknown_key(path: TeamPath, last: str) -> TeamProblem:
    guess = _suggestion(last, path[:-1])
    keys = ", ".join(_keys(path[:-1]))
    hint = f"did you mean `{guess}`?" if guess else f"known here: {keys}"
    if last.lower() in ("model", "engine", "checkpoint", "instance"):
        hint = "a team does not name its models; the plan or `--model` says who is played by what"
    return TeamProblem(f"the key {quoted(last)} is unknown", path=(*path, KEY), hint=hint)


_CHOICES = {
    "mode": ["fresh", "latest"],
    "on_missing": ["latest", "skip", "fail"],
    "kind": [kind.value for kind in HarnessKind],
    "program": list(ACP_PROGRAMS),
    "context": ["text", "json"],
}


def _not_a_choice(path: TeamPath, last: str, value: object) -> TeamProblem:
    choices = _CHOICES.get(last, [])
    if path[-2:] == ("harness", "kind"):
        last = "harness"  # mostly it is written short
    close = nearest(value, choices) if isinstance(value, str) else None
    hint = f"did you mean `{close}`?" if close else f"write {' or '.join(f'`{choice}`' for choice in choices)}"
    given = quoted(value) if isinstance(value, str) else _shown(value)
    return TeamProblem(f"`{last}` can not be {given}", path=path, hint=hint)


_PLACEHOLDERS: dict[str, Any] = {"name": "unnamed", "preamble": "-", "instructions": "-"}
_OPTIONAL = frozenset(
    ("description", "deadline_s", "draft_schema", "max_output_tokens", "max_input_tokens", "temperature", "thinking",
     "max_thinking_tokens", "harness", "agent")
)  # fmt: skip


def _mend(data: dict[str, Any], detail: ErrorDetails, moved: dict[TeamPath, TeamPath]) -> bool:
    """Take the mistake out of `data`; False when that would change who reads and writes what."""
    path = _location(detail)
    if path[2:3] == ("harness",) and detail["type"] != "extra_forbidden":
        data["agents"][path[1]].pop("harness", None)  # who runs an agent changes no read or write
        return True
    if not path or path != detail["loc"] or len(path) not in (1, 3):
        return False
    owner: Any = data
    for part in path[:-1]:
        owner = owner[part]
    last = str(path[-1])
    if detail["type"] == "extra_forbidden":
        value = owner.pop(last)
        guess = _suggestion(last.strip(), path[:-1])
        if guess == "reply":
            owner.setdefault("replies", {"full": value})
            moved["replies", "full"] = path
        elif guess and guess not in owner:
            owner[guess] = value
            moved[*path[:-1], guess] = (*path[:-1], last.strip())
        return True
    if last in _PLACEHOLDERS and path[0] != "sections":
        owner[last] = _PLACEHOLDERS[last]
        return True
    if detail["type"] == "missing":
        # Already there when an unknown key was taken for it; then it counts.
        return last in owner
    if last in _OPTIONAL:
        owner.pop(last, None)
        return True
    return False
