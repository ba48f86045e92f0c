"""The events of the turns that run here, streamed words included, for whoever comes late or comes back.

Storage keeps every event but streamed words and progress; so what is not here any more is read from there.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from repertory.runtime.events import AgentDelta, AgentProgress, TurnEvent, TurnFinished, TurnStarted

__all__ = ("TurnLog",)

_ENDED_KEPT = 64
_MOST_DELTAS = 20_000


@dataclass
class _Turn:
    events: list[TurnEvent] = field(default_factory=list[TurnEvent])
    deltas: int = 0


class TurnLog:
    """Keeps the running turns whole, and the last few that ended."""

    def __init__(self) -> None:
        self._running: dict[str, _Turn] = {}
        self._ended: OrderedDict[str, _Turn] = OrderedDict()

    def add(self, event: TurnEvent) -> None:
        """Keep the next event of a turn."""
        kept = self._running.setdefault(event.turn, _Turn())
        if isinstance(event, AgentProgress):
            return  # the next one says it all
        if isinstance(event, AgentDelta):
            kept.deltas += 1
            if kept.deltas > _MOST_DELTAS:
                return  # the reply itself follows
        kept.events.append(event)
        if isinstance(event, TurnFinished):
            self.close(event.turn)

    def close(self, turn: str) -> None:
        """The turn has ended, with its last event or without."""
        kept = self._running.pop(turn, None)
        if kept is None:
            return
        self._ended[turn] = kept
        while len(self._ended) > _ENDED_KEPT:
            self._ended.popitem(last=False)

    def events(self, turn: str, after: int = 0) -> Sequence[TurnEvent] | None:
        """The events of a turn that come after a place in it; None when the turn is not here."""
        kept = self._running.get(turn) or self._ended.get(turn)
        return None if kept is None else [event for event in kept.events if event.seq > after]

    def forget(self, team: str, user: str) -> None:
        """Drop the turns of a team and user, whose data was erased."""
        for turns in (self._running, self._ended):
            for turn, kept in tuple(turns.items()):
                if any(isinstance(event, TurnStarted) and event.team == team and event.user == user
                       for event in kept.events):  # fmt: skip
                    turns.pop(turn)
