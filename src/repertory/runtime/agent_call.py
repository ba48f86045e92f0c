"""One agent of a running turn, from waiting for its reads to its section on the blackboard."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from repertory.engines.protocol import GenerateRequest, StreamPart, TextDelta, TokenUsage
from repertory.errors import ContextBudgetError, RepertoryError
from repertory.runtime.cast import Instance
from repertory.runtime.context import SharedContext, answer_schema, clean_text, private_part
from repertory.runtime.events import (
    AgentDelta,
    AgentFinished,
    AgentFirstToken,
    AgentProgress,
    AgentQueued,
    AgentRepair,
    AgentStarted,
    MergeDone,
)
from repertory.runtime.fan_out import InstanceFanOut
from repertory.runtime.recorder import Recorder
from repertory.runtime.rules import TeamRules, Written
from repertory.runtime.structured import FailureKind, StructuredResult, TextResult, structured_call, text_call
from repertory.runtime.turn_state import SectionSkippedError, TurnState

__all__ = ("AgentCall", "CommitSection")

CommitSection = Callable[[str, Written], Awaitable[None]]
"""Writes an agent's section and its commitments, whole or not at all, and lets its readers go on."""

_LOG = logging.getLogger(__name__)

_PROGRESS_EVERY = 8
"""Pieces of a stream between two progress events."""

Status = Literal["done", "failed", "late", "skipped", "fallback"]


@dataclass
class AgentCall:
    """The run of one agent in one turn."""

    name: str
    state: TurnState
    rules: TeamRules
    recorder: Recorder
    instance: Instance
    fan_out: InstanceFanOut
    shared: SharedContext
    priority: int
    deadline: float
    commit: CommitSection
    prompt_tokens: int = 0
    attempts: int = 0
    usage: list[TokenUsage] = field(default_factory=list[TokenUsage])
    spoken: str = ""
    """Words the person has already seen (an agent that streams)."""
    shortfall: str | None = None
    """Why the section is not the agent's own whole answer, although it is written."""
    by_code: bool = False
    """Whether the section was written by the team's code, in the agent's place."""
    _pieces: int = 0

    async def run(self) -> None:
        """Carry the agent through; every failure of its own ends here and costs its section only."""
        status: Status = "failed"
        reason: str | None = None
        try:
            status, reason = await self._work()
        except SectionSkippedError as skipped:
            status, reason = ("failed" if skipped.failed else "skipped"), str(skipped)
        except RepertoryError as error:
            reason = error.message
        except Exception as error:  # noqa: BLE001 - a mistake in a team's code costs the section, not the turn
            _LOG.exception("agent %s of turn %s", self.name, self.state.turn)
            reason = f"error in the team's code: {type(error).__name__}: {error}"
        except asyncio.CancelledError:
            status, reason = "late", "stopped before it was done"
            raise
        finally:
            if status not in {"done", "fallback"}:
                self.state.gave_nothing(self.name, reason or "failed")
            self.fan_out.ended(self.name)
            self.recorder.emit(
                AgentFinished,
                agent=self.name,
                status=status,
                reason=reason,
                attempts=self.attempts,
                prompt_tokens=sum(use.prompt for use in self.usage),
                cached_tokens=sum(use.cached or 0 for use in self.usage),
                output_tokens=sum(use.output for use in self.usage),
            )

    async def _work(self) -> tuple[Status, str | None]:
        agent = self.state.team.agents[self.name]
        if waits := self.state.waits_for(self.name):
            self.recorder.emit(AgentQueued, agent=self.name, waits_for=waits)
        reads = await self.state.resolve_reads(self.name, self.recorder.elapsed_s)
        await self.fan_out.turn_of(self.name)
        if agent.writes == self.state.team.replies.full:
            self._merge()
        view = self.state.view()
        shown = self.rules.private_context(self.name, agent, view)
        prompt = self.shared.messages(private_part(self.name, agent, self.state.team, reads, shown))
        self.prompt_tokens = self._fit(await self.instance.engine.count_tokens(prompt))
        request = GenerateRequest(
            messages=prompt,
            max_output_tokens=agent.max_output_tokens,
            temperature=agent.temperature,
            priority=self.priority,
            slot=self.fan_out.slot_of(self.name),
            thinking=agent.thinking or None,
            request_id=f"{self.state.turn}-{self.name}",
        )
        schema = answer_schema(agent, self.state.team)
        if schema is None:
            return await self._say(request)
        return await self._fill(request, schema)

    def _fit(self, prompt_tokens: int) -> int:
        agent = self.state.team.agents[self.name]
        context = self.instance.engine.context_tokens
        budget = min(agent.max_input_tokens or context, context - agent.max_output_tokens)
        if prompt_tokens > budget:
            message = f"the prompt of {prompt_tokens} tokens is over the budget of {budget}"
            raise ContextBudgetError(
                message,
                where=f"agent {self.name}",
                hint=f"the instance's context is {context} tokens, {agent.max_output_tokens} are kept for the answer",
            )
        return prompt_tokens

    def _merge(self) -> None:
        merge = self.rules.merge(self.state.view())
        if merge is None:
            return
        self.state.merge = merge
        self.recorder.emit(
            MergeDone, claims=len(merge.claims), conflicts=len(merge.conflicts), blocked_moves=merge.blocked_moves
        )

    async def _fill(self, request: GenerateRequest, schema: dict[str, Any]) -> tuple[Status, str | None]:
        result: StructuredResult = await structured_call(
            self.instance.engine,
            request,
            schema,
            check=lambda value: self.rules.check(self.name, value, self.state.view()),
            on_attempt=self._starts,
            on_part=self._hears,
            deadline=self.deadline,
            health=self.instance.health,
        )
        self.usage = [attempt.usage for attempt in result.attempts if attempt.usage is not None]
        return await self._settle(result.value, result)

    async def _say(self, request: GenerateRequest) -> tuple[Status, str | None]:
        streams = self.state.team.agents[self.name].writes == self.state.team.replies.streamed
        gate = self.rules.gate(self.name, self.state.view()) if streams else None

        def starts(attempt: int, problems: tuple[str, ...]) -> None:
            nonlocal gate
            if gate is not None and attempt > 1:  # it may hold back words of the try that broke off
                gate = self.rules.gate(self.name, self.state.view())
            self._starts(attempt, problems)

        def shows(part: StreamPart, attempt: int) -> None:
            self._hears(part, attempt)
            if gate is not None and isinstance(part, TextDelta):
                self._speak(gate.feed(clean_text(part.text)))

        result: TextResult = await text_call(
            self.instance.engine,
            request,
            check=None if streams else (lambda text: self.rules.check(self.name, text, self.state.view())),
            on_attempt=starts,
            on_part=shows,
            may_retry=lambda: not self.spoken,
            deadline=self.deadline,
        )
        self.usage = [attempt.usage for attempt in result.attempts if attempt.usage is not None]
        if gate is None:
            return await self._settle(clean_text(result.text) if result.text else None, result)
        self._speak(gate.close())
        said = self.spoken.strip()
        if not said:
            return await self._settle(None, result)
        # What was said stands, also when the stream broke off in the middle of it.
        await self.commit(self.name, self.rules.write(self.name, said, self.state.view()))
        self.shortfall = result.reason
        return "done", result.reason

    def _speak(self, text: str) -> None:
        if text:
            self.spoken += text
            self.recorder.emit(AgentDelta, agent=self.name, text=text)

    async def _settle(self, answer: Any, result: StructuredResult | TextResult) -> tuple[Status, str | None]:
        """Write what the agent answered, or what the team's code puts in its place."""
        view = self.state.view()
        if result.usable and answer is not None:
            await self.commit(self.name, self.rules.write(self.name, answer, view))
            return "done", None
        reason = result.reason or "no words for the person"
        fallback = self.rules.fallback(self.name, answer, result.problems, view)
        if fallback is None:
            return "late" if result.failure is FailureKind.TIMEOUT else "failed", reason
        await self.commit(self.name, fallback)
        self.shortfall, self.by_code = reason, True
        return "fallback", reason

    def _starts(self, attempt: int, problems: tuple[str, ...]) -> None:
        self.attempts = attempt
        self._pieces = 0
        if attempt > 1:
            self.recorder.emit(AgentRepair, agent=self.name, problems=problems)
        self.recorder.emit(
            AgentStarted,
            agent=self.name,
            instance=self.instance.name,
            attempt=attempt,
            prompt_tokens=self.prompt_tokens,
        )

    def _hears(self, part: StreamPart, attempt: int) -> None:
        if not isinstance(part, TextDelta):
            return
        self._pieces += 1
        if self._pieces == 1:
            self.fan_out.saw_first_token(self.name)
            self.recorder.emit(AgentFirstToken, agent=self.name, attempt=attempt)
        elif self._pieces % _PROGRESS_EVERY == 0:
            self.recorder.emit(AgentProgress, agent=self.name, output_tokens=self._pieces)
