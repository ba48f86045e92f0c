"""What the turns' events tell of the load: who is at work, how fast instances answer, and sums.

Only what was measured in the last minutes is told; an instance that nobody asked has no speed.
"""

import statistics
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from repertory.clock import Clock, system_clock
from repertory.runtime.events import (
    AgentFinished,
    AgentFirstToken,
    AgentQueued,
    AgentRepair,
    AgentStarted,
    TurnEvent,
    TurnFinished,
)
from repertory.runtime.recorder import EventSink
from repertory.server.running_turns import RunningTurn
from repertory.storage.records import TurnStatus

__all__ = ("AtWork", "InstanceSpeed", "LoadMeter", "Sums")

_WINDOW_S = 300.0
_CALLS = 200
_USERS = 10_000


@dataclass(frozen=True)
class InstanceSpeed:
    """Medians of an instance's last calls; None where there were none.

    Attributes:
        prefill_tok_s: Prompt tokens computed per second until the first token.
        decode_tok_s: Tokens written per second after it.
        first_token_s: Seconds to the first token.
        cache_hit_share: Share of the prompt tokens that was cached, over all these calls together.
    """

    prefill_tok_s: float | None = None
    decode_tok_s: float | None = None
    first_token_s: float | None = None
    cache_hit_share: float | None = None


@dataclass(frozen=True)
class AtWork:
    """One agent of a turn that runs."""

    team: str
    user: str
    turn: str
    agent: str
    state: Literal["waiting", "reading", "writing"]
    since: datetime
    instance: str | None


@dataclass
class Sums:
    """What was counted since the server started.

    Attributes:
        turns: Turns that ended.
        prompt_tokens: Prompt tokens of their agents.
        cached_tokens: How many of them were cached.
        output_tokens: Tokens written.
    """

    turns: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True)
class _Call:
    at: float
    prompt: int
    cached: int
    output: int
    to_first_s: float
    writing_s: float


@dataclass
class _Agent:
    state: Literal["waiting", "reading", "writing"]
    since: datetime
    instance: str | None = None
    started_s: float = 0.0
    first_s: float | None = None


@dataclass
class _Turn:
    team: str
    user: str
    agents: dict[str, _Agent] = field(default_factory=dict[str, _Agent])


class LoadMeter:
    """Reads the events of all turns.

    Args:
        clock: Tells since when agents are at work.
        now: A clock in seconds that never goes back.
    """

    def __init__(self, clock: Clock = system_clock, now: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._now = now
        self._turns: dict[str, _Turn] = {}
        self._calls: dict[str, deque[_Call]] = {}
        self.started_at = clock()
        self.sums = Sums()
        self._by_user: OrderedDict[str, Sums] = OrderedDict()

    def running(self, user: str | None = None) -> int:
        """Turns under way: of a user, or of all."""
        return sum(user in {None, kept.user} for kept in self._turns.values())

    def of_user(self, user: str) -> Sums:
        """What was counted of one user's turns; of the users of long ago nothing is known any more."""
        return self._by_user.get(user) or Sums()

    def at_work(self) -> list[AtWork]:
        """The agents at work, in the order in which their turns began."""
        return [
            AtWork(kept.team, kept.user, turn, name, agent.state, agent.since, agent.instance)
            for turn, kept in self._turns.items()
            for name, agent in kept.agents.items()
        ]

    def speed(self, instance: str) -> InstanceSpeed:
        """How fast an instance was in the last minutes."""
        since = self._now() - _WINDOW_S
        calls = [call for call in self._calls.get(instance, ()) if call.at >= since]
        if not calls:
            return InstanceSpeed()
        prompt = sum(call.prompt for call in calls)
        computed = [(call.prompt - call.cached) / call.to_first_s for call in calls if call.to_first_s > 0]
        written = [(call.output - 1) / call.writing_s for call in calls if call.writing_s > 0 and call.output > 1]
        return InstanceSpeed(
            prefill_tok_s=round(statistics.median(computed), 1) if computed else None,
            decode_tok_s=round(statistics.median(written), 2) if written else None,
            first_token_s=round(statistics.median(call.to_first_s for call in calls), 4),
            cache_hit_share=round(sum(call.cached for call in calls) / prompt, 4) if prompt else None,
        )

    def watch_turn(self, team: str, user: str) -> EventSink:
        """The sink for a turn of a team and a user."""
        kept = _Turn(team, user)

        def see(event: TurnEvent) -> None:
            if isinstance(event, TurnFinished):
                kept.agents.clear()
            else:
                self._turns.setdefault(event.turn, kept)
                self._see(kept, event)

        return see

    def turn_ended(self, turn: RunningTurn, status: TurnStatus) -> None:
        """The turn has ended, whatever its status is."""
        del status
        if self._turns.pop(turn.turn, None) is not None:
            for sums in (self.sums, self._sums_of(turn.user)):
                sums.turns += 1

    def _see(self, kept: _Turn, event: TurnEvent) -> None:
        if isinstance(event, AgentQueued):
            kept.agents[event.agent] = _Agent("waiting", self._clock())
        elif isinstance(event, AgentStarted):
            kept.agents[event.agent] = _Agent("reading", self._clock(), event.instance, event.elapsed_s)
        elif isinstance(event, AgentFirstToken):
            agent = kept.agents.get(event.agent)
            if agent is not None:
                agent.state, agent.since, agent.first_s = "writing", self._clock(), event.elapsed_s
        elif isinstance(event, AgentRepair):
            kept.agents.pop(event.agent, None)
        elif isinstance(event, AgentFinished):
            for sums in (self.sums, self._sums_of(kept.user)):
                sums.prompt_tokens += event.prompt_tokens
                sums.cached_tokens += event.cached_tokens
                sums.output_tokens += event.output_tokens
            self._finish(kept.agents.pop(event.agent, None), event)

    def _sums_of(self, user: str) -> Sums:
        sums = self._by_user.setdefault(user, Sums())
        self._by_user.move_to_end(user)
        while len(self._by_user) > _USERS:
            self._by_user.popitem(last=False)
        return sums

    def _finish(self, agent: _Agent | None, event: AgentFinished) -> None:
        # The counts are of all attempts together: with more than one they belong to no single call.
        if agent is None or agent.instance is None or agent.first_s is None or event.attempts != 1:
            return
        calls = self._calls.setdefault(agent.instance, deque(maxlen=_CALLS))
        calls.append(
            _Call(
                at=self._now(),
                prompt=event.prompt_tokens,
                cached=min(event.cached_tokens, event.prompt_tokens),
                output=event.output_tokens,
                to_first_s=agent.first_s - agent.started_s,
                writing_s=event.elapsed_s - agent.first_s,
            )
        )
