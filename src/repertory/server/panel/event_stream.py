"""One connection's stream of events: what it missed, then what happens, and a sign of life where nothing does."""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from fastapi import Request

from repertory.runtime.events import TurnEvent
from repertory.runtime.trace import read_trace
from repertory.server.panel.event_hub import Passing, Place, Shown, frame, turn_passing
from repertory.server.panel.panel import Panel
from repertory.server.panel.schema.events import StreamReset, TurnEnded
from repertory.server.panel.visitor import Visitor, still_valid
from repertory.storage.records import Turn

__all__ = ("MOST_OF_A_KEY", "MOST_STREAMS", "Wanted", "stream_events")

MOST_STREAMS = 2000
MOST_OF_A_KEY = 64
_QUIET_S = 15.0
"""After so long without an event something is sent that clients skip, or proxies between would give up."""
_RETRY = b"retry: 2000\n\n"


@dataclass(frozen=True)
class Wanted:
    """What a stream is about; None is everything."""

    turn: str | None = None
    team: str | None = None
    user: str | None = None


def shown_to(visitor: Visitor, wanted: Wanted) -> Shown:
    """What of an event somebody gets who asked for these."""
    everything = wanted == Wanted()
    readable, everybody = {visitor.user, *visitor.caller.reads_users}, "*" in visitor.caller.reads_users

    @lru_cache(maxsize=256)
    def may_use(team: str) -> bool:
        return visitor.may_use_team(team)

    def shown(passing: Passing) -> bytes | None:
        if passing.admins_only:
            return passing.whole if visitor.is_admin and everything else None
        if wanted.turn not in {None, passing.turn}:
            return None
        if wanted.team not in {None, passing.team} or wanted.user not in {None, passing.user}:
            return None
        if not may_use(passing.team):
            return None
        if everybody or passing.user in readable:
            return passing.whole
        return passing.without_words if visitor.is_admin else None

    return shown


async def stream_events(
    request: Request, panel: Panel, visitor: Visitor, wanted: Wanted, last_id: str | None
) -> AsyncGenerator[bytes]:
    """The frames of a stream, until the client leaves, may not listen any more, or the server stops."""
    hub = panel.hub
    shown = shown_to(visitor, wanted)
    key = visitor.caller.key_id
    listener = hub.listen(shown, key)
    try:
        if hub.listeners > MOST_STREAMS or (key and hub.listeners_of(key) > MOST_OF_A_KEY):
            return  # many came at once, before any of them was counted
        place = Place.read(last_id) if last_id else None
        yield _RETRY + await _missed(panel, shown, wanted, place)
        checked_at = time.monotonic()
        while not hub.closed:
            taken = await listener.next(_QUIET_S, hub.gather_s)
            if time.monotonic() - checked_at >= _QUIET_S:
                checked_at = time.monotonic()
                if not await still_valid(request, panel, visitor):
                    return
            if taken or not hub.closed:
                yield taken or b": still here\n\n"
    finally:
        hub.leave(listener)


async def _missed(panel: Panel, shown: Shown, wanted: Wanted, place: Place | None) -> bytes:
    """What happened before the listener came: the turn that it asked for, or what its connection lost."""
    hub = panel.hub
    if wanted.turn is not None:
        after = place.seq if place is not None and place.turn == wanted.turn else 0
        return await _of_turn(panel, shown, wanted.turn, after)
    if place is None:
        return b""
    if place.boot != hub.boot:
        return _reset("server_restarted")
    passed = hub.since(place)
    if passed is None:
        return _reset("gap")
    return b"".join(found for passing in passed if (found := shown(passing)) is not None)


async def _of_turn(panel: Panel, shown: Shown, turn: str, after: int) -> bytes:
    events: Sequence[TurnEvent] | None = panel.hub.log.events(turn, after)
    found = await asyncio.to_thread(panel.store.turns.get, turn)
    if found is None:
        return b""
    if events is None:
        trace = await asyncio.to_thread(read_trace, panel.store, found)
        events = [event for event in trace.events if event.seq > after]
    told = b"".join(_replayed(panel, shown, found, event) or b"" for event in events)
    if found.status != "running" and panel.talk.running.find(turn) is None:
        ended = TurnEnded(turn=turn, status=found.status)
        told += frame(ended.type, ended.model_dump_json())
    return told


def _replayed(panel: Panel, shown: Shown, turn: Turn, event: TurnEvent) -> bytes | None:
    return shown(turn_passing(event, turn.team, turn.user, Place(panel.hub.boot, 0, event.turn, event.seq)))


def _reset(reason: Literal["gap", "server_restarted"]) -> bytes:
    event = StreamReset(reason=reason)
    return frame(event.type, event.model_dump_json())
