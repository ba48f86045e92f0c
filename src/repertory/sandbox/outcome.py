"""From what came out of a sandbox to the outcome of a call."""

import signal
import time
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from repertory.sandbox.job import Ended, Failure, Outcome
from repertory.sandbox.limits import Limits
from repertory.sandbox.strict_json import NotStrictJsonError, parse_strict

__all__ = ("Account", "outcome_of")

_MAX_WORDS = 2_000


@dataclass
class Account:
    """What was seen of one call.

    Attributes:
        started: When, by the monotonic clock.
        limits: What the call might use.
        wall_s: The time it was given.
        reply: The result as the foreign code's process wrote it.
        output: What was printed.
        end: How the sandbox's own process saw the call end.
        stopped: Why the whole sandbox had to be stopped instead.
        finished: When the last word came.
    """

    started: float
    limits: Limits
    wall_s: float
    reply: bytes | None = None
    output: bytearray = field(default_factory=bytearray)
    end: dict[str, Any] | None = None
    stopped: Literal["late", "gone"] | None = None
    finished: float = field(default_factory=time.monotonic)

    @property
    def clean(self) -> bool:
        """Whether the sandbox is as it was before the call and can do another."""
        return self.end is not None and bool(self.end["clean"])


def outcome_of(account: Account) -> Outcome:
    """Say how a call ended."""
    end = account.end or {}
    ended, value, failure = _verdict(account, end)
    return Outcome(
        ended=ended,
        value=value,
        failure=failure,
        output=account.output.decode("utf-8", "replace"),
        output_cut=bool(end.get("output_cut")),
        wall_s=account.finished - account.started,
        cpu_s=float(end.get("cpu_s", 0)),
        peak_bytes=int(end.get("peak_bytes", 0)),
    )


def _verdict(account: Account, end: dict[str, Any]) -> tuple[Ended, Any, Failure | None]:
    limits = account.limits
    how = account.stopped or end.get("ended")
    if how == "replied" and account.reply is not None:
        return _replied(account.reply)
    if how == "late":
        return "wall_limit", None, Failure("Timeout", f"it took longer than {account.wall_s:g} s")
    if how == "too_long":
        return "result_limit", None, Failure("ResultTooLarge", f"the result is larger than {limits.result_bytes} bytes")
    if how == "too_many_files":
        return "files_limit", None, Failure("TooManyFiles", "it wrote more files or bytes than it may")
    killed_by = end.get("signal")
    if killed_by == signal.SIGXCPU or float(end.get("cpu_s", 0)) >= limits.cpu_s:
        return "cpu_limit", None, Failure("CpuLimit", f"it used more than {limits.cpu_s} s of processor time")
    if how == "broken":
        return "crashed", None, Failure("Crashed", "it wrote to the channel of the result")
    by = f" ({signal.Signals(killed_by).name})" if killed_by and killed_by != signal.SIGKILL else ""
    return "crashed", None, Failure("Crashed", f"the process ended without a result{by}")


def _replied(reply: bytes) -> tuple[Ended, Any, Failure | None]:
    """Read what the process says of itself. It may be anything: foreign code runs in that process."""
    document: Any
    try:
        document = parse_strict(reply)
    except NotStrictJsonError as error:
        return "not_json", None, Failure("ResultNotJson", f"the result is {error}"[:_MAX_WORDS])
    match document:
        case {"value": value} if len(document) == 1:
            return "returned", value, None
        case {"not_json": str(words)} if len(document) == 1:
            return "not_json", None, Failure("ResultNotJson", words[:_MAX_WORDS])
        case {"raised": {"type": str(kind), "message": str(message), "kinds": [*kinds], "traceback": str(trace)}}:
            names = tuple(str(name)[:100] for name in cast("list[object]", kinds)[:20])
            failure = Failure(kind[:100], message[:_MAX_WORDS], names, trace[-8_000:])
            return ("memory_limit" if kind == "MemoryError" else "raised"), None, failure
        case _:
            return "crashed", None, Failure("Crashed", "it wrote to the channel of the result")
