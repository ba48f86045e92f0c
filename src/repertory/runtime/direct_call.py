"""Calls of single agents, for code that decides the order itself (a build, an evaluation) where a turn derives it.

The agents are those of a team, with their instructions, budgets and instances, and they see the same shared context, so
that the engine's prefix cache serves them all. What they answer is handed to the caller, who writes the sections.
"""

import asyncio
import itertools
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from repertory.engines.profile import FanOut
from repertory.engines.protocol import ChatMessage, Engine, GenerateRequest, StreamPart, TextDelta, TokenUsage
from repertory.errors import ContextBudgetError, UsageError
from repertory.runtime.cast import Cast, Instance
from repertory.runtime.context import SharedContext, answer_schema, private_part
from repertory.runtime.durable.engine import JournaledEngine
from repertory.runtime.durable.journal import TurnJournal
from repertory.runtime.events import AgentFinished, AgentFirstToken, AgentProgress, AgentRepair, AgentStarted
from repertory.runtime.fan_out import InstanceFanOut
from repertory.runtime.harness.kinds import HarnessKind
from repertory.runtime.recorder import Recorder
from repertory.runtime.structured import StructuredResult, TextResult, structured_call, text_call
from repertory.runtime.team import Agent, Section, Team

__all__ = ("DirectCalls",)

_PROGRESS_EVERY = 8
"""Pieces of a stream between two progress events."""


@dataclass
class DirectCalls:
    """Asks one agent at a time, in one shared context.

    Args:
        team: The team.
        cast: The instance of every agent.
        shared: What all of them see first.
        recorder: Gets the events.
        deadline: When all of it must be over, monotonic seconds.
        journal: Keeps finished calls, so that they are not made again after a crash.

    Raises:
        UsageError: An agent is run by a harness that is not ours.
    """

    team: Team
    cast: Cast
    shared: SharedContext
    recorder: Recorder
    deadline: float
    journal: TurnJournal | None = None
    usage: list[TokenUsage] = field(default_factory=list[TokenUsage])
    """The tokens of every attempt so far."""
    _engines: dict[str, Engine] = field(default_factory=dict[str, Engine])
    _places: dict[str, asyncio.Lock] = field(default_factory=dict[str, asyncio.Lock])
    _requests: "itertools.count[int]" = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        for name, agent in self.team.agents.items():
            if agent.harness.kind is not HarnessKind.NATIVE:
                message = (
                    f"the agents of team {self.team.name} are asked directly, which `{agent.harness.kind}` can not"
                )
                raise UsageError(message, where=f"agent {name}", hint="leave its `harness` out")

    async def fill(
        self,
        name: str,
        shown: str,
        *,
        schema: dict[str, Any] | None = None,
        check: Callable[[dict[str, Any]], list[str]] | None = None,
    ) -> StructuredResult:
        """Ask an agent for an object.

        Args:
            name: The agent.
            shown: What it alone is shown; what several agents are shown should stand first in it.
            schema: What it fills in, where that is not its section.
            check: Problems of a schema-valid answer, in words for the model.

        Raises:
            ContextBudgetError: The prompt does not fit the agent's budget.
            EngineError: The engine could not count the prompt's tokens.
        """
        agent = self.team.agents[name]
        if schema is not None:
            agent = agent.model_copy(update={"draft_schema": schema})
        wanted = schema or answer_schema(agent, self.team) or {}
        prompt = self.shared.messages(private_part(name, agent, self.team, {}, shown))
        call = _Heard(self, name, await self._fitting(name, agent, prompt))
        async with self._place(name):
            result = await structured_call(
                self._engine(name),
                self._request(agent, prompt),
                wanted,
                check=check,
                on_attempt=call.starts,
                on_part=call.hears,
                deadline=self.deadline,
                health=self.cast.by_agent[name].health,
            )
        await call.ended([result], reason=result.reason)
        return result

    async def say(
        self, name: str, shown: str, *, temperatures: Sequence[float], first_seed: int = 0
    ) -> list[TextResult]:
        """Ask an agent for several texts at once, one for each temperature; their prompt is computed once.

        Raises:
            ContextBudgetError: The prompt does not fit the agent's budget.
            EngineError: The engine could not compute or count the prompt.
        """
        agent = self.team.agents[name]
        prompt = self.shared.messages(private_part(name, agent, _as_text(self.team, agent), {}, shown))
        call = _Heard(self, name, await self._fitting(name, agent, prompt))
        async with self._place(name):
            results = await self._sample(name, prompt, temperatures, first_seed, call)
        usable = [result for result in results if result.usable]
        await call.ended(results, reason=None if usable else (results[-1].reason if results else "nothing was asked"))
        return results

    async def _sample(
        self, name: str, prompt: Sequence[ChatMessage], temperatures: Sequence[float], first_seed: int, call: "_Heard"
    ) -> list[TextResult]:
        agent, instance = self.team.agents[name], self.cast.by_agent[name]
        width = _at_once(instance, len(temperatures))
        results: list[TextResult] = []
        for start in range(0, len(temperatures), width):
            batch = temperatures[start : start + width]
            lanes = [f"{name} {number}" for number in range(len(batch))]
            fan_out = InstanceFanOut(instance.engine, lanes, leads=False)
            await fan_out.share_prefix(prompt, max(self.deadline - time.monotonic(), 0.1))
            results += await asyncio.gather(
                *(
                    text_call(
                        self._engine(name),
                        self._request(agent, prompt, temperature, first_seed + start + number, fan_out.slot_of(lane)),
                        on_attempt=call.starts,
                        on_part=call.hears,
                        may_retry=lambda: False,
                        deadline=self.deadline,
                    )
                    for number, (lane, temperature) in enumerate(zip(lanes, batch, strict=True))
                )
            )
        return results

    def _place(self, name: str) -> AbstractAsyncContextManager[object]:
        """Where prefixes are copied between slots, one call at a time: a copy waits for a slot that is at work."""
        instance = self.cast.by_agent[name]
        if instance.engine.profile.fan_out is not FanOut.COPY_SLOT:
            return nullcontext()
        return self._places.setdefault(instance.name, asyncio.Lock())

    def _engine(self, name: str) -> Engine:
        """The agent's engine; with a journal, the one that remembers."""
        engine = self.cast.by_agent[name].engine
        if self.journal is None:
            return engine
        return self._engines.setdefault(name, JournaledEngine(engine, self.journal, name))

    def _request(
        self,
        agent: Agent,
        prompt: Sequence[ChatMessage],
        temperature: float | None = None,
        seed: int | None = None,
        slot: int | None = None,
    ) -> GenerateRequest:
        return GenerateRequest(
            messages=prompt,
            max_output_tokens=agent.max_output_tokens,
            max_thinking_tokens=agent.thinking_reserve,
            temperature=agent.temperature if temperature is None else temperature,
            seed=seed,
            slot=slot,
            thinking=agent.thinking,
            request_id=f"{self.recorder.turn}-{next(self._requests)}",
        )

    async def _fitting(self, name: str, agent: Agent, prompt: Sequence[ChatMessage]) -> int:
        engine = self.cast.by_agent[name].engine
        tokens = await engine.count_tokens(prompt)
        budget = min(agent.max_input_tokens or engine.context_tokens, engine.context_tokens - agent.output_reserve)
        if tokens > budget:
            message = f"the prompt of {tokens} tokens is over the budget of {budget}"
            hint = f"the instance's context is {engine.context_tokens} tokens; give it more, or shorten the request"
            raise ContextBudgetError(message, where=f"agent {name}", hint=hint)
        return tokens


def _as_text(team: Team, agent: Agent) -> Team:
    """The team as one in which the agent writes text, so that its prompt asks for no JSON."""
    return team.model_copy(update={"sections": {**team.sections, agent.writes: Section(text=True)}})


def _at_once(instance: Instance, wanted: int) -> int:
    """How many requests the instance runs at the same time."""
    slots = getattr(instance.engine, "slots", None)
    return max(1, min(wanted, slots)) if isinstance(slots, int) else max(1, wanted)


@dataclass
class _Heard:
    """Tells the event stream how one call goes."""

    calls: DirectCalls
    name: str
    prompt_tokens: int
    attempts: int = 0
    pieces: int = 0

    def starts(self, attempt: int, problems: tuple[str, ...]) -> None:
        self.attempts += 1
        emit = self.calls.recorder.emit
        if attempt > 1:
            emit(AgentRepair, agent=self.name, problems=problems)
        instance = self.calls.cast.by_agent[self.name].name
        emit(
            AgentStarted,
            agent=self.name,
            instance=instance,
            attempt=self.attempts,
            prompt_tokens=self.prompt_tokens,
        )

    def hears(self, part: StreamPart, attempt: int) -> None:
        if not isinstance(part, TextDelta):
            return
        self.pieces += 1
        if self.pieces == 1:
            self.calls.recorder.emit(AgentFirstToken, agent=self.name, attempt=attempt)
        elif self.pieces % _PROGRESS_EVERY == 0:
            self.calls.recorder.emit(AgentProgress, agent=self.name, output_tokens=self.pieces)

    async def ended(self, results: Sequence[StructuredResult | TextResult], *, reason: str | None) -> None:
        if self.calls.journal is not None:
            await self.calls.journal.keep(self.name)
        usage = [attempt.usage for result in results for attempt in result.attempts if attempt.usage is not None]
        self.calls.usage += usage
        self.calls.recorder.emit(
            AgentFinished,
            agent=self.name,
            status="failed" if reason else "done",
            reason=reason,
            attempts=self.attempts,
            prompt_tokens=sum(use.prompt for use in usage),
            cached_tokens=sum(use.cached or 0 for use in usage),
            output_tokens=sum(use.output for use in usage),
        )
