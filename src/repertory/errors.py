"""The one hierarchy of errors that Repertory raises on purpose.

Every error says what was wrong, where it was (for a file: ``path:line:column``) and what to do about it. The command
line prints it without a traceback; `exit_code` is what the process then ends with.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

__all__ = (
    "ContextBudgetError",
    "EngineError",
    "EngineRejectedError",
    "EngineTimeoutError",
    "EngineUnavailableError",
    "HarnessError",
    "ModelStoreError",
    "OutputError",
    "PackageError",
    "RegistryError",
    "RepertoryError",
    "SandboxError",
    "SchemaError",
    "StorageError",
    "StreamError",
    "TeamError",
    "TeamProblem",
    "TurnError",
    "UsageError",
    "VersionConflictError",
)


class RepertoryError(Exception):
    """Base of every error that a user or caller can act on.

    Args:
        message: What was wrong, in one sentence.
        where: The place: a file with line and column, an address, an agent or a section.
        hint: What to do about it.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text}\n  {self.hint}" if self.hint else text


class UsageError(RepertoryError):
    """The caller asked for something that does not exist or does not fit (exit code 2)."""

    exit_code = 2


@dataclass(frozen=True)
class TeamProblem:
    """One thing that is wrong with a team.

    Attributes:
        message: What is wrong, in one sentence.
        line: Line in the team file, from 1; None for a team built in Python.
        column: Column in that line, in characters from 1.
        hint: What to do about it.
        severity: A `warning` does not keep the team from running.
        path: The place inside the team, such as `("agents", "coach", "reads", "shadow")`.
        related: The paths of other places that take part, such as the first of two writers.
        where: The place in words: `file:line:column`, or the path with dots.
        source: The line of the file, made safe for a terminal, and a second line with a caret; None without a file.
    """

    message: str
    line: int | None = None
    column: int | None = None
    hint: str | None = None
    severity: Literal["error", "warning"] = "error"
    path: tuple[str | int, ...] = ()
    related: tuple[tuple[str | int, ...], ...] = ()
    where: str = ""
    source: str | None = None

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        return "\n".join([text, *self.details()])

    def details(self) -> list[str]:
        """The lines that follow the message: the source with its caret, and the hint."""
        lines = [f"    {line}" for line in self.source.split("\n")] if self.source else []
        return [*lines, f"  {self.hint}"] if self.hint else lines


class TeamError(UsageError):
    """A team file or a team built in Python is not valid; `problems` has all that was found."""

    def __init__(
        self,
        message: str,
        *,
        where: str | None = None,
        hint: str | None = None,
        problems: Sequence[TeamProblem] = (),
    ) -> None:
        super().__init__(message, where=where, hint=hint)
        self.problems = tuple(problems)

    @classmethod
    def of(cls, problems: Sequence[TeamProblem]) -> "TeamError":
        """The error that tells all `problems` (at least one), each with its place, source and hint."""
        first, *rest = problems
        if not rest:
            source = [f"    {line}" for line in first.source.split("\n")] if first.source else []
            message = "\n".join([first.message, *source])
            return cls(message, where=first.where or None, hint=first.hint, problems=problems)
        told = "\n".join([first.message, *first.details(), *(str(problem) for problem in rest)])
        return cls(told, where=first.where or None, hint=f"{len(problems)} problems", problems=problems)


class SchemaError(UsageError):
    """A JSON Schema can not be used to ask a model for an answer."""


class ModelStoreError(RepertoryError):
    """A model file could not be fetched, verified or kept."""


class SandboxError(RepertoryError):
    """Foreign code can not be isolated on this host, so it is not run."""


class PackageError(RepertoryError):
    """An agent package is not valid, or is not what was signed; `where` names the file."""


class RegistryError(RepertoryError):
    """A deployed agent could not be found, changed or called."""


class StorageError(RepertoryError):
    """The database could not be opened, read or written."""


class VersionConflictError(StorageError):
    """A section was written by somebody else since it was read (compare-and-set failed)."""


class TurnError(RepertoryError):
    """A turn could not be carried out at all."""


class ContextBudgetError(RepertoryError):
    """A prompt does not fit the instance's context; the message names the biggest parts."""


class EngineError(RepertoryError):
    """An engine did not do what it was asked."""


class EngineUnavailableError(EngineError):
    """Nothing answers at the engine's address, or the engine went away."""


class EngineRejectedError(EngineError):
    """The engine refused the request as it stands; sending it again can not help."""


class EngineTimeoutError(EngineError):
    """The engine was too slow for the request's deadline, or its stream stalled."""


class HarnessError(EngineError):
    """The program that runs an agent (its harness) did not do what it was asked."""


class StreamError(EngineError):
    """A stream broke off, carried an error, or could not be read; nothing of it counts as final."""


class OutputError(RepertoryError):
    """A model's answer is not usable: not valid for its schema, cut off, or looping."""
