"""An absolute point in time by which something must be done, on the event loop's own clock."""

import math

import anyio

from repertory.errors import EngineTimeoutError

__all__ = ("Deadline",)


class Deadline:
    """Counts from its creation.

    Args:
        seconds: How long there is; None for no limit.
    """

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._start = anyio.current_time()
        self._end = math.inf if seconds is None else self._start + seconds

    @property
    def remaining_s(self) -> float:
        """Seconds left, never below zero; infinite without a limit."""
        return max(0.0, self._end - anyio.current_time())

    @property
    def elapsed_s(self) -> float:
        """Seconds since the start."""
        return anyio.current_time() - self._start

    def check(self, what: str, *, where: str | None = None) -> None:
        """Raise when the time is over.

        Raises:
            EngineTimeoutError: The deadline has passed.
        """
        if self.remaining_s <= 0:
            raise self.error(what, where=where)

    def error(self, what: str, *, where: str | None = None) -> EngineTimeoutError:
        """The error that says the time was over while `what`."""
        return EngineTimeoutError(f"the deadline of {self.seconds:g} s passed while {what}", where=where)
