"""What is run in the sandbox, and how it ended."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from repertory.sandbox.limits import Limits

__all__ = ("Ended", "Entry", "Failure", "FunctionCall", "HostCallError", "HostFunction", "Job", "Outcome", "Script")


@dataclass(frozen=True)
class FunctionCall:
    """A call of one function of one module of the files. An `async` function is awaited.

    Attributes:
        module: The module, such as `tools` for the file `tools.py`.
        function: The function's name.
        kwargs: Its arguments by name; JSON values.
        args: Its arguments by place; JSON values.
    """

    module: str
    function: str
    kwargs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    args: Sequence[Any] = ()


@dataclass(frozen=True)
class Script:
    """A file that is run as `__main__`. Its value is its exit code."""

    path: str
    argv: Sequence[str] = ()


Entry = FunctionCall | Script

HostFunction = Callable[..., Any]
"""A function of ours that the code may call with `repertory_host.call(name, *args, **kwargs)`: JSON in, JSON out.

What it is given comes from foreign code. It raises `HostCallError` for what that code is to see.
"""


class HostCallError(Exception):
    """What the code in the sandbox is told when a host function fails: a built-in exception of this kind."""

    def __init__(self, message: str, *, kinds: Sequence[str] = ("RuntimeError",)) -> None:
        super().__init__(message)
        self.kinds = tuple(kinds)


@dataclass(frozen=True)
class Job:
    """Something to run once in a sandbox of its own.

    Attributes:
        files: Path below the package folder to content. The code can read them and not change them.
        entry: What to run.
        limits: What it may use.
        host: Functions of ours that the code may call.
    """

    files: Mapping[str, str | bytes]
    entry: Entry
    limits: Limits = field(default_factory=Limits)
    host: Mapping[str, HostFunction] = field(default_factory=dict[str, HostFunction])


Ended = Literal[
    "returned",
    "raised",
    "wall_limit",
    "cpu_limit",
    "memory_limit",
    "result_limit",
    "files_limit",
    "not_json",
    "crashed",
]


@dataclass(frozen=True)
class Failure:
    """Why there is no value.

    Attributes:
        type: The exception's class, or one of our own words: `Timeout`, `CpuLimit`, `MemoryLimit`, `ResultTooLarge`,
            `TooManyFiles`, `ResultNotJson`, `Crashed`.
        message: In words.
        kinds: The exception's class and its base classes, nearest first.
        traceback: The frames of the code, without those of the sandbox.
    """

    type: str
    message: str
    kinds: tuple[str, ...] = ()
    traceback: str = ""


@dataclass(frozen=True)
class Outcome:
    """How a call ended.

    Attributes:
        ended: In which way. Only `returned` has a value.
        value: The JSON value that the code returned. It comes from foreign code: check it before use.
        failure: Why there is no value.
        output: What was printed, to both streams.
        output_cut: Whether more was printed than was kept.
        wall_s: Real time, seen from outside.
        cpu_s: Processor time of the process; 0 when it is not known.
        peak_bytes: Most memory the process held; 0 when it is not known.
    """

    ended: Ended
    value: Any = None
    failure: Failure | None = None
    output: str = ""
    output_cut: bool = False
    wall_s: float = 0.0
    cpu_s: float = 0.0
    peak_bytes: int = 0

    @property
    def ok(self) -> bool:
        """Whether there is a value."""
        return self.ended == "returned"
