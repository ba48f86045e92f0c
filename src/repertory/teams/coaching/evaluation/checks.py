"""Carrying out a check: the value at a path of a finished turn, held against what is wanted."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, cast

from repertory.runtime.turn_result import TurnResult
from repertory.teams.coaching.evaluation.scenario import Check
from repertory.teams.coaching.words import word_count

__all__ = ("MISSING", "evaluate_check", "shown_text", "value_at")


class _Missing:
    def __repr__(self) -> str:
        return "(nothing)"


MISSING = _Missing()
"""There is no such value: the section was not written, or has no such field."""

_MAX_TEXT = 20_000
# How an item of a list is named by one word.
_NAMES = ("move", "id", "what", "goal", "name", "topic")


def shown_text(result: TurnResult) -> str:
    """Everything the person saw in a turn."""
    return "\n\n".join(part for part in (result.first_reply, result.reply) if part)


def value_at(result: TurnResult, agent: str, path: str) -> Any:
    """The value a check is about; `MISSING` when there is none."""
    return _follow(_root(result, agent), path.split("."))


def _root(result: TurnResult, agent: str) -> Any:
    match agent:
        case "system":
            return {"safety": asdict(result.safety), "status": result.status, "reason": result.reason}
        case "coach":
            return {"reply": _text(result.first_reply)}
        case "synth":
            merge = result.merge
            unfounded = [claim.id for claim in merge.claims if not claim.evidence]
            return {
                **asdict(merge),
                "conflicts": [asdict(conflict) for conflict in merge.conflicts],
                "claims_without_evidence": len(unfounded),
                "reply": _text(shown_text(result)),
            }
        case _:
            section = result.sections.get(agent)
            value: Any = MISSING if section is None or section.value is None else section.value
            return value


def _text(text: str) -> dict[str, Any]:
    """A text that a path may stop at or look into (`reply.words`)."""
    return {"": text, "words": word_count(text)}


def _follow(value: Any, path: Sequence[str]) -> Any:
    for part in path:
        if isinstance(value, Mapping):
            value = cast("Mapping[str, Any]", value).get(part, MISSING)
        elif isinstance(value, list | tuple) and part.isdigit():
            items = cast("Sequence[Any]", value)
            value = items[int(part)] if int(part) < len(items) else MISSING
        else:
            return MISSING
    text = cast("Mapping[str, Any]", value).get("") if isinstance(value, Mapping) else None
    return cast("Any", value) if text is None else text


def _names(value: Any) -> list[Any]:
    """The items of a list, each also by the word that names it."""
    found: list[Any] = []
    for item in cast("Sequence[Any]", value) if isinstance(value, list | tuple) else [value]:
        found.append(item)
        if isinstance(item, Mapping):
            of_item = cast("Mapping[str, Any]", item)
            found += [of_item[name] for name in _NAMES if name in of_item]
    return found


def _has(value: Any, wanted: Any) -> bool:
    if isinstance(value, str):
        return str(wanted).casefold() in value.casefold()
    return value is not MISSING and wanted in _names(value)


def _is_empty(value: Any) -> bool:
    return value is MISSING or value is None or value in ("", [], (), {})


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _width(value: Any) -> float | None:
    """The width of an estimate with `low` and `high`, or of a pair."""
    if isinstance(value, Mapping):
        bounds = cast("Mapping[str, Any]", value)
        low, high = _number(bounds.get("low")), _number(bounds.get("high"))
    elif isinstance(value, list | tuple) and len(cast("Sequence[Any]", value)) == len(("low", "high")):
        low, high = (_number(item) for item in cast("Sequence[Any]", value))
    else:
        return None
    return None if low is None or high is None else high - low


def evaluate_check(check: Check, result: TurnResult, ids: Mapping[str, str]) -> tuple[bool, Any]:
    """Whether a check holds, and what was found.

    Args:
        check: The check.
        result: The turn of the message it comes after.
        ids: The scenario's message ids -> those of the run.
    """
    found = value_at(result, check.agent, check.path)
    return _holds(check.op, found, _translated(check.value, ids)), found


def _translated(wanted: Any, ids: Mapping[str, str]) -> Any:
    if isinstance(wanted, str):
        return ids.get(wanted, wanted)
    if isinstance(wanted, list):
        return [_translated(item, ids) for item in cast("list[Any]", wanted)]
    return wanted


def _holds(op: str, found: Any, wanted: Any) -> bool:
    match op:
        case "eq":
            return found is not MISSING and found == wanted
        case "ne":
            return found is not MISSING and found != wanted
        case "in":
            return found is not MISSING and found in wanted
        case "contains":
            return _has(found, wanted)
        case "not_contains":
            return not _has(found, wanted)
        case "exists":
            return not _is_empty(found)
        case "absent":
            return _is_empty(found)
        case "regex" | "not_regex":
            text = "" if found is MISSING else str(found)[:_MAX_TEXT]
            hit = re.search(wanted, text, re.IGNORECASE) is not None
            # A reply that was never given keeps no rule about what it says.
            return found is not MISSING and hit is (op == "regex")
        case _:
            return _compares(op, found, wanted)


def _compares(op: str, found: Any, wanted: Any) -> bool:
    number = _width(found) if op == "width_ge" else _number(found)
    if number is None:
        return False
    match op:
        case "between":
            return wanted[0] <= number <= wanted[1]
        case "le":
            return number <= wanted
        case _:
            return number >= wanted
