"""Requests and tokens per minute, per key."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from repertory.serving.api_keys import Caller

__all__ = ("RateLimits",)


@dataclass
class _Bucket:
    """Refills steadily up to one minute's worth; may go below zero, since tokens are only known afterwards."""

    per_minute: int
    level: float
    at: float

    def refill(self, now: float) -> None:
        self.level = min(float(self.per_minute), self.level + (now - self.at) * self.per_minute / 60)
        self.at = now

    def wait_s(self, wanted: float) -> float:
        return max(0.0, (wanted - self.level) * 60 / self.per_minute)


class RateLimits:
    """The limits of all keys. They are kept in this process: two gateways each grant the whole limit.

    Args:
        now: A clock in seconds that never goes back.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._requests: dict[str, _Bucket] = {}
        self._tokens: dict[str, _Bucket] = {}

    def admit(self, caller: Caller) -> float:
        """Count a request in; or the seconds to wait until one is allowed, and then it is not counted."""
        tokens = self._bucket(self._tokens, caller, caller.tokens_per_minute)
        requests = self._bucket(self._requests, caller, caller.requests_per_minute)
        wait_s = max(
            tokens.wait_s(1.0) if tokens else 0.0,
            requests.wait_s(1.0) if requests else 0.0,
        )
        if wait_s == 0.0 and requests is not None:
            requests.level -= 1
        return wait_s

    def spend(self, caller: Caller, tokens: int) -> None:
        """Take the tokens of a finished request off; what goes below zero is waited for by the next."""
        bucket = self._bucket(self._tokens, caller, caller.tokens_per_minute)
        if bucket is not None:
            bucket.level -= tokens

    def _bucket(self, buckets: dict[str, _Bucket], caller: Caller, per_minute: int | None) -> _Bucket | None:
        if per_minute is None:
            return None
        now = self._now()
        bucket = buckets.get(caller.key_id)
        if bucket is None or bucket.per_minute != per_minute:
            bucket = buckets[caller.key_id] = _Bucket(per_minute, float(per_minute), now)
        bucket.refill(now)
        return bucket
