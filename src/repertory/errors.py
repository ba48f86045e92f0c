"""The one hierarchy of errors that Repertory raises on purpose.

Every error says what was wrong, where it was (for a file: ``path:line:column``) and what to do about it. The command
line prints it without a traceback; `exit_code` is what the process then ends with.
"""

from typing import ClassVar

__all__ = (
    "ContextBudgetError",
    "EngineError",
    "EngineRejectedError",
    "EngineTimeoutError",
    "EngineUnavailableError",
    "ModelStoreError",
    "OutputError",
    "RepertoryError",
    "StorageError",
    "StreamError",
    "TeamError",
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


class TeamError(UsageError):
    """A team file or a team built in Python is not valid."""


class ModelStoreError(RepertoryError):
    """A model file could not be fetched, verified or kept."""


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


class StreamError(EngineError):
    """A stream broke off, carried an error, or could not be read; nothing of it counts as final."""


class OutputError(RepertoryError):
    """A model's answer is not usable: not valid for its schema, cut off, or looping."""
