"""The turns and builds that run in this process: started as tasks of their own, watched, cancelled, waited for."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from repertory.errors import RepertoryError, UsageError
from repertory.runtime.events import TurnEvent, TurnStarted
from repertory.runtime.recorder import EventSink
from repertory.storage.records import TurnStatus

__all__ = ("Carry", "RunningTurn", "RunningTurns", "TurnWatcher")

Carry = Callable[[Sequence[EventSink]], Awaitable[Any]]
"""Carries a turn to its end and hands its events to the sinks."""

_CANCEL_S = 10.0
_STATUSES: tuple[TurnStatus, ...] = ("complete", "partial", "failed")


@dataclass(eq=False)
class RunningTurn:
    """A turn under way.

    Attributes:
        team: The team.
        user: The user.
        turn: Its id.
        session: Its session.
        task: Ends with what `Carry` returned.
    """

    team: str
    user: str
    turn: str
    session: str
    task: "asyncio.Task[Any]" = field(repr=False)


class TurnWatcher(Protocol):
    """Is told of every turn."""

    def watch_turn(self, team: str, user: str) -> EventSink:
        """The sink for a turn that is being started."""
        ...

    def turn_ended(self, turn: RunningTurn, status: TurnStatus) -> None:
        """A turn has ended, and what it came to is kept; also one that was cancelled or failed."""
        ...


class RunningTurns:
    """All turns under way.

    A turn is a task of its own: a client that leaves does not end it, so that what the agents write is kept.

    Args:
        watchers: Are told of every turn.
    """

    def __init__(self, watchers: Sequence[TurnWatcher] = ()) -> None:
        self._watchers = list(watchers)
        self._closed = False
        self._tasks: set[asyncio.Task[Any]] = set()
        self._turns: dict[str, RunningTurn] = {}

    def watch(self, watcher: TurnWatcher) -> None:
        """Tell it of every turn that is started from now on."""
        self._watchers.append(watcher)

    def __iter__(self) -> Iterator[RunningTurn]:
        return iter(tuple(self._turns.values()))

    @property
    def busy(self) -> bool:
        """Whether a turn is under way, or about to begin."""
        return bool(self._tasks)

    def find(self, turn: str) -> RunningTurn | None:
        """The turn of this id, while it runs."""
        return self._turns.get(turn)

    def start(self, team: str, user: str, carry: Carry, sinks: Sequence[EventSink] = ()) -> "asyncio.Task[Any]":
        """Start a turn; its id is known when it has begun.

        Raises:
            RepertoryError: The server is shutting down.
        """
        begun: asyncio.Future[RunningTurn] = asyncio.get_running_loop().create_future()
        return self._start(team, user, carry, sinks, begun)

    async def begin(self, team: str, user: str, carry: Carry, sinks: Sequence[EventSink] = ()) -> RunningTurn:
        """Start a turn and wait until it has begun.

        Raises:
            RepertoryError: It could not begin.
        """
        begun: asyncio.Future[RunningTurn] = asyncio.get_running_loop().create_future()
        task = self._start(team, user, carry, sinks, begun)
        await asyncio.wait({task, begun}, return_when=asyncio.FIRST_COMPLETED)
        if not begun.done():
            task.result()  # tells why
            message = "the turn ended before it had begun"
            raise RuntimeError(message)
        return begun.result()

    async def cancel(self, turn: str) -> None:
        """End a turn at once and wait until it has ended.

        Raises:
            UsageError: It does not run here.
        """
        running = self._turns.get(turn)
        if running is None:
            message = f"the turn {turn!r} does not run in this server"
            raise UsageError(message, hint="it may have ended already")
        running.task.cancel()
        await asyncio.wait({running.task}, timeout=_CANCEL_S)

    async def drain(self) -> None:
        """Wait until the turns under way have ended; none begins any more."""
        self._closed = True
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _start(
        self,
        team: str,
        user: str,
        carry: Carry,
        sinks: Sequence[EventSink],
        begun: "asyncio.Future[RunningTurn]",
    ) -> "asyncio.Task[Any]":
        if self._closed:
            raise RepertoryError("the server is shutting down", hint="send the message again in a moment")

        def tell(event: TurnEvent) -> None:
            if isinstance(event, TurnStarted) and not begun.done():
                running = RunningTurn(team, user, event.turn, event.session, task)
                self._turns[event.turn] = running
                begun.set_result(running)

        watching = [watcher.watch_turn(team, user) for watcher in self._watchers]
        task = asyncio.ensure_future(_carry(carry, [tell, *watching, *sinks]))

        def ended(_: object) -> None:
            self._tasks.discard(task)
            status = _status(task)
            if begun.done():
                self._turns.pop(begun.result().turn, None)
                for watcher in self._watchers:
                    watcher.turn_ended(begun.result(), status)

        self._tasks.add(task)
        task.add_done_callback(ended)
        return task


def _status(task: "asyncio.Task[Any]") -> TurnStatus:
    """How a task's turn ended. Asking for its error also says that it was seen: nobody may be waiting for it."""
    if task.cancelled():
        return "failed"
    if task.exception() is not None:
        return "interrupted"
    status = getattr(task.result(), "status", None)
    for known in _STATUSES:
        if status == known:
            return known
    return "complete" if status == "built" else "partial"


async def _carry(carry: Carry, sinks: Sequence[EventSink]) -> Any:
    return await carry(sinks)
