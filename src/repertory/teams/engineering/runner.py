"""`repertory build`: a request from its words to a released agent, kept so that a crash costs no finished work."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from repertory.clock import Clock, system_clock
from repertory.errors import OutputError, RepertoryError, StorageError, UsageError
from repertory.registry.package import AgentPackage
from repertory.runtime.cast import Cast
from repertory.runtime.context import SharedContext
from repertory.runtime.direct_call import DirectCalls
from repertory.runtime.durable.journal import TurnJournal
from repertory.runtime.events import SectionWritten, TurnFinished, TurnStarted
from repertory.runtime.recorder import EventSink, Recorder
from repertory.runtime.rules import TeamRules
from repertory.runtime.team import Team
from repertory.runtime.turn_start import StartedTurn, begin_turn, take_up_again
from repertory.runtime.turn_state import TurnState
from repertory.sandbox import Sandbox
from repertory.storage.records import SectionVersion
from repertory.storage.store import Store
from repertory.teams.engineering.build import Build, Built
from repertory.teams.engineering.build_result import BuildResult, steps_of
from repertory.teams.engineering.contract import Contract, Tool
from repertory.teams.engineering.contract_text import read_contract
from repertory.teams.engineering.execution import Examiner
from repertory.teams.engineering.improvement import Improvement
from repertory.teams.engineering.knowledge import find_notes
from repertory.teams.engineering.package_agent import agent_name, package_agent
from repertory.teams.engineering.refusal import refusal_of
from repertory.teams.engineering.team import engineering_team

__all__ = ("BuildRunner", "Release", "request_text")

Release = Callable[[AgentPackage, Built], Awaitable[str]]
"""Puts a package through gate and canary; returns `name@version`."""

_CONTRACT = "\n\nContract:\n"
_IMPROVES = "\n\nImproves:\n"
_MOST_NOTES = 2


def request_text(request: str, contract: str | None) -> str:
    """The request and its contract as one message, as it is kept."""
    return f"{request.strip()}{_CONTRACT}{contract.strip()}" if contract else request.strip()


@dataclass
class BuildRunner:
    """Carries requests through the engineering team.

    Args:
        cast: The instance of every agent.
        store: Where builds are kept; a build is a turn of the team.
        release: Puts what was built through gate and canary.
        taken: Names that agents have already.
        sandbox: Where code runs.
        clock: The clock.
        team: The team.
        improvement_of: Reads what is to be improved, by its label; a build that was cut off needs it again.
    """

    cast: Cast
    store: Store
    release: Release
    taken: Callable[[], Sequence[str]] = tuple
    sandbox: Sandbox = field(default_factory=Sandbox)
    clock: Clock = system_clock
    team: Team = field(default_factory=engineering_team)
    improvement_of: Callable[[str], Improvement] | None = None

    async def run(
        self,
        request: str,
        contract: str | None = None,
        *,
        user: str,
        improves: Improvement | None = None,
        budget_minutes: float = 20.0,
        sinks: Sequence[EventSink] = (),
    ) -> BuildResult:
        """Carry a request through the team.

        Args:
            request: What the person wants, in their words; of an improvement, what must be better.
            contract: The public contract, where they give one.
            user: Who asks.
            improves: The version whose successor is built, under its contract and with its tests.
            budget_minutes: When it must be over.
            sinks: Get every event.

        Raises:
            UsageError: The contract promises nothing, or the request is empty.
            SandboxError: Code can not be isolated on this machine.
            StorageError: The database can not be read or written.
        """
        if improves is not None:
            request, contract = improves.task(request), improves.contract
        if contract:
            read_contract(contract)
        self.sandbox.isolation()
        text = request_text(request, contract) + (f"{_IMPROVES}{improves.label}" if improves is not None else "")
        started = await asyncio.to_thread(
            begin_turn, self.store, self.team, TeamRules(), text, user=user, session=None, now=self.clock()
        )
        return await self._carry(started, improves, budget_minutes, sinks)

    async def resume(self, build: str, *, budget_minutes: float = 20.0, sinks: Sequence[EventSink] = ()) -> BuildResult:
        """Complete a build that was cut off; what its agents had answered is not asked for again.

        Raises:
            UsageError: There is no such build, it is complete, or it improves an agent that can not be read here.
            StorageError: Another process carries it.
        """
        started = await asyncio.to_thread(take_up_again, self.store, self.team, TeamRules(), build)
        return await self._carry(started, None, budget_minutes, sinks)

    async def _improved(self, label: str) -> Improvement | None:
        if not label:
            return None
        if self.improvement_of is None:
            message = f"this build improves {label}, which can not be read here"
            raise UsageError(message, hint="go on with it by `repertory resume`")
        return await asyncio.to_thread(self.improvement_of, label)

    async def _carry(
        self,
        started: StartedTurn,
        improves: Improvement | None,
        budget_minutes: float,
        sinks: Sequence[EventSink],
    ) -> BuildResult:
        turn = started.state.turn

        def keep(events: Sequence[Any]) -> None:
            self.store.turns.append_events(turn, [(event.seq, event.type, event.model_dump_json()) for event in events])

        recorder = Recorder(turn, self.clock, sinks, keep, started.earlier)
        try:
            result = await self._build(started, improves, recorder, time.monotonic() + budget_minutes * 60)
            await recorder.close()
            status = "complete" if result.status == "built" else "partial"
            await asyncio.to_thread(self.store.turns.finish_turn, turn, status, result.document(), at=self.clock())
        except BaseException:
            with suppress(StorageError):
                await asyncio.shield(recorder.close())
                await asyncio.shield(asyncio.to_thread(self.store.turns.interrupt, turn))
            raise
        return result

    async def _build(
        self, started: StartedTurn, improves: Improvement | None, recorder: Recorder, deadline: float
    ) -> BuildResult:
        state = started.state
        recorder.emit(
            TurnStarted,
            team=self.team.name,
            user=state.session.user,
            session=state.session.id,
            message=state.message.id,
            agents=tuple(self.team.agents),
        )
        asked, _, label = state.message.text.partition(_IMPROVES)
        improves = improves or await self._improved(label)
        request, _, written = asked.partition(_CONTRACT)
        refused = refusal_of(asked)
        if refused:
            return self._result(recorder, None, BuildResult(state.turn, "refused", None, refused))
        contract = read_contract(written) if written else None
        if contract is not None and contract.kind != "tools":
            why = f"this team builds agents with tools; {contract.kind} agents are not built yet"
            return self._result(recorder, None, BuildResult(state.turn, "not_built", None, why))
        calls = self._calls(state, recorder, deadline, started.journal)
        notes = find_notes(asked, most=_MOST_NOTES)
        try:
            async with asyncio.timeout_at(asyncio.get_running_loop().time() + max(deadline - time.monotonic(), 0.1)):
                kept = improves.tests if improves is not None else ()
                built = await Build(calls, Examiner(self.sandbox), contract, notes, kept).run()
        except TimeoutError:
            why = "the time was used up before anything could be shown to work"
            return self._result(recorder, calls, BuildResult(state.turn, "not_built", None, why))
        except OutputError as error:
            return self._result(recorder, calls, BuildResult(state.turn, "not_built", None, str(error)))
        return await self._settle(state, recorder, calls, request, built, improves)

    def _calls(self, state: TurnState, recorder: Recorder, deadline: float, journal: TurnJournal) -> DirectCalls:
        shared = SharedContext(preamble=self.team.preamble, memory="", history=(), message=state.message)
        return DirectCalls(self.team, self.cast, shared, recorder, deadline, journal)

    async def _settle(
        self,
        state: TurnState,
        recorder: Recorder,
        calls: DirectCalls,
        request: str,
        built: Built,
        improves: Improvement | None,
    ) -> BuildResult:
        """Keep what the agents made, and release it when it was shown to work."""
        agent, why = None, built.why
        if why is None:
            models = sorted({instance.engine.model for instance in self.cast.by_agent.values()})
            made_by: dict[str, Any] = {"team": self.team.name, "build": state.turn, "models": models}
            name = improves.agent if improves is not None else self._new_name(built)
            made_by |= {"improves": improves.label} if improves is not None else {}
            try:
                package = package_agent(name, built, request=request, made_by=made_by)
                agent = await self.release(package, built)
            except RepertoryError as error:
                why = f"it was built but not released: {error}"
        best = built.best
        passed, failed = (len(best.passed), len(best.failed)) if best else (0, len(built.selection.kept))
        result = BuildResult(
            build=state.turn,
            status="built" if agent else "not_built",
            agent=agent,
            why=why or _success(built.contract, passed, passed + failed, built),
            tools=[_document(tool) for tool in built.contract.tools] if agent else [],
            tests_written=passed + failed,
            tests_passed=passed,
            candidates=len(built.candidates),
        )
        for version in await asyncio.to_thread(self._keep_sections, state, built, result.why):
            recorder.emit(SectionWritten, section=version.section, version=version.version, agent=version.agent)
        return self._result(recorder, calls, result)

    def _new_name(self, built: Built) -> str:
        return agent_name(built.contract, built.specification["summary"], self.taken())

    def _keep_sections(self, state: TurnState, built: Built, why: str) -> list[SectionVersion]:
        board = self.store.blackboard(self.team.name, state.session.user)
        best = built.best
        cases = [{"call": case.text, "expects": "holds", "origin": case.origin} for case in built.selection.kept]
        values: dict[str, Any] = {
            "specification": {key: value for key, value in built.specification.items() if key != "functions"},
            "research": built.research,
            "architecture": built.architecture,
            "instructions": built.instructions,
            "code": best.candidate.source if best else None,
            "tests": {"cases": cases},
            "review": built.review,
            "audit": {"concerns": built.audit},
            "report": why,
        }
        writers = {agent.writes: name for name, agent in self.team.agents.items()}
        return [
            board.write(section, value, turn=state.turn, agent=writers[section], at=self.clock())
            for section, value in values.items()
            if value is not None
        ]

    def _result(self, recorder: Recorder, calls: DirectCalls | None, result: BuildResult) -> BuildResult:
        tokens = sum(use.prefill + use.output for use in calls.usage) if calls else 0
        status = "complete" if result.status == "built" else "partial"
        recorder.emit(TurnFinished, status=status, reason=None if result.status == "built" else result.why)
        return replace(result, tokens=tokens, seconds=recorder.elapsed_s, steps=steps_of(recorder.events))


def _document(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.note,
        "input_schema": tool.input_schema,
        "output_schema": tool.output_schema,
    }


def _success(contract: Contract, passed: int, written: int, built: Built) -> str:
    agreeing = built.best.group if built.best else 0
    names = ", ".join(contract.tool_names)
    return (
        f"{names}: passes {passed} of {written} tests, and {agreeing} of {len(built.candidates)} independent drafts "
        "behave in the same way"
    )
