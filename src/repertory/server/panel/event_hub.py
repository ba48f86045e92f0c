"""Hands events to everybody who listens: in order, bounded, each only to who may see it.

A listener that does not read in time loses what waits for it and is told so (`reset`); nobody makes the server keep an
unlimited amount for them. The last events stay in memory, so that a broken connection goes on where it was.
"""

import asyncio
import secrets
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from pydantic import BaseModel
from starlette.responses import StreamingResponse

from repertory.runtime.events import AgentDelta, TurnEvent
from repertory.runtime.recorder import EventSink
from repertory.server.panel.schema.events import StreamReset, TurnEnded
from repertory.server.panel.turn_log import TurnLog
from repertory.server.panel.withheld import without_words
from repertory.server.running_turns import RunningTurn
from repertory.storage.records import TurnStatus

__all__ = ("QUEUE", "EventHub", "EventStream", "Listener", "Passing", "Place", "Shown", "frame", "turn_passing")

QUEUE = 1024
"""Frames that wait for one listener."""
_KEPT = 4096
"""Events that a broken connection may be behind."""
_GATHER_EACH_S, _MOST_GATHER_S = 0.0002, 0.1

Shown = Callable[["Passing"], bytes | None]
"""The frame of an event that a listener gets; None when it is not for them."""


@dataclass(frozen=True)
class Place:
    """Where in the stream a listener was: the `id` of the last event that reached them.

    Attributes:
        boot: Which start of the server it was.
        number: The event's number since then; 0 for one that was read from storage.
        turn: The event's turn, if it has one.
        seq: Its place in that turn.
    """

    boot: str
    number: int
    turn: str = ""
    seq: int = 0

    @property
    def text(self) -> str:
        """The id as it is sent."""
        return f"{self.boot}-{self.number}-{self.turn}-{self.seq}" if self.turn else f"{self.boot}-{self.number}"

    @classmethod
    def read(cls, text: str) -> "Place | None":
        """Read an id that a client sent back; None when it is none of ours."""
        parts = text.split("-")
        if len(parts) not in {2, 4} or len(text) > 200 or not all(part.isalnum() and part.isascii() for part in parts):
            return None
        numbers = [parts[1], *parts[3:]]
        if not all(part.isdecimal() and len(part) < 19 for part in numbers):
            return None
        return cls(parts[0], int(parts[1]), parts[2] if len(parts) == 4 else "", int(parts[3]) if parts[3:] else 0)


@dataclass(frozen=True)
class Passing:
    """One event on its way to the listeners.

    Attributes:
        number: Its number since the server started; 0 for one that is not kept for broken connections.
        team: The team it is about; empty when it is about none.
        user: The user it is about; empty likewise.
        turn: The turn it is about; empty likewise.
        whole: Its frame.
        without_words: Its frame for who may not read the user's words; None when they get none.
        admins_only: Whether it is for administrators alone.
    """

    number: int
    team: str
    user: str
    turn: str
    whole: bytes
    without_words: bytes | None
    admins_only: bool = False


def frame(kind: str, body: str, place: Place | None = None) -> bytes:
    """One message of the stream; JSON has no line breaks in it."""
    head = f"id: {place.text}\n" if place is not None else ""
    return f"{head}event: {kind}\ndata: {body}\n\n".encode("utf-8", "replace")


class EventStream(StreamingResponse):
    """An answer made of frames: server-sent events."""

    media_type = "text/event-stream"


class Listener:
    """One connection's place at the hub.

    Args:
        shown: What it gets of an event.
        owner: Whose it is.
    """

    def __init__(self, shown: Shown, owner: str = "") -> None:
        self.owner = owner
        self._shown = shown
        self._waiting: deque[bytes] = deque()
        self._missed = False
        self._ready = asyncio.Event()

    def hand(self, passing: Passing) -> None:
        """Put an event into the queue, if it is for this listener."""
        shown = self._shown(passing)
        if shown is None:
            return
        if len(self._waiting) >= QUEUE:
            self._waiting.clear()
            self._missed = True
        self._waiting.append(shown)
        self._ready.set()

    def wake(self) -> None:
        """Let the reader look up, although there may be nothing for it."""
        self._ready.set()

    async def next(self, within_s: float, gather_s: float = 0.0) -> bytes:
        """What waits, in one piece; empty when nothing came in time.

        Args:
            within_s: How long to wait for something.
            gather_s: How long to wait for more when something has come: what is sent together costs less.
        """
        if not self._waiting:
            self._ready.clear()
            try:
                async with asyncio.timeout(within_s):
                    await self._ready.wait()
            except TimeoutError:
                return b""
            if gather_s:
                await asyncio.sleep(gather_s)
        taken = b"".join(self._waiting)
        self._waiting.clear()
        if self._missed:
            self._missed = False
            reset = StreamReset(reason="slow_reader")
            return frame(reset.type, reset.model_dump_json()) + taken
        return taken


class EventHub:
    """All events of this server.

    Attributes:
        boot: Names this start of the server in event ids.
        log: The events of running turns.
        closed: Whether the server is stopping.
    """

    def __init__(self) -> None:
        self.boot = secrets.token_hex(4)
        self.log = TurnLog()
        self.closed = False
        self._number = 0
        self._kept: deque[Passing] = deque(maxlen=_KEPT)
        self._listeners: set[Listener] = set()

    @property
    def listeners(self) -> int:
        """How many connections listen."""
        return len(self._listeners)

    @property
    def gather_s(self) -> float:
        """How long to gather events before they are sent: the more listen, the longer, and never to be noticed."""
        return min(_MOST_GATHER_S, len(self._listeners) * _GATHER_EACH_S)

    def listeners_of(self, owner: str) -> int:
        """How many of them are one owner's."""
        return sum(listener.owner == owner for listener in self._listeners)

    def listen(self, shown: Shown, owner: str = "") -> Listener:
        """Get every event from now on; give it back with `leave`."""
        listener = Listener(shown, owner)
        self._listeners.add(listener)
        return listener

    def leave(self, listener: Listener) -> None:
        """Get no more."""
        self._listeners.discard(listener)

    def close(self) -> None:
        """End all streams: the server stops."""
        self.closed = True
        for listener in self._listeners:
            listener.wake()

    def watch_turn(self, team: str, user: str) -> EventSink:
        """The sink for a turn of a team and a user."""

        def see(event: TurnEvent) -> None:
            self.log.add(event)
            self._number += 1
            place = Place(self.boot, self._number, event.turn, event.seq)
            self._pass(turn_passing(event, team, user, place))

        return see

    def turn_ended(self, turn: RunningTurn, status: TurnStatus) -> None:
        """Tell that a turn is over and that what it came to can be fetched."""
        self.log.close(turn.turn)
        event = TurnEnded(turn=turn.turn, status=status)
        self.tell(event, team=turn.team, user=turn.user, turn=turn.turn)

    def tell(self, event: BaseModel, *, team: str = "", user: str = "", turn: str = "") -> None:
        """Hand on what is no turn event; without a user it is for administrators alone."""
        self._number += 1
        place = Place(self.boot, self._number)
        whole = frame(str(getattr(event, "type", "message")), event.model_dump_json(), place)
        self._pass(Passing(self._number, team, user, turn, whole, whole, admins_only=not user))

    def tick(self, kind: str, body: str) -> None:
        """Hand on what the next tick replaces; it is not kept, and is for administrators alone."""
        whole = frame(kind, body)
        for listener in self._listeners:
            listener.hand(Passing(0, "", "", "", whole, whole, admins_only=True))

    def since(self, place: Place) -> list[Passing] | None:
        """What came after a place of this start of the server; None when some of it is gone."""
        if place.number > self._number:
            return None
        first = self._kept[0].number if self._kept else self._number + 1
        if place.number < first - 1:
            return None
        return [passing for passing in self._kept if passing.number > place.number]

    def forget(self, team: str, user: str) -> None:
        """Keep nothing more of a team and user, whose data was erased."""
        self.log.forget(team, user)
        kept = [
            Passing(passing.number, "", "", "", b"", None, admins_only=True)
            if (passing.team, passing.user) == (team, user)
            else passing
            for passing in self._kept
        ]
        self._kept = deque(kept, maxlen=_KEPT)

    def _pass(self, passing: Passing) -> None:
        self._kept.append(passing)
        for listener in self._listeners:
            listener.hand(passing)


def turn_passing(event: TurnEvent, team: str, user: str, place: Place) -> Passing:
    """A turn's event with its two frames."""
    whole = frame(event.type, event.model_dump_json(), place)
    bare = None if isinstance(event, AgentDelta) else without_words(event)
    without = None
    if bare is not None:
        without = whole if bare is event else frame(bare.type, bare.model_dump_json(), place)
    return Passing(place.number, team, user, event.turn, whole, without)
