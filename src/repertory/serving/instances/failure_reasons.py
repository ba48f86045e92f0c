"""Why an engine ended, in words: its log is matched against a table of what engines say (`failure_reasons.toml`).

The table is data: a new message of an engine is a new entry there, with a real line of a log as its test.
"""

import functools
import re
import signal
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from repertory.engines.failures import shorten

__all__ = ("FailurePattern", "FailureReason", "failure_patterns", "find_reason")

_UNITS = {"b": 2**-30, "kib": 2**-20, "kb": 2**-20, "mib": 2**-10, "mb": 2**-10, "gib": 1.0, "gb": 1.0}
"""Engines print 1024-based sizes under both names."""
_LINE_PREFIX = re.compile(r"^(?:\([\w.-]+ (?:pid=)?\d+\)\s*)+|^\x1b\[[\d;]*m")
_SPEAKS_OF_ERRORS = re.compile(
    r"\b(?:error|exception|failed|fatal|abort(?:ed)?|terminate called|not supported)\b", re.IGNORECASE
)


class FailurePattern(BaseModel):
    """One entry of the table.

    Attributes:
        code: Stable short name of the reason.
        find: Regular expression; the groups `need`, `free` and `limit` with `need_unit` ... are sizes.
        permanent: Starting the same command again can not help.
        says: The reason in words; `{need}`, `{free}`, `{missing}` and other groups are put in.
        advice: What to change.
        rank: Of several matches the lowest wins; engines print causes and their consequences.
        unit: Of sizes that stand without one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: Annotated[str, Field(pattern=r"^[a-z_]+$")]
    engine: Literal["vllm", "llama.cpp", "any"] = "any"
    find: re.Pattern[str]
    permanent: bool = False
    says: str
    advice: str
    rank: int = 5
    unit: str = "gib"

    @field_validator("find", mode="before")
    @classmethod
    def _compile(cls, value: object) -> object:
        return re.compile(value) if isinstance(value, str) else value


@dataclass(frozen=True)
class FailureReason:
    """Why an engine ended.

    Attributes:
        message: In one sentence.
        advice: What to do about it.
        permanent: Whether starting it again unchanged is useless.
        missing_gib: Memory that was missing, where the engine told enough to know.
        line: The line of the log.
    """

    code: str
    message: str
    advice: str
    permanent: bool = False
    missing_gib: float | None = None
    line: str = ""


@functools.cache
def failure_patterns() -> tuple[FailurePattern, ...]:
    """The table."""
    text = resources.files("repertory.serving.instances").joinpath("failure_reasons.toml").read_text("utf-8")
    return tuple(FailurePattern.model_validate(entry) for entry in tomllib.loads(text)["reason"])


def find_reason(
    lines: Sequence[str], engine: str, exit_code: int | None, *, free_gib: float | None = None
) -> FailureReason:
    """The reason that the end of a log gives.

    Args:
        lines: The last lines of the log, of one launch.
        engine: The engine, whose entries are looked at beside the general ones.
        exit_code: How the process ended; negative for a signal, None when that is not known.
        free_gib: What was free before the start, for engines that do not tell it themselves.
    """
    found: list[tuple[int, int, FailureReason]] = []
    patterns = [pattern for pattern in failure_patterns() if pattern.engine in (engine, "any")]
    for number, raw in enumerate(lines):
        line = _LINE_PREFIX.sub("", raw)
        for pattern in patterns:
            match = pattern.find.search(line)
            if match is not None:
                found.append((pattern.rank, number, _reason(pattern, match, line, free_gib)))
                break
    if found:
        return min(found, key=lambda item: (item[0], item[1]))[2]
    return _by_exit(lines, exit_code)


def _reason(pattern: FailurePattern, match: re.Match[str], line: str, free_gib: float | None) -> FailureReason:
    groups = {name: value or "" for name, value in match.groupdict().items()}
    sizes = {
        name: _gib(groups[name], groups.get(f"{name}_unit", pattern.unit))
        for name in ("need", "free")
        if name in groups
    }
    words = {name: shorten(value, 120) for name, value in groups.items() if not name.endswith("_unit")}
    words |= {name: _size(size) for name, size in sizes.items()}
    missing = sizes["need"] - sizes["free"] if len(sizes) == 2 else None
    words["missing"] = _size(max(missing, 0.0)) if missing is not None else ""
    words["up_to"] = f" ({words['possible']} would fit)" if words.get("possible") else ""
    message = pattern.says.format(**words)
    if pattern.code == "out_of_memory" and "free" not in sizes and free_gib is not None:
        message += f"; {_size(free_gib)} were free before the start"
        if sizes.get("need", 0.0) > free_gib:
            missing = sizes["need"] - free_gib
            message += f", so at least {_size(missing)} are missing"
    return FailureReason(
        code=pattern.code,
        message=message,
        advice=pattern.advice.format(**words),
        permanent=pattern.permanent,
        missing_gib=round(missing, 3) if missing is not None else None,
        line=shorten(line),
    )


def _gib(number: str, unit: str) -> float:
    return float(number.replace(",", "")) * _UNITS[unit.lower()]


def _size(gib: float) -> str:
    return f"{gib:.2f} GiB" if gib >= 0.1 else f"{gib * 1024:.2f} MiB"


def _by_exit(lines: Sequence[str], exit_code: int | None) -> FailureReason:
    """The reason when no entry matches: how the process ended, and the last line that speaks of an error."""
    speaking = [line for line in lines if _SPEAKS_OF_ERRORS.search(line)]
    said = shorten(_LINE_PREFIX.sub("", speaking[-1])) if speaking else ""
    if exit_code == -signal.SIGKILL:
        return FailureReason(
            "killed",
            "it was killed (SIGKILL): memory of the machine may have run out, or somebody ended it",
            "look at `dmesg` for `Out of memory`; a smaller context or model needs less",
            line=said,
        )
    if exit_code == -signal.SIGILL:
        return FailureReason(
            "illegal_instruction",
            "it uses an instruction that this processor does not have, or that its build gets wrong (SIGILL)",
            "use the embedded llama.cpp, or a build for this processor; for llama-server try --no-repack",
            permanent=True,
            line=said,
        )
    how = "it ended"
    if exit_code is not None:
        how = f"it was ended by {_signal_name(-exit_code)}" if exit_code < 0 else f"it ended with exit code {exit_code}"
    return FailureReason("ended", f"{how}: {said}" if said else how, "its log has the details", line=said)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
