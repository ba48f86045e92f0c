"""One user message carried through the whole team."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from repertory.clock import Clock, system_clock
from repertory.errors import EngineError, RepertoryError
from repertory.runtime.agent_call import AgentCall
from repertory.runtime.cast import Cast
from repertory.runtime.context import SharedContext
from repertory.runtime.context_fit import fit_history
from repertory.runtime.events import (
    ContextCut,
    NoticeShown,
    PrefixComputed,
    ReplyReady,
    SafetyRouted,
    SectionWritten,
    TurnEvent,
    TurnFinished,
    TurnStarted,
)
from repertory.runtime.fan_out import InstanceFanOut
from repertory.runtime.recorder import EventSink, Recorder
from repertory.runtime.rules import TeamRules, Written
from repertory.runtime.schedule import Schedule, derive_schedule
from repertory.runtime.section_types import require_typed
from repertory.runtime.team import Team
from repertory.runtime.team_checks import require_team
from repertory.runtime.turn_result import TurnResult, build_result
from repertory.runtime.turn_start import begin_turn
from repertory.runtime.turn_state import TurnState
from repertory.storage.records import SectionVersion
from repertory.storage.store import Store

__all__ = ("TurnRunner",)

Status = Literal["complete", "partial", "failed"]


@dataclass
class TurnRunner:
    """Runs turns of one team on its instances.

    Args:
        team: The team.
        rules: The team's code.
        cast: The instance of every agent.
        store: Where blackboards, sessions and turns are kept.
        clock: The clock turns read.

    Raises:
        TeamError: The team is not valid.
    """

    team: Team
    rules: TeamRules
    cast: Cast
    store: Store
    clock: Clock = system_clock
    schedule: Schedule = field(init=False)
    shared_tokens: dict[tuple[str, str, str], int] = field(init=False, default_factory=dict[tuple[str, str, str], int])
    """Per instance, user and session, how many tokens of shared prefix earlier turns have computed."""

    def __post_init__(self) -> None:
        require_team(self.team, self.rules.code_sections)
        self.schedule = derive_schedule(self.team, self.rules.code_sections)

    @property
    def order(self) -> list[str]:
        """The agents, the most urgent first."""
        priorities = self.schedule.priorities
        return sorted(self.team.agents, key=lambda name: (priorities[name], self.schedule.stage_of(name)))

    async def run(
        self, text: str, *, user: str, session: str | None = None, sinks: Sequence[EventSink] = ()
    ) -> TurnResult:
        """Carry one message through the team.

        Args:
            text: The person's message.
            user: Whose blackboard.
            session: The session to continue or to start under this id; None starts a new one.
            sinks: Get every event as it happens.

        Returns:
            The whole turn; its status says whether it is complete, partial or failed, and why.

        Raises:
            UsageError: The user or session id can not be used.
            StorageError: The database can not be read or written.
        """
        state = await asyncio.to_thread(
            begin_turn, self.store, self.team, self.rules, text, user=user, session=session, now=self.clock()
        )
        recorder = Recorder(state.turn, self.clock, sinks, lambda events: self._keep(state.turn, events))
        try:
            result = await _RunningTurn(self, state, recorder).carry()
        except BaseException:
            await asyncio.shield(self._end(recorder, state.turn, "failed", None))
            raise
        await self._end(recorder, state.turn, result.status, result.document())
        return result

    async def _end(self, recorder: Recorder, turn: str, status: Status, document: object) -> None:
        await recorder.close()
        await asyncio.to_thread(self.store.turns.finish_turn, turn, status, document, at=self.clock())

    def _keep(self, turn: str, events: Sequence[TurnEvent]) -> None:
        self.store.turns.append_events(turn, [(event.seq, event.type, event.model_dump_json()) for event in events])


class _RunningTurn:
    """One turn under way."""

    def __init__(self, runner: TurnRunner, state: TurnState, recorder: Recorder) -> None:
        self.runner = runner
        self.team = runner.team
        self.rules = runner.rules
        self.state = state
        self.recorder = recorder
        self.calls: dict[str, AgentCall] = {}
        self.notice = ""
        self.shared_new = 0
        self.shared_tokens: dict[str, int] = {}

    async def carry(self) -> TurnResult:
        state = self.state
        self.recorder.emit(
            TurnStarted,
            team=self.team.name,
            user=state.session.user,
            session=state.session.id,
            message=state.message.id,
            agents=tuple(self.team.agents),
        )
        if not state.message.text.strip():
            return await self._finish("failed", "the message is empty")
        state.safety = self.rules.safety(state.view())
        await asyncio.to_thread(self.runner.store.turns.set_safety, state.turn, state.safety.level)
        self.notice = self.rules.notice(state.view()) or ""
        if self.notice:
            self.recorder.emit(NoticeShown, text=self.notice)
        if interception := self.rules.intercept(state.view()):
            self.recorder.emit(
                SafetyRouted, level=state.safety.level, route=state.safety.route, reason=interception.reason
            )
            return await self._finish("complete", None, instead=interception.reply)
        try:
            async with asyncio.timeout(self.team.deadline_s):
                await self._fan_out()
        except TimeoutError:
            pass  # whoever was still at work is marked late; the turn ends with what it has
        except RepertoryError as error:
            return await self._finish("failed", str(error))
        return await self._finish(*self._status())

    def _status(self) -> tuple[Status, str | None]:
        replies, failures = self.team.replies, self.state.failures
        reasons = [f"{agent}: {why}" for agent, why in failures.items()]
        reasons += [f"{name}: {call.shortfall}" for name, call in self.calls.items() if call.shortfall]
        by_code = {self.team.agents[name].writes for name, call in self.calls.items() if call.by_code}
        # Fixed words alone are no reply: when no agent spoke, the turn has failed.
        if not any(self._words(section) for section in (replies.first, replies.full) if section not in by_code):
            return "failed", "; ".join(reasons) or "no agent replied"
        return ("partial", "; ".join(reasons)) if reasons else ("complete", None)

    async def _fan_out(self) -> None:
        order = self.runner.order
        shared = await self._shared_context(order)
        deadline = time.monotonic() + self.team.deadline_s - self.recorder.elapsed_s
        async with asyncio.TaskGroup() as group:
            for instance, agents in self.runner.cast.groups(order):
                leads = self.team.agents[agents[0]].writes == self.team.replies.first
                fan_out = InstanceFanOut(instance.engine, agents, leads=leads)
                for name in agents:
                    self.calls[name] = AgentCall(
                        name=name,
                        state=self.state,
                        rules=self.rules,
                        recorder=self.recorder,
                        instance=instance,
                        fan_out=fan_out,
                        shared=shared,
                        priority=self.runner.schedule.priorities[name],
                        deadline=deadline,
                        commit=self._commit,
                    )
                group.create_task(self._run_on(fan_out, agents, shared, deadline))

    async def _run_on(
        self, fan_out: InstanceFanOut, agents: Sequence[str], shared: SharedContext, deadline: float
    ) -> None:
        try:
            report = await fan_out.share_prefix(shared.messages(), max(deadline - time.monotonic(), 0.1))
        except EngineError as error:
            for name in agents:
                self.state.gave_nothing(name, error.message)
            return
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
            preamble=self.team.preamble, memory=state.session.memory, history=state.history, message=state.message
        )
        fitted = await fit_history(whole, self.team, self.runner.cast, order)
        if fitted.cut_tokens:
            self.recorder.emit(ContextCut, agent="all", part="history", tokens=fitted.cut_tokens)
        self.shared_tokens = dict(fitted.tokens)
        self.shared_new = sum(self._gained(instance, tokens) for instance, tokens in fitted.tokens.items())
        return fitted.context

    def _gained(self, instance: str, tokens: int) -> int:
        """How many tokens of the shared prefix this session's earlier turns have not yet computed here."""
        session = self.state.session
        key = (instance, session.user, session.id)
        known = self.runner.shared_tokens.get(key, 0)
        self.runner.shared_tokens[key] = tokens
        return tokens - known if tokens > known else tokens

    async def _commit(self, agent: str, written: Written) -> None:
        version = await asyncio.to_thread(self._commit_now, agent, written)
        self.state.wrote(version)
        self.recorder.emit(SectionWritten, section=version.section, version=version.version, agent=agent)
        if version.section == self.team.replies.first:
            self.recorder.emit(ReplyReady, which="first", text=_join(self.notice, str(version.value)))
        elif version.section == self.team.replies.full and version.value:
            self.recorder.emit(ReplyReady, which="full", text=str(version.value))

    def _commit_now(self, agent: str, written: Written) -> SectionVersion:
        state, store = self.state, self.runner.store
        board = store.blackboard(self.team.name, state.session.user)
        section = self.team.agents[agent].writes
        require_typed(self.team, section, written.value)
        result = board.commit_agent_result(
            section,
            written.value,
            turn=state.turn,
            agent=agent,
            evidence=written.evidence,
            commitments=written.commitments,
            message=state.message.id,
            at=state.now,
        )
        if written.commitments:
            state.commitments = store.commitments.all(self.team.name, state.session.user)
        return result.section

    async def _finish(self, status: Status, reason: str | None, *, instead: str | None = None) -> TurnResult:
        """End the turn; `instead` is the reply that the team's code gave in place of the agents."""
        state, replies = self.state, self.team.replies
        first = full = ""
        if status != "failed" and instead is not None:
            first, full = self.notice.strip(), instead.strip()
            await asyncio.to_thread(self._close_turn, full)
            if first:
                self.recorder.emit(ReplyReady, which="first", text=first)
            self.recorder.emit(ReplyReady, which="full", text=full)
        elif status != "failed":
            said, full = self._words(replies.first), self._words(replies.full)
            # The notice is ours and not part of the talk: a model that read it there would say it again.
            await asyncio.to_thread(self._close_turn, _join(said, full))
            first = _join(self.notice, said)
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

    def _words(self, section: str | None) -> str:
        view = self.state.sections.get(section) if section else None
        return str(view.value) if view is not None and view.status == "written" else ""

    def _close_turn(self, words: str) -> None:
        """Write what code derives from the turn, and the team's words as one message."""
        state, store = self.state, self.runner.store
        board = store.blackboard(self.team.name, state.session.user)
        derived: dict[str, Any] = self.rules.derived_sections(state.view())
        for name, value in derived.items():
            latest = state.sections.get(name)
            if latest is None or latest.value != value:
                require_typed(self.team, name, value)
                state.wrote(board.write(name, value, turn=state.turn, agent="code", at=state.now))
        if words:
            store.messages.append_message(state.session, "team", words, state.turn, state.now)


def _join(first: str, second: str) -> str:
    return "\n\n".join(part for part in (first.strip(), second.strip()) if part)
