"""Who may send to an instance next: by priority, then to whoever has least of it.

The runtime's own gate (`repertory.engines.admission`) orders the calls of one team. Here strangers meet, so a third
rule comes between priority and order of arrival: the place goes to the key with the fewest requests inside, and within
a key to the user with the fewest. One caller with a thousand requests waits behind itself, not in front of others.
"""

import asyncio
from collections import Counter, OrderedDict, deque
from dataclasses import dataclass, field
from typing import TypeVar

__all__ = ("FairQueue", "QueueFullError", "Share", "Ticket")

_Name = TypeVar("_Name", str, tuple[str, str])

Share = tuple[str, str]
"""Key id and user, both may be empty."""


class QueueFullError(Exception):
    """More requests wait already than the queue holds."""


@dataclass(eq=False)
class Ticket:
    """A request's place in the queue, or inside."""

    share: Share
    priority: int
    granted: bool = False
    waiter: asyncio.Future[None] | None = field(default=None, repr=False)


class FairQueue:
    """Places at one instance.

    Args:
        limit: How many may be inside at once.
        max_waiting: How many may wait; whoever comes then is told at once instead of after its own time limit.
    """

    def __init__(self, limit: int, *, max_waiting: int = 4096) -> None:
        self.limit = limit
        self.max_waiting = max_waiting
        self.inside = 0
        self.waiting = 0
        self._by_key: Counter[str] = Counter()
        self._by_share: Counter[Share] = Counter()
        self._lanes: dict[int, OrderedDict[Share, deque[Ticket]]] = {}

    async def enter(self, share: Share, priority: int = 0) -> Ticket:
        """Wait for a place. Whoever gets a ticket must give it back with `leave`; a cancelled wait leaves by itself.

        Raises:
            QueueFullError: Too many wait already.
        """
        ticket = Ticket(share, priority)
        if self.inside < self.limit and not self.waiting:
            self._admit(ticket)
            return ticket
        if self.waiting >= self.max_waiting:
            raise QueueFullError
        ticket.waiter = asyncio.get_running_loop().create_future()
        self._lanes.setdefault(priority, OrderedDict()).setdefault(share, deque()).append(ticket)
        self.waiting += 1
        try:
            await ticket.waiter
        except asyncio.CancelledError:
            if ticket.granted:
                self.leave(ticket)
            else:
                self._forget(ticket)
            raise
        return ticket

    def leave(self, ticket: Ticket) -> None:
        """Give a place back."""
        if not ticket.granted:
            return
        ticket.granted = False
        self.inside -= 1
        _take_one(self._by_key, ticket.share[0])
        _take_one(self._by_share, ticket.share)
        while self.waiting and self.inside < self.limit:
            self._admit(self._take_next())

    def _admit(self, ticket: Ticket) -> None:
        ticket.granted = True
        self.inside += 1
        self._by_key[ticket.share[0]] += 1
        self._by_share[ticket.share] += 1
        if ticket.waiter is not None and not ticket.waiter.done():
            ticket.waiter.set_result(None)

    def _take_next(self) -> Ticket:
        priority = min(self._lanes)
        lane = self._lanes[priority]
        # `min` takes the first of equals, and a share that was served goes to the end: equals take turns.
        share = min(lane, key=lambda one: (self._by_key[one[0]], self._by_share[one]))
        tickets = lane[share]
        ticket = tickets.popleft()
        self.waiting -= 1
        if tickets:
            lane.move_to_end(share)
        else:
            self._drop(priority, share)
        return ticket

    def _forget(self, ticket: Ticket) -> None:
        self._lanes[ticket.priority][ticket.share].remove(ticket)
        self.waiting -= 1
        if not self._lanes[ticket.priority][ticket.share]:
            self._drop(ticket.priority, ticket.share)

    def _drop(self, priority: int, share: Share) -> None:
        del self._lanes[priority][share]
        if not self._lanes[priority]:
            del self._lanes[priority]


def _take_one(counts: "Counter[_Name]", name: _Name) -> None:
    """Count down, and forget names at zero: users come and go for months."""
    counts[name] -= 1
    if counts[name] <= 0:
        del counts[name]
