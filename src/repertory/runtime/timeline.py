"""The timeline of a turn, computed from its events and nothing else.

`repertory trace`, the `timing` part of a turn's document and the demo all show this one computation. It takes whatever
events there are: a turn that still runs, or that was cut off, gives a timeline with open ends (None).

All times are seconds since the turn began.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import singledispatchmethod
from typing import Any

from repertory.runtime.events import (
    AgentDelta,
    AgentFinished,
    AgentFirstToken,
    AgentQueued,
    AgentRepair,
    AgentStarted,
    ContextCut,
    HarnessFinished,
    MergeDone,
    PrefixComputed,
    ReplyReady,
    SafetyRouted,
    SectionWritten,
    TurnEvent,
    TurnFinished,
    TurnStarted,
)
from repertory.runtime.timeline_records import (
    AgentStatus,
    AgentTimeline,
    Attempt,
    Cut,
    PrefixTimeline,
    ProgramCall,
    Repair,
    Timeline,
)

__all__ = (
    "AgentStatus",
    "AgentTimeline",
    "Attempt",
    "Cut",
    "PrefixTimeline",
    "ProgramCall",
    "Repair",
    "Timeline",
    "build_timeline",
)


class _Builder:
    def __init__(self) -> None:
        self.timeline = Timeline()
        self.agents: dict[str, AgentTimeline] = {}

    def _change(self, name: str, **changes: Any) -> AgentTimeline:
        self.agents[name] = agent = replace(self.agents.get(name) or AgentTimeline(agent=name), **changes)
        return agent

    def _agent(self, name: str) -> AgentTimeline:
        return self.agents.get(name) or self._change(name)

    def add(self, event: TurnEvent) -> None:
        self.timeline = replace(self.timeline, turn=event.turn, end_s=max(self.timeline.end_s, event.elapsed_s))
        self._take(event)

    def finish(self) -> Timeline:
        timeline = replace(self.timeline, agents=tuple(self.agents.values()))
        if timeline.first_token_s is None:
            first = min(
                (agent.first_token_s for agent in timeline.agents if agent.first_token_s is not None), default=None
            )
            timeline = replace(timeline, first_token_s=first)
        return timeline

    @singledispatchmethod
    def _take(self, event: object) -> None:
        """Events that say nothing about time (progress) are passed over."""

    @_take.register
    def _(self, event: TurnStarted) -> None:
        self.timeline = replace(self.timeline, team=event.team, user=event.user, session=event.session)
        for name in event.agents:
            self._agent(name)

    @_take.register
    def _(self, event: SafetyRouted) -> None:
        self.timeline = replace(self.timeline, safety_level=event.level)

    @_take.register
    def _(self, event: PrefixComputed) -> None:
        start = max(0.0, event.elapsed_s - event.seconds)
        prefix = PrefixTimeline(start_s=start, end_s=event.elapsed_s, tokens=event.tokens, cached_tokens=event.cached)
        self.timeline = replace(self.timeline, prefix=prefix)

    @_take.register
    def _(self, event: AgentQueued) -> None:
        self._change(event.agent, status="waiting", queued_s=event.elapsed_s, waits_for=event.waits_for)

    @_take.register
    def _(self, event: AgentStarted) -> None:
        agent = self._agent(event.agent)
        attempt = Attempt(
            number=event.attempt, instance=event.instance, start_s=event.elapsed_s, prompt_tokens=event.prompt_tokens
        )
        self._change(
            event.agent,
            status="running",
            start_s=event.elapsed_s if agent.start_s is None else agent.start_s,
            attempts=max(agent.attempts, event.attempt),
            # The engine's own count replaces this sum when the agent has finished.
            prompt_tokens=agent.prompt_tokens + event.prompt_tokens,
            tries=(*_closed(agent.tries, event.elapsed_s), attempt),
        )

    @_take.register
    def _(self, event: AgentFirstToken) -> None:
        agent = self._agent(event.agent)
        tries = tuple(
            replace(attempt, first_token_s=event.elapsed_s)
            if attempt.number == event.attempt and attempt.first_token_s is None
            else attempt
            for attempt in agent.tries
        )
        first = event.elapsed_s if agent.first_token_s is None else agent.first_token_s
        self._change(event.agent, first_token_s=first, tries=tries)

    @_take.register
    def _(self, event: AgentDelta) -> None:
        if self.timeline.first_token_s is None and event.text:
            self.timeline = replace(self.timeline, first_token_s=event.elapsed_s)

    @_take.register
    def _(self, event: AgentRepair) -> None:
        agent = self._agent(event.agent)
        repair = Repair(at_s=event.elapsed_s, problems=event.problems)
        tries = _closed(agent.tries, event.elapsed_s)
        self._change(event.agent, repairs=(*agent.repairs, repair), tries=tries)

    @_take.register
    def _(self, event: AgentFinished) -> None:
        agent = self._agent(event.agent)
        self._change(
            event.agent,
            status=event.status,
            reason=event.reason,
            end_s=event.elapsed_s,
            attempts=event.attempts,
            prompt_tokens=event.prompt_tokens,
            cached_tokens=event.cached_tokens,
            output_tokens=event.output_tokens,
            tries=_closed(agent.tries, event.elapsed_s),
        )

    @_take.register
    def _(self, event: SectionWritten) -> None:
        if event.agent == "code":
            sections = self.timeline.code_sections | {event.section: event.version}
            self.timeline = replace(self.timeline, code_sections=sections)
            return
        self._change(event.agent, section=event.section, version=event.version, written_s=event.elapsed_s)

    @_take.register
    def _(self, event: ContextCut) -> None:
        cuts = self._agent(event.agent).cuts
        self._change(event.agent, cuts=(*cuts, Cut(part=event.part, tokens=event.tokens)))

    @_take.register
    def _(self, event: HarnessFinished) -> None:
        call = ProgramCall(
            harness=event.harness,
            status=event.status,
            seconds=event.seconds,
            requests=event.requests,
            added_tokens=event.added_tokens,
            added_sent=event.added_sent,
            shared_prefix=event.shared_prefix,
        )
        self._change(event.agent, programs=(*self._agent(event.agent).programs, call))

    @_take.register
    def _(self, event: MergeDone) -> None:
        self.timeline = replace(
            self.timeline, claims=event.claims, conflicts=event.conflicts, blocked_moves=event.blocked_moves
        )

    @_take.register
    def _(self, event: ReplyReady) -> None:
        if event.which == "first":
            self.timeline = replace(self.timeline, first_reply_s=event.elapsed_s)
        else:
            self.timeline = replace(self.timeline, reply_s=event.elapsed_s)

    @_take.register
    def _(self, event: TurnFinished) -> None:
        self.timeline = replace(self.timeline, status=event.status, reason=event.reason)


def _closed(tries: tuple[Attempt, ...], at_s: float) -> tuple[Attempt, ...]:
    """The tries with the last one ended, unless it has an end already."""
    if not tries or tries[-1].end_s is not None:
        return tries
    return (*tries[:-1], replace(tries[-1], end_s=at_s))


def build_timeline(events: Iterable[TurnEvent]) -> Timeline:
    """Compute the timeline of one turn from its events, in any order."""
    builder = _Builder()
    for event in sorted(events, key=lambda event: event.seq):
        builder.add(event)
    return builder.finish()
