"""Who may send a request to an instance now. The queue is ours, so that what is cancelled while it waits is never sent.

Engines queue without limit, and go on with queued requests of clients that have left; so no more requests are sent than
the engine can run at once.
"""

import heapq
import itertools
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio

from repertory.engines.deadline import Deadline

__all__ = ("Admission",)


@dataclass(order=True)
class _Waiter:
    priority: int
    number: int
    lane: int | None = field(compare=False)
    granted: anyio.Event = field(compare=False, default_factory=anyio.Event)


class Admission:
    """A gate with `limit` places; the waiting enter by priority (lower first), then in the order they came.

    A request may ask for a *lane* (a slot of llama.cpp): then it also waits until nobody else is in that lane.

    Args:
        limit: How many may be inside at once.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._inside = 0
        self._lanes: set[int] = set()
        self._waiting: list[_Waiter] = []
        self._numbers = itertools.count()

    @property
    def inside(self) -> int:
        """How many are inside."""
        return self._inside

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._waiting)

    @asynccontextmanager
    async def enter(
        self, *, priority: int = 0, lane: int | None = None, deadline: Deadline, where: str | None = None
    ) -> AsyncGenerator[None]:
        """Wait for a place and hold it inside the block.

        Raises:
            EngineTimeoutError: The deadline passed while waiting.
        """
        waiter = _Waiter(priority, next(self._numbers), lane)
        heapq.heappush(self._waiting, waiter)
        self._grant()
        try:
            with anyio.move_on_after(deadline.remaining_s):
                await waiter.granted.wait()
        except BaseException:
            self._leave(waiter)
            raise
        if not waiter.granted.is_set():
            self._leave(waiter)
            raise deadline.error("waiting for a free place at the engine", where=where)
        try:
            yield
        finally:
            self._leave(waiter)

    def _leave(self, waiter: _Waiter) -> None:
        if waiter.granted.is_set():
            self._inside -= 1
            if waiter.lane is not None:
                self._lanes.discard(waiter.lane)
        else:
            self._waiting.remove(waiter)
            heapq.heapify(self._waiting)
        self._grant()

    def _grant(self) -> None:
        blocked: list[_Waiter] = []
        while self._waiting and self._inside < self.limit:
            waiter = heapq.heappop(self._waiting)
            if waiter.lane is not None and waiter.lane in self._lanes:
                blocked.append(waiter)
                continue
            self._inside += 1
            if waiter.lane is not None:
                self._lanes.add(waiter.lane)
            waiter.granted.set()
        for waiter in blocked:
            heapq.heappush(self._waiting, waiter)
