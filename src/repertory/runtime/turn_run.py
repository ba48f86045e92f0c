"""One turn under way: its fan-out, its sections as they are written, and its end."""

import asyncio
import time
from collections.abc import Sequence
from typing import Literal, cast

from repertory.errors import EngineError, EngineUnavailableError, RepertoryError, StreamError
from repertory.runtime.agent_call import AgentCall
from repertory.runtime.compaction.facts import read_facts
from repertory.runtime.compaction.recall import recall
from repertory.runtime.context import SharedContext
from repertory.runtime.context_fit import fit_history
from repertory.runtime.durable.points import reached
from repertory.runtime.events import (
    ContextCut,
    NoticeShown,
    PrefixComputed,
    ReplyReady,
    SafetyRouted,
    TurnFinished,
    TurnResumed,
    TurnStarted,
)
from repertory.runtime.fan_out import InstanceFanOut
from repertory.runtime.recorder import Recorder
from repertory.runtime.turn_board import TurnBoard, TurnParts, join_words
from repertory.runtime.turn_result import TurnResult, build_result
from repertory.runtime.turn_start import StartedTurn

__all__ = ("RunningTurn",)

Status = Literal["complete", "partial", "failed"]


class RunningTurn:
    """Carries one turn from its first event to its last."""

    def __init__(self, parts: TurnParts, started: StartedTurn, recorder: Recorder) -> None:
        self.parts = parts
        self.team = parts.team
        self.rules = parts.rules
        self.state = started.state
        self.journal = started.journal
        self.resumes = started.resumes
        self.recorder = recorder
        self.calls: dict[str, AgentCall] = {}
        self.board = TurnBoard(parts, started.state, started.journal, recorder)
        self.fan_outs: list[InstanceFanOut] = []
        self.shared_new = 0
        self.shared_tokens: dict[str, int] = {}
        self.lost_engine = False
        self.left = False

    @property
    def unfinished(self) -> bool:
        """Whether agents lost their engine, so that the turn can be completed when it is back."""
        return self.lost_engine or bool(self.journal.lost)

    async def carry(self) -> TurnResult:
        """Run what has not been done yet.

        Raises:
            StorageError: What the agents did can not be kept; the turn can be taken up again.
        """
        state = self.state
        self._tell_beginning()
        if not state.message.text.strip():
            return await self._finish("failed", "the message is empty")
        self.board.notice = self.rules.notice(state.view()) or ""
        if self.board.notice and not self.recorder.has(NoticeShown):
            self.recorder.emit(NoticeShown, text=self.board.notice)
        if interception := self.rules.intercept(state.view()):
            if not self.recorder.has(SafetyRouted):
                self.recorder.emit(
                    SafetyRouted, level=state.safety.level, route=state.safety.route, reason=interception.reason
                )
            return await self._finish("complete", None, instead=interception.reply)
        failure = await self._ask_agents()
        if failure is not None:
            return await self._finish("failed", failure)
        return await self._finish(*self._status())

    async def _ask_agents(self) -> str | None:
        """Let the agents work until all have ended or the time is over; why nobody could work, if so."""
        try:
            async with asyncio.timeout(self.team.deadline_s):
                await self._fan_out()
        except TimeoutError:
            return None  # whoever was still at work is marked late; the turn ends with what it has
        except RepertoryError as error:
            self.lost_engine = isinstance(error, EngineUnavailableError | StreamError)
            return str(error)
        except ExceptionGroup as errors:
            raise _first(errors) from errors
        return None

    def keep_prefixes(self) -> None:
        """Let the engines keep the prompts they computed, for when the session comes back; after the turn's end."""
        for fan_out in self.fan_outs:
            fan_out.keep_prefix()

    def leave(self) -> None:
        """The person has left: who works for them alone stops; what will be remembered is still written."""
        self.left = True
        for name in self._for_the_person():
            if name in self.calls:
                self.calls[name].leave()

    def _for_the_person(self) -> list[str]:
        """The writers of replies, as far as no other agent waits for their words."""
        replies = {self.team.replies.first, self.team.replies.full}
        speaking = {name for name, agent in self.team.agents.items() if agent.writes in replies}
        while needed := {
            other
            for name, others in self.parts.schedule.waits_for.items()
            if name not in speaking
            for other in others
            if other in speaking
        }:
            speaking -= needed
        return sorted(speaking)

    def _tell_beginning(self) -> None:
        state = self.state
        if not self.recorder.has(TurnStarted):
            self.recorder.emit(
                TurnStarted,
                team=self.team.name,
                user=state.session.user,
                session=state.session.id,
                message=state.message.id,
                agents=tuple(self.team.agents),
            )
        if self.resumes:
            self.recorder.emit(TurnResumed, resumes=self.resumes, done=tuple(sorted(self.journal.written)))

    def _status(self) -> tuple[Status, str | None]:
        replies, failures = self.team.replies, self.state.failures
        if self.left:
            return "partial", "the person left"
        reasons = [f"{agent}: {why}" for agent, why in failures.items()]
        reasons += [f"{name}: {call.shortfall}" for name, call in self.calls.items() if call.shortfall]
        by_code = {self.team.agents[name].writes for name, call in self.calls.items() if call.by_code}
        # Fixed words alone are no reply: when no agent spoke, the turn has failed.
        if not any(self.board.words(section) for section in (replies.first, replies.full) if section not in by_code):
            return "failed", "; ".join(reasons) or "no agent replied"
        return ("partial", "; ".join(reasons)) if reasons else ("complete", None)

    async def _fan_out(self) -> None:
        order = self.parts.order
        shared = await self._shared_context(order)
        began = time.monotonic() - self.recorder.elapsed_s
        shares = self.parts.schedule.time_shares
        work: list[tuple[InstanceFanOut, list[str]]] = []
        for instance, agents in self.parts.cast.groups(order):
            # Who has written already is not sent anywhere, and takes no slot.
            sent = [name for name in agents if name not in self.journal.written]
            leads = bool(sent) and self.team.agents[sent[0]].writes == self.team.replies.first
            fan_out = InstanceFanOut(instance.engine, sent, leads=leads, owner=self.state.session.user)
            self.fan_outs.append(fan_out)
            work.append((fan_out, agents))
            for name in agents:
                self.calls[name] = AgentCall(
                    name=name,
                    state=self.state,
                    rules=self.rules,
                    recorder=self.recorder,
                    instance=instance,
                    fan_out=fan_out,
                    shared=shared,
                    priority=self.parts.schedule.priorities[name],
                    deadline=began + self.team.deadline_s * shares[name],
                    journal=self.journal,
                    board=self.board,
                    harness=self.parts.harness,
                )
        if self.left:
            self.leave()
        async with asyncio.TaskGroup() as group:
            for fan_out, agents in work:
                group.create_task(self._run_on(fan_out, agents, shared, began + self.team.deadline_s))

    async def _run_on(
        self, fan_out: InstanceFanOut, agents: Sequence[str], shared: SharedContext, deadline: float
    ) -> None:
        report = None
        try:
            if fan_out.agents:
                report = await fan_out.share_prefix(shared.messages(), max(deadline - time.monotonic(), 0.1))
        except EngineError as error:
            self.lost_engine = self.lost_engine or isinstance(error, EngineUnavailableError | StreamError)
            for name in fan_out.agents:
                self.state.gave_nothing(name, error.message)
            agents = [name for name in agents if name not in fan_out.agents]
        if report is not None:
            self.recorder.emit(
                PrefixComputed,
                tokens=report.usage.prompt,
                cached=report.usage.cached or 0,
                seconds=round(report.seconds, 4),
            )
        async with asyncio.TaskGroup() as group:
            for name in agents:
                group.create_task(self.calls[name].run(), name=f"agent {name}")

    async def _shared_context(self, order: Sequence[str]) -> SharedContext:
        """The shared context, with as much of the history as fits every instance."""
        state = self.state
        whole = SharedContext(
            preamble=self.team.preamble,
            memory=state.session.memory,
            history=state.history,
            message=state.message,
            recalled=recall(read_facts(state.remembered), state.message.text, state.session.memory),
        )
        fitted = await fit_history(whole, self.team, self.parts.cast, order)
        if fitted.cut_tokens:
            self.recorder.emit(ContextCut, agent="all", part="history", tokens=fitted.cut_tokens)
        self.shared_tokens = dict(fitted.tokens)
        self.shared_new = sum(self._gained(instance, tokens) for instance, tokens in fitted.tokens.items())
        return fitted.context

    def _gained(self, instance: str, tokens: int) -> int:
        """How many tokens of the shared prefix this session's earlier turns have not yet computed here."""
        session = self.state.session
        key = (instance, session.user, session.id)
        known = self.parts.shared_tokens.get(key, 0)
        self.parts.shared_tokens[key] = tokens
        return tokens - known if tokens > known else tokens

    async def _finish(self, status: Status, reason: str | None, *, instead: str | None = None) -> TurnResult:
        """End the turn; `instead` is the reply that the team's code gave in place of the agents."""
        state, replies = self.state, self.team.replies
        first = full = ""
        if status != "failed" and instead is not None:
            first, full = self.board.notice.strip(), instead.strip()
            await asyncio.to_thread(self.board.close, full)
            if first:
                self._tell_reply("first", first)
            self._tell_reply("full", full)
        elif status != "failed":
            said, full = self.board.words(replies.first), self.board.words(replies.full)
            # The notice is ours and not part of the talk: a model that read it there would say it again.
            await asyncio.to_thread(self.board.close, join_words(said, full))
            first = join_words(self.board.notice, said)
        reached("turn:closed")
        self.recorder.emit(TurnFinished, status=status, reason=reason)
        return build_result(
            state=state,
            status=status,
            reason=reason,
            first_reply=first,
            reply=full,
            events=self.recorder.events,
            calls=self.calls,
            shared_new=self.shared_new,
            shared_tokens=self.shared_tokens,
        )

    def _tell_reply(self, which: Literal["first", "full"], text: str) -> None:
        if not self.recorder.has(ReplyReady, which=which):
            self.recorder.emit(ReplyReady, which=which, text=text)


def _first(errors: Exception) -> Exception:
    """One of the errors of a group: agents that run side by side fail by the same cause."""
    while isinstance(errors, ExceptionGroup):
        errors = cast("ExceptionGroup[Exception]", errors).exceptions[0]
    return errors
