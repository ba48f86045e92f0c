"""Notices an engine that runs on but no longer answers."""

import time

from repertory.serving.instances.failure_reasons import FailureReason
from repertory.serving.instances.readiness import is_healthy

__all__ = ("HealthWatch",)


class HealthWatch:
    """Asks one engine for its health now and then.

    Args:
        every_s: Pause between two questions.
        limit_s: How long it may stay without an answer; engines that are busy answer late.
    """

    def __init__(self, every_s: float, limit_s: float) -> None:
        self._every_s = every_s
        self._limit_s = limit_s
        self._asked_at = float("-inf")
        self._silent_since: float | None = None

    async def check(self, url: str, api_key: str | None) -> FailureReason | None:
        """The failure, when there is one; None as long as it answers or has not been silent for too long."""
        now = time.monotonic()
        if now - self._asked_at < self._every_s:
            return None
        self._asked_at = now
        if await is_healthy(url, api_key):
            self._silent_since = None
            return None
        if self._silent_since is None:
            self._silent_since = now
        if time.monotonic() - self._silent_since < self._limit_s:
            return None
        return FailureReason("unhealthy", f"it has not answered for {self._limit_s:.0f} s", "its log has the details")
