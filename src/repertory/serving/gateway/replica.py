"""An instance as the gateway uses it: its connections, its queue, and whether it answered lately."""

import asyncio
import re

from repertory.serving.gateway.engine_pool import EnginePool
from repertory.serving.gateway.fair_queue import FairQueue
from repertory.serving.gateway.upstream import Address, Upstream

__all__ = ("Replica",)

_FIRST_PAUSE_S = 0.25
_LONGEST_PAUSE_S = 5.0


class Replica:
    """One instance.

    Attributes:
        upstream: What it is.
        pool: Connections to it.
        queue: Who waits for it.
        endpoints: Which of the endpoints that not every engine has it was seen to have.
    """

    def __init__(self, upstream: Upstream) -> None:
        self.upstream = upstream
        self._address = upstream.address
        self.pool = _pool(self._address)
        self.queue = FairQueue(upstream.concurrency)
        self.endpoints: dict[str, bool] = {}
        self._avoid_until = 0.0
        self._pause_s = _FIRST_PAUSE_S

    @property
    def authorization(self) -> tuple[tuple[bytes, bytes], ...]:
        """The header with the instance's own key, if it wants one."""
        key = self._address.api_key
        return () if key is None else ((b"authorization", b"Bearer " + key.encode()),)

    def moved_to(self, address: Address) -> None:
        """From now on it answers there."""
        if address != self._address:
            self._address, before = address, self.pool
            self.pool = _pool(address)
            before.close()

    @property
    def load(self) -> float:
        """How full it is, the waiting included: 1 is full."""
        return (self.queue.inside + self.queue.waiting) / self.queue.limit

    @property
    def failing(self) -> bool:
        """Whether it did not answer lately. Other replicas are then asked first; it is never given up."""
        return self._avoid_until > asyncio.get_running_loop().time()

    def failed(self) -> None:
        """It did not answer."""
        self._avoid_until = asyncio.get_running_loop().time() + self._pause_s
        self._pause_s = min(self._pause_s * 2, _LONGEST_PAUSE_S)
        self.endpoints.clear()  # what comes back may be another version

    def answered(self) -> None:
        """It answered."""
        if self._pause_s != _FIRST_PAUSE_S:
            self._pause_s, self._avoid_until = _FIRST_PAUSE_S, 0.0


def _pool(address: Address) -> EnginePool:
    return EnginePool(re.sub(r"/v1/?$", "", address.base_url.strip().rstrip("/")))
