"""Numbers, times, hands on and keeps the events of one turn."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any, TypeVar, cast

from repertory.clock import Clock
from repertory.errors import StorageError
from repertory.runtime.events import AgentDelta, AgentProgress, EventBase, TurnEvent

__all__ = ("EventSink", "KeepEvents", "Recorder")

EventSink = Callable[[TurnEvent], None]
"""Gets every event as it happens; must return at once."""

KeepEvents = Callable[[Sequence[TurnEvent]], None]
"""Writes events to storage (blocking; called on a thread)."""

_E = TypeVar("_E", bound=EventBase)
_FLUSH_S = 0.5


class Recorder:
    """The event stream of one turn.

    Events are handed to the sinks at once and kept in batches beside the turn, so that no write of ours is on its
    critical path. Streamed words after an agent's first, and progress, are handed on but not kept: the replies and
    the totals are.
    """

    def __init__(
        self,
        turn: str,
        clock: Clock,
        sinks: Sequence[EventSink],
        keep: KeepEvents,
        earlier: Sequence[TurnEvent] = (),
    ) -> None:
        self.turn = turn
        self.events: list[TurnEvent] = list(earlier)
        self._clock = clock
        self._began = time.monotonic()
        self._began_at = clock()
        self._sinks = tuple(sinks)
        self._keep = keep
        self._waiting: list[TurnEvent] = []
        self._flusher: asyncio.Task[None] | None = None
        self._writing = False
        # A turn that goes on after a crash: the time in which nobody carried it does not count.
        self._before_s = max((event.elapsed_s for event in earlier), default=0.0)
        self._seq = max((event.seq for event in earlier), default=0)
        self._spoke = {event.agent for event in earlier if isinstance(event, AgentDelta)}
        for event in earlier:
            for sink in self._sinks:
                sink(event)

    @property
    def elapsed_s(self) -> float:
        """Seconds since the turn began, or was taken up again."""
        return time.monotonic() - self._began

    def has(self, kind: type[EventBase], **fields: Any) -> bool:
        """Whether an event with these fields was emitted; a turn that goes on does not tell the same thing twice."""
        return any(
            isinstance(event, kind) and all(getattr(event, name) == value for name, value in fields.items())
            for event in self.events
        )

    def emit(self, kind: type[_E], **fields: Any) -> _E:
        """Make an event of this turn, hand it on and keep it."""
        elapsed = self.elapsed_s
        self._seq += 1
        made = kind(
            turn=self.turn,
            seq=self._seq,
            at=self._began_at + timedelta(seconds=elapsed),
            elapsed_s=round(self._before_s + elapsed, 4),
            **fields,
        )
        event = cast("TurnEvent", made)  # every class of event is a member of the union
        if self._is_kept(event):
            self.events.append(event)
            self._waiting.append(event)
            if self._flusher is None or self._flusher.done():
                self._flusher = asyncio.create_task(self._flush_later())
        for sink in self._sinks:
            sink(event)
        return made

    def _is_kept(self, event: TurnEvent) -> bool:
        if isinstance(event, AgentDelta):  # an agent's first words tell when the person saw something
            first = event.agent not in self._spoke
            self._spoke.add(event.agent)
            return first
        return not isinstance(event, AgentProgress)

    async def _flush_later(self) -> None:
        await asyncio.sleep(_FLUSH_S)
        with suppress(StorageError):
            await self._flush()

    async def _flush(self) -> None:
        batch, self._waiting = self._waiting, []
        if not batch:
            return
        self._writing = True
        try:
            await asyncio.to_thread(self._keep, batch)
        except StorageError:
            self._waiting = [*batch, *self._waiting]  # `close` tries once more, and tells
            raise
        finally:
            self._writing = False

    async def abandon(self) -> None:
        """Keep nothing more: whoever takes the turn up again counts on from what is kept."""
        await self._stop_flusher()
        self._waiting = []

    async def close(self) -> None:
        """Keep what has not been kept yet.

        Raises:
            StorageError: It can not be kept.
        """
        await self._stop_flusher()
        await self._flush()

    async def _stop_flusher(self) -> None:
        if self._flusher is None:
            return
        # A batch that is being written is not cut off: its thread would go on, and it would be written twice.
        if not self._writing:
            self._flusher.cancel()
        await asyncio.gather(self._flusher, return_exceptions=True)
