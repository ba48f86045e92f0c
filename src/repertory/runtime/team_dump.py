"""A `Team` as the text of a team file that reads back equal."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from pydantic_core import PydanticSerializationError

from repertory.errors import TeamError
from repertory.runtime.team import Team
from repertory.runtime.team_yaml import plain_scalar

__all__ = ("dump_team",)

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*([ ,./()-]{1,2}[A-Za-z0-9_]+)*\.?")
_BREAKING = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")


def dump_team(team: Team) -> str:
    """Write a team as YAML; `parse_team(dump_team(team)) == team`. Settings that have their default are left out.

    Raises:
        TeamError: The team holds what YAML and JSON can not say, such as a Python object in a schema.
    """
    try:
        data = team.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        text = "\n".join(_mapping(_short(data), 0)) + "\n"
    except (PydanticSerializationError, ValueError, TypeError) as error:
        message = f"the team can not be written as YAML: {error}"
        raise TeamError(message, where=team.name) from None
    return text


def _short(data: dict[str, Any]) -> dict[str, Any]:
    """Use the short forms, and put the parts in the order in which one reads them."""
    for agent in cast("dict[str, dict[str, Any]]", data["agents"]).values():
        reads = cast("dict[str, dict[str, Any]]", agent.get("reads", {}))
        agent_reads: dict[str, Any] = {}
        for section, read in reads.items():
            mode = read.get("mode", "latest")
            agent_reads[section] = mode if set(read) <= {"mode"} else {"mode": mode, **read}
        if agent_reads:
            agent["reads"] = agent_reads
        if list(harness := cast("dict[str, Any]", agent.get("harness", {}))) == ["kind"]:
            agent["harness"] = harness["kind"]
    replies = cast("dict[str, Any]", data.pop("replies"))
    reply = {"reply": replies["full"]} if list(replies) == ["full"] else {"replies": replies}
    order = ("name", "description", "deadline_s", "preamble")
    head = {key: data.pop(key) for key in order if key in data}
    return {**head, **reply, **data}


def _mapping(data: Mapping[str, Any], level: int) -> Iterator[str]:
    for key, value in data.items():
        yield from _entry(f"{_string(key)}:", value, level)


def _entry(start: str, value: Any, level: int) -> Iterator[str]:
    indent = "  " * level
    if isinstance(value, dict) and value:
        yield f"{indent}{start}"
        yield from _mapping(cast("dict[str, Any]", value), level + 1)
    elif isinstance(value, list) and any(isinstance(item, dict | list) for item in cast("list[Any]", value)):
        yield f"{indent}{start}"
        for item in cast("list[Any]", value):
            # JSON is YAML, and lists of lists are rare.
            yield f"{indent}  - {_flow(item)}"
    elif isinstance(value, str) and "\n" in value and _fits_block(value):
        keep = "" if value.endswith("\n") else "-"
        yield f"{indent}{start} |{keep}"
        yield from (f"{indent}  {line}" if line else "" for line in value.removesuffix("\n").split("\n"))
    else:
        yield f"{indent}{start} {_flow(value)}"


def _fits_block(text: str) -> bool:
    """Whether a literal block keeps the text as it is."""
    lines = text.removesuffix("\n").split("\n")
    if not lines[0] or not lines[-1] or lines[0][0] in " \t":
        return False
    return not any(line != line.rstrip() or _BREAKING.search(line) for line in lines)


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return "{" + ", ".join(f"{_string(key)}: {_flow(item)}" for key, item in items) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(item) for item in cast("list[Any]", value)) + "]"
    if isinstance(value, str):
        return _string(value)
    return json.dumps(value, allow_nan=False)


def _string(text: str) -> str:
    # A key longer than 1,024 characters must not be plain, and a long line is easier to read quoted.
    if len(text) <= 100 and _PLAIN.fullmatch(text) and isinstance(plain_scalar(text), str) and ", " not in text:
        return text
    escaped = json.dumps(text, ensure_ascii=False)
    return _BREAKING.sub(lambda found: f"\\u{ord(found.group()):04x}", escaped)
