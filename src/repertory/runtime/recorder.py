"""Numbers, times, hands on and keeps the events of one turn."""

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, TypeVar, cast

from repertory.clock import Clock
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

    def __init__(self, turn: str, clock: Clock, sinks: Sequence[EventSink], keep: KeepEvents) -> None:
        self.turn = turn
        self.events: list[TurnEvent] = []
        self._clock = clock
        self._began = time.monotonic()
        self._began_at = clock()
        self._sinks = tuple(sinks)
        self._keep = keep
        self._waiting: list[TurnEvent] = []
        self._flusher: asyncio.Task[None] | None = None
        self._seq = 0
        self._spoke: set[str] = set()

    @property
    def elapsed_s(self) -> float:
        """Seconds since the turn began."""
        return time.monotonic() - self._began

    def emit(self, kind: type[_E], **fields: Any) -> _E:
        """Make an event of this turn, hand it on and keep it."""
        elapsed = self.elapsed_s
        self._seq += 1
        made = kind(
            turn=self.turn,
            seq=self._seq,
            at=self._began_at + timedelta(seconds=elapsed),
            elapsed_s=round(elapsed, 4),
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
        await self._flush()

    async def _flush(self) -> None:
        batch, self._waiting = self._waiting, []
        if batch:
            await asyncio.to_thread(self._keep, batch)

    async def close(self) -> None:
        """Keep what has not been kept yet."""
        if self._flusher is not None:
            self._flusher.cancel()
            await asyncio.gather(self._flusher, return_exceptions=True)
        await self._flush()
