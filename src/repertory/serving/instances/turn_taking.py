"""Whose turn it is among instances that do not fit together.

One member is awake at a time. Requests are served grouped by member, so that two agents on two members do not evict
each other with every request: while a member is awake, requests for it may join, also ones that came later than a
request for another member, but only so many. The bound on waiting: during one turn, at most `most_joins` requests
overtake a waiting one, and the next turn always goes to the member of the oldest waiting request.
"""

import math
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
import anyio.abc

from repertory.errors import EngineUnavailableError, RepertoryError

__all__ = ("TurnTaking",)


@dataclass
class _Waiter:
    member: str
    granted: anyio.Event = field(default_factory=anyio.Event)
    inside: bool = False
    error: RepertoryError | None = None


class TurnTaking:
    """Grants the use of one member at a time.

    Args:
        group: Runs the switches.
        switch: Puts the first to sleep (None when nobody is awake), then wakes the second; raises when it can not.
        most_joins: Later requests that may still join a turn while others wait.
        linger_s: How long a member that is idle stays awake while others wait, in the hope of the next request for it;
            a function, because what is worth waiting depends on how long a switch takes.

    Attributes:
        awake: The member that is awake.
        switches: How many switches there were.
    """

    def __init__(
        self,
        group: anyio.abc.TaskGroup,
        switch: Callable[[str | None, str], Awaitable[None]],
        *,
        awake: str | None = None,
        most_joins: int = 8,
        linger_s: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self.awake = awake
        self.switches = 0
        self._group = group
        self._switch = switch
        self._most_joins = most_joins
        self._linger_s = linger_s
        self._queue: list[_Waiter] = []
        self._inside = 0
        self._joins = 0
        self._switching = False
        self._lingering = False

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return len(self._queue)

    @asynccontextmanager
    async def use(self, member: str) -> AsyncGenerator[None]:
        """Wait until a member is awake and it is this request's turn; the member stays awake inside the block.

        Raises:
            EngineUnavailableError: The member could not be woken.
        """
        waiter = _Waiter(member)
        self._queue.append(waiter)
        self._advance()
        try:
            await waiter.granted.wait()
            if waiter.error is not None:
                raise waiter.error
            yield
        finally:
            if waiter in self._queue:
                self._queue.remove(waiter)
            if waiter.inside:
                self._inside -= 1
            self._advance()

    def _advance(self) -> None:
        if self._switching:
            return
        self._grant()
        if self._queue and self._inside == 0 and not self._lingering:
            self._lingering = True
            self._group.start_soon(self._next_turn)

    def _grant(self) -> None:
        """Let in who may: before the oldest request for another member all, after it as many as may join."""
        others = False
        for waiter in list(self._queue):
            if waiter.member != self.awake:
                others = True
                continue
            if others:
                if self._joins >= self._most_joins:
                    break
                self._joins += 1
            self._queue.remove(waiter)
            waiter.inside = True
            self._inside += 1
            waiter.granted.set()

    async def _next_turn(self) -> None:
        try:
            pause = self._linger_s() if self.awake is not None and self._joins < self._most_joins else 0.0
            if pause > 0 and math.isfinite(pause):
                await anyio.sleep(pause)
        finally:
            self._lingering = False
        if self._inside or not self._queue:
            return
        await self._turn_to(self._queue[0].member)

    async def _turn_to(self, member: str) -> None:
        self._switching = True
        previous, self.awake = self.awake, None
        try:
            if previous != member:
                self.switches += 1
                await self._switch(previous, member)
            self.awake = member
        except RepertoryError as error:
            self._refuse(member, error)
        finally:
            self._switching = False
            self._joins = 0
        self._advance()

    def _refuse(self, member: str, error: RepertoryError) -> None:
        for waiter in [waiter for waiter in self._queue if waiter.member == member]:
            self._queue.remove(waiter)
            waiter.error = EngineUnavailableError(
                f"the instance {member} could not be woken: {error.message}", where=error.where, hint=error.hint
            )
            waiter.granted.set()
