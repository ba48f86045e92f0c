"""A turn's trace: its record, its timeline and its events, as one JSON document."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from repertory.runtime.events import TurnEvent, event_adapter
from repertory.runtime.timeline import Timeline, build_timeline
from repertory.storage.records import Turn
from repertory.storage.store import Store

__all__ = ("Trace", "read_trace")


@dataclass(frozen=True)
class Trace:
    """What is known of one turn.

    Attributes:
        turn: Its record.
        events: Its events, in order.
        unread: How many more there are that this version does not know.
        timeline: What follows from the events.
    """

    turn: Turn
    events: Sequence[TurnEvent]
    unread: int
    timeline: Timeline

    def document(self) -> dict[str, Any]:
        """The JSON document of `repertory trace --json`."""
        turn = self.turn
        return self.timeline.document() | {
            "turn": turn.id,
            "team": turn.team,
            "user": turn.user,
            "session": turn.session,
            "number": turn.number,
            "status": turn.status,
            "safety": turn.safety,
            "started_at": turn.started_at.isoformat(),
            "finished_at": turn.finished_at.isoformat() if turn.finished_at else None,
            "timing": self.timeline.timing(),
            "events": [event.model_dump(mode="json") for event in self.events],
            "unread_events": self.unread,
        }


def read_trace(store: Store, turn: Turn) -> Trace:
    """Read a turn's trace. Blocks.

    Raises:
        StorageError: The database can not be read.
    """
    events: list[TurnEvent] = []
    unread = 0
    for kept in store.turns.events(turn.id):
        try:
            events.append(event_adapter.validate_json(kept.body))
        except ValidationError:
            unread += 1
    return Trace(turn, events, unread, build_timeline(events))
