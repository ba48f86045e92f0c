"""One agent of a running turn, from waiting for its reads to its section on the blackboard."""

import asyncio
import logging
import time
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from repertory.engines.protocol import (
    ChatMessage,
    Engine,
    FinishReason,
    GenerateRequest,
    Generation,
    StreamPart,
    TextDelta,
    TokenUsage,
)
from repertory.errors import EngineError, EngineUnavailableError, RepertoryError, StorageError, StreamError
from repertory.runtime.cast import Instance
from repertory.runtime.context import SharedContext, answer_schema, clean_text
from repertory.runtime.context_fit import PromptParts, fit_prompt
from repertory.runtime.durable.engine import JournaledEngine
from repertory.runtime.durable.journal import TurnJournal
from repertory.runtime.events import (
    AgentDelta,
    AgentFinished,
    AgentFirstToken,
    AgentProgress,
    AgentQueued,
    AgentRepair,
    AgentStarted,
    ContextCut,
    MergeDone,
)
from repertory.runtime.fan_out import InstanceFanOut
from repertory.runtime.harness.interface import AgentRun, Harness
from repertory.runtime.recorder import Recorder
from repertory.runtime.rules import TeamRules, Written
from repertory.runtime.structured import FailureKind, StructuredResult, TextResult, structured_call, text_call
from repertory.runtime.turn_state import ReadsResolved, SectionSkippedError, TurnState
from repertory.storage.records import SectionVersion

__all__ = ("AgentCall", "Blackboard")


class Blackboard(Protocol):
    """Where an agent's answer goes."""

    async def commit(
        self, agent: str, written: Written, status: Literal["done", "fallback"], reason: str | None
    ) -> None:
        """Write an agent's section and its commitments, whole or not at all, and let its readers go on."""
        ...

    def stands(self, agent: str, version: SectionVersion) -> None:
        """Let the readers of a section go on that was written before the turn was taken up again."""
        ...


_LOG = logging.getLogger(__name__)

_LEFT = "the person left"

_PROGRESS_EVERY = 8
"""Pieces of a stream between two progress events."""

Status = Literal["done", "failed", "late", "skipped", "fallback"]


@dataclass
class _CutText:
    """What a text has come to so far, and whether it ended at its cap."""

    text: str = ""
    at_cap: bool = False

    def hears(self, part: StreamPart) -> None:
        if isinstance(part, TextDelta):
            self.text += part.text
        elif isinstance(part, Generation):
            self.at_cap = part.finish_reason is FinishReason.LENGTH


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
    journal: TurnJournal
    board: Blackboard
    harness: Harness
    prompt_tokens: int = 0
    attempts: int = 0
    usage: list[TokenUsage] = field(default_factory=list[TokenUsage])
    spoken: str = ""
    """Words the person has already seen (an agent that streams)."""
    shortfall: str | None = None
    """Why the section is not the agent's own whole answer, although it is written."""
    by_code: bool = False
    """Whether the section was written by the team's code, in the agent's place."""
    left: bool = False
    """Whether the person whom its words are for has left."""
    _pieces: int = 0
    _stood: bool = False
    _time: asyncio.Timeout | None = None

    def __post_init__(self) -> None:
        self._engine: Engine = JournaledEngine(self.instance.engine, self.journal, self.name)

    def leave(self) -> None:
        """The person has left: what only they were waiting for is stopped, and its slot is free."""
        self.left = True
        if self._time is not None and not self._time.expired():
            self._time.reschedule(asyncio.get_running_loop().time())

    async def run(self) -> None:
        """Carry the agent through; every failure of its own ends here and costs its section only."""
        status: Status = "failed"
        reason: str | None = None
        loop = asyncio.get_running_loop()
        ends = loop.time() + (self.deadline - time.monotonic())
        try:
            async with asyncio.timeout_at(loop.time() if self.left else ends) as self._time:
                status, reason = await self._work()
        except TimeoutError:
            status, reason = await self._stopped()
        except StorageError as error:  # not the agent's failure: nothing can be kept any more
            reason = error.message
            raise
        except SectionSkippedError as skipped:
            status, reason = ("failed" if skipped.failed else "skipped"), str(skipped)
        except RepertoryError as error:
            reason = error.message
            if isinstance(error, EngineUnavailableError | StreamError):  # it went away before the request was sent
                self.journal.lost.add(self.name)
        except Exception as error:  # noqa: BLE001 - a mistake in a team's code costs the section, not the turn
            _LOG.exception("agent %s of turn %s", self.name, self.state.turn)
            reason = f"error in the team's code: {type(error).__name__}: {error}"
        except asyncio.CancelledError:
            status, reason = "late", "stopped before it was done"
            raise
        finally:
            if status not in {"done", "fallback"}:
                self.state.gave_nothing(self.name, reason or "failed")
            if not self._stood:
                self.fan_out.ended(self.name)
            if not (self._stood and self.recorder.has(AgentFinished, agent=self.name, status=status)):
                self._tell_end(status, reason)

    def _tell_end(self, status: Status, reason: str | None) -> None:
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

    async def _stopped(self) -> tuple[Status, str | None]:
        """The end of an agent whose time is over, or whose person has left."""
        reason = _LEFT if self.left else "its share of the turn's time was over"
        if said := self.spoken.strip():  # what the person has seen stands
            await self._write(self.rules.write(self.name, said, self.state.view()), reason=reason)
            return "done", reason
        return ("skipped" if self.left else "late"), reason

    def _stands(self, version: SectionVersion) -> tuple[Status, str | None]:
        """The section was written before the turn was cut off: nobody is asked again."""
        self._stood = True
        calls, outcome = self.journal.calls_of(self.name), self.journal.outcome(self.name)
        self.usage = [usage for call in calls if (usage := call.tokens()) is not None]
        self.attempts = len(calls)
        self.board.stands(self.name, version)
        if outcome is None:
            return "done", None
        self.state.merge = outcome.merge or self.state.merge
        self.shortfall, self.by_code = outcome.reason, outcome.status == "fallback"
        return outcome.status, outcome.reason

    async def _work(self) -> tuple[Status, str | None]:
        if (version := self.journal.written.get(self.name)) is not None:
            return self._stands(version)
        agent = self.state.team.agents[self.name]
        if waits := self.state.waits_for(self.name):
            self.recorder.emit(AgentQueued, agent=self.name, waits_for=waits)
        reads = await self.state.resolve_reads(self.name, self.recorder.elapsed_s)
        await self.fan_out.turn_of(self.name)
        schema = answer_schema(agent, self.state.team)
        self._engine = JournaledEngine(self._played_by_harness(reads, schema), self.journal, self.name)
        if agent.writes == self.state.team.replies.full:
            self._merge()
        view = self.state.view()
        shown = self.rules.private_context(self.name, agent, view)
        last = self.rules.last_words(self.name, view)
        parts = PromptParts(self.name, agent, self.state.team, self.shared, reads, shown, last)
        fitted = await fit_prompt(self._engine, parts)
        self.prompt_tokens = fitted.tokens
        for part, tokens in fitted.cuts:
            self.recorder.emit(ContextCut, agent=self.name, part=part, tokens=tokens)
        request = GenerateRequest(
            messages=fitted.messages,
            max_output_tokens=agent.max_output_tokens,
            max_thinking_tokens=agent.thinking_reserve,
            temperature=agent.temperature,
            priority=self.priority,
            slot=self.fan_out.slot_of(self.name),
            thinking=agent.thinking,
            request_id=f"{self.state.turn}-{self.name}",
        )
        if schema is None:
            return await self._say(request)
        return await self._fill(request, schema)

    def _played_by_harness(self, reads: ReadsResolved, schema: dict[str, Any] | None) -> Engine:
        agent = self.state.team.agents[self.name]
        stands = self.state.sections.get(agent.writes)
        run = AgentRun(
            name=self.name,
            agent=agent,
            team=self.state.team,
            turn=self.state.turn,
            user=self.state.session.user,
            session=self.state.session.id,
            instance=self.instance.name,
            reads=reads,
            schema=schema,
            version=stands.version if stands is not None else 0,
            tell=lambda kind, fields: self.recorder.emit(kind, **fields),
        )
        return self.harness.attach(run, self.instance.engine)

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
            self._engine,
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
        cut = _CutText()

        def starts(attempt: int, problems: tuple[str, ...]) -> None:
            nonlocal gate, cut
            cut = _CutText()
            if gate is not None and attempt > 1:  # it may hold back words of the try that broke off
                gate = self.rules.gate(self.name, self.state.view())
            self._starts(attempt, problems)

        def shows(part: StreamPart, attempt: int) -> None:
            self._hears(part, attempt)
            cut.hears(part)
            if gate is not None and isinstance(part, TextDelta):
                self._speak(gate.feed(clean_text(part.text)))

        instead: Written | None = None

        def may_retry() -> bool:
            nonlocal instead
            if cut.at_cap and not streams:
                problems = ("the text was cut at its cap",)
                instead = self.rules.fallback(self.name, clean_text(cut.text), problems, self.state.view())
            return instead is None and not self.spoken

        result: TextResult = await text_call(
            self._engine,
            request,
            # Words that the person has seen can not be mended any more.
            check=lambda text: [] if self.spoken else self.rules.check(self.name, text, self.state.view()),
            on_attempt=starts,
            on_part=shows,
            may_retry=may_retry,
            deadline=self.deadline,
        )
        self.usage = [attempt.usage for attempt in result.attempts if attempt.usage is not None]
        if instead is not None:
            return await self._instead(instead, result.reason or "cut at its cap")
        if gate is None:
            return await self._settle(clean_text(result.text) if result.text else None, result)
        self._speak(gate.close())
        said = self.spoken.strip()
        if not said or await self._is_lost(result):
            return await self._settle(None, result)
        # What was said stands, also when the stream broke off in the middle of it.
        await self._write(self.rules.write(self.name, said, self.state.view()), reason=result.reason)
        return "done", result.reason

    async def _is_lost(self, result: StructuredResult | TextResult) -> bool:
        """Whether the engine went away: then the section is left open for when the turn is taken up again."""
        lost = result.failure is FailureKind.ENGINE_UNAVAILABLE
        if result.failure in {FailureKind.STREAM_BROKEN, FailureKind.ENGINE_ERROR}:
            try:
                await self._engine.count_tokens([ChatMessage("user", ".")])
            except EngineError:
                lost = True
        if lost:
            self.journal.lost.add(self.name)
        return lost

    def _speak(self, text: str) -> None:
        if text:
            self.spoken += text
            self.recorder.emit(AgentDelta, agent=self.name, text=text)

    async def _settle(self, answer: Any, result: StructuredResult | TextResult) -> tuple[Status, str | None]:
        """Write what the agent answered, or what the team's code puts in its place."""
        view = self.state.view()
        if result.usable and answer is not None:
            await self._write(self.rules.write(self.name, answer, view))
            return "done", None
        reason = result.reason or "no words for the person"
        if await self._is_lost(result):
            return "failed", reason
        await self.journal.keep(self.name)
        fallback = self.rules.fallback(self.name, answer, result.problems, view)
        if fallback is None:
            return "late" if result.failure is FailureKind.TIMEOUT else "failed", reason
        return await self._instead(fallback, reason)

    async def _instead(self, fallback: Written, reason: str) -> tuple[Status, str | None]:
        """Write what the team's code puts in the place of the agent's answer."""
        await self._write(fallback, reason=reason, by_code=True)
        return "fallback", reason

    async def _write(self, written: Written, *, reason: str | None = None, by_code: bool = False) -> None:
        if written.merge is not None:
            self.state.merge = written.merge
        await self.board.commit(self.name, written, "fallback" if by_code else "done", reason)
        self.shortfall, self.by_code = reason, by_code

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
