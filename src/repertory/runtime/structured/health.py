"""What is known of one instance's constrained decoding, from the calls so far."""

import time
from collections import Counter
from collections.abc import Callable

from repertory.runtime.structured.failures import FailureKind

__all__ = ("GrammarHealth",)

_FAULTS = frozenset(
    {
        FailureKind.ENGINE_ERROR,
        FailureKind.STREAM_BROKEN,
        FailureKind.GRAMMAR_WHITESPACE_LOOP,
    }
)
"""Failures of a constrained call that constrained decoding itself is likely to have caused."""


class GrammarHealth:
    """A circuit breaker: after three constrained calls in a row that failed in the engine, none is sent for a while.

    Calls then ask for JSON in words, and our own validation does the rest. Keep one per instance.

    Args:
        faults: How many in a row open it.
        rest_s: Seconds until a constrained call is tried again.
        clock: Monotonic seconds.

    Attributes:
        refused: Schema keywords that this server has refused although its profile lists them.
        counts: How often each kind of failure was seen.
    """

    def __init__(self, *, faults: int = 3, rest_s: float = 60.0, clock: Callable[[], float] = time.monotonic) -> None:
        self.refused: set[str] = set()
        self.counts: Counter[FailureKind] = Counter()
        self._faults = faults
        self._rest_s = rest_s
        self._clock = clock
        self._in_a_row = 0
        self._opened_at: float | None = None

    @property
    def usable(self) -> bool:
        """Whether a constrained call should be sent."""
        return self._opened_at is None or self._clock() - self._opened_at >= self._rest_s

    def record(self, kind: FailureKind | None, *, grammar: bool) -> None:
        """Take the outcome of one attempt; None is a usable answer."""
        if kind is not None:
            self.counts[kind] += 1
        if not grammar:
            return
        if kind in _FAULTS:
            self._in_a_row += 1
            if self._in_a_row >= self._faults:
                self._opened_at = self._clock()
        else:
            self._in_a_row, self._opened_at = 0, None
