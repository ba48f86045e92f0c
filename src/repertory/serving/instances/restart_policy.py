"""When an instance that ended is started again, when it is given up, and when a long start is no longer believed."""

from dataclasses import dataclass, field

__all__ = ("LoadProgress", "LoadWatch", "RestartHistory", "RestartPolicy")


@dataclass(frozen=True)
class RestartPolicy:
    """How restarts are spaced.

    Attributes:
        first_s: Pause before the first restart; each further one is twice as long.
        longest_s: The longest pause.
        limit: Failures in a row after which the instance is given up.
        stable_s: An instance that was ready for so long has proven itself; what went wrong before is forgotten.
        stalled_s: A start that shows no sign of work for so long is ended.
        start_limit_s: A start may not take longer, whatever it shows.
    """

    first_s: float = 1.0
    longest_s: float = 60.0
    limit: int = 5
    stable_s: float = 600.0
    stalled_s: float = 300.0
    start_limit_s: float = 7200.0


@dataclass
class RestartHistory:
    """The failures of one instance. Times are of one clock that only goes forward."""

    policy: RestartPolicy
    failures: int = 0
    _ready_at: float | None = field(default=None, repr=False)

    def ready(self, now: float) -> None:
        """The instance answered."""
        self._ready_at = now

    def failed(self, now: float, *, permanent: bool = False) -> float | None:
        """The instance ended. Returns the pause before the next start, or None to give up.

        A failure that the same command must meet again is final, unless the command has worked before: then what
        changed is outside, and may change back.
        """
        if self._ready_at is not None and now - self._ready_at >= self.policy.stable_s:
            self.failures = 0
        worked = self._ready_at is not None
        self.failures += 1
        if self.failures >= self.policy.limit or (permanent and not worked):
            return None
        return min(self.policy.longest_s, self.policy.first_s * 2 ** (self.failures - 1))

    def forget(self) -> None:
        """Somebody asked for a new try."""
        self.failures = 0
        self._ready_at = None


@dataclass(frozen=True)
class LoadProgress:
    """Signs of work of an engine that starts: each only grows."""

    log_bytes: int = 0
    cpu_s: float = 0.0
    read_bytes: int = 0


@dataclass
class LoadWatch:
    """Tells a slow load, which shows signs of work, from one that hangs."""

    policy: RestartPolicy
    started: float
    _seen: LoadProgress = field(default_factory=LoadProgress)
    _moved: float | None = None

    def judge(self, now: float, progress: LoadProgress) -> str | None:
        """Why the start is to be ended; None as long as it is believed."""
        moved = (
            progress.log_bytes > self._seen.log_bytes
            or progress.cpu_s > self._seen.cpu_s + 0.5
            or progress.read_bytes > self._seen.read_bytes + 1_000_000
        )
        if moved or self._moved is None:
            self._seen, self._moved = progress, now
        if now - self.started > self.policy.start_limit_s:
            return f"it was not ready after {self.policy.start_limit_s:.0f} s"
        if now - self._moved > self.policy.stalled_s:
            return f"it did nothing for {self.policy.stalled_s:.0f} s while it started"
        return None
