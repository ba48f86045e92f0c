"""One user message carried through the whole team."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from repertory.clock import Clock, system_clock
from repertory.errors import StorageError
from repertory.runtime.cast import Cast
from repertory.runtime.compaction.compactor import CompactionReport, Compactor
from repertory.runtime.durable.points import reached
from repertory.runtime.events import TurnEvent
from repertory.runtime.harness.interface import Harness
from repertory.runtime.harness.native import NativeHarness
from repertory.runtime.recorder import EventSink, Recorder
from repertory.runtime.rules import TeamRules
from repertory.runtime.schedule import Schedule, derive_schedule
from repertory.runtime.team import Team
from repertory.runtime.team_checks import require_team
from repertory.runtime.turn_board import TurnParts
from repertory.runtime.turn_result import TurnResult
from repertory.runtime.turn_run import RunningTurn
from repertory.runtime.turn_start import StartedTurn, begin_turn, take_up_again
from repertory.storage.records import Turn
from repertory.storage.store import Store

__all__ = ("MOST_RESUMES", "TurnRunner")

MOST_RESUMES = 3
"""How often a turn is taken up again without being asked for: a turn that ends every process must not end them all."""


@dataclass
class TurnRunner:
    """Runs turns of one team on its instances.

    Args:
        team: The team.
        rules: The team's code.
        cast: The instance of every agent.
        store: Where blackboards, sessions and turns are kept.
        clock: The clock turns read.
        harness: Runs the agents; the default runs native ones alone.

    Raises:
        TeamError: The team is not valid.
    """

    team: Team
    rules: TeamRules
    cast: Cast
    store: Store
    clock: Clock = system_clock
    harness: Harness = field(default_factory=NativeHarness)
    schedule: Schedule = field(init=False)

    def __post_init__(self) -> None:
        require_team(self.team, self.rules.code_sections)
        self.schedule = derive_schedule(self.team, self.rules.code_sections)
        self._unmarked: set[str] = set()
        self._parts = TurnParts(self.team, self.rules, self.cast, self.store, self.schedule, self.order, self.harness)

    @property
    def order(self) -> list[str]:
        """The agents, the most urgent first."""
        priorities = self.schedule.priorities
        return sorted(self.team.agents, key=lambda name: (priorities[name], self.schedule.stage_of(name)))

    async def run(
        self,
        text: str,
        *,
        user: str,
        session: str | None = None,
        sinks: Sequence[EventSink] = (),
        left: asyncio.Event | None = None,
    ) -> TurnResult:
        """Carry one message through the team.

        Cancelling the call ends the turn at once, as failed. When the process dies, or the database can not be
        written, the turn is interrupted instead and `resume` completes it.

        Args:
            text: The person's message.
            user: Whose blackboard.
            session: The session to continue or to start under this id; None starts a new one.
            sinks: Get every event as it happens.
            left: Set when the person leaves: what is for them alone is stopped, sections are still written.

        Returns:
            The whole turn; its status says whether it is complete, partial or failed, and why.

        Raises:
            UsageError: The user or session id can not be used.
            StorageError: The database can not be read or written.
        """
        started = await asyncio.to_thread(
            begin_turn, self.store, self.team, self.rules, text, user=user, session=session, now=self.clock()
        )
        return await self._carry(started, sinks, left)

    async def resume(
        self, turn: str, *, sinks: Sequence[EventSink] = (), left: asyncio.Event | None = None
    ) -> TurnResult:
        """Complete a turn that was cut off, or whose engine went away: finished calls and sections are not made again.

        Args:
            turn: The turn's id.
            sinks: Get every event, those from before the interruption first.
            left: As in `run`.

        Raises:
            UsageError: There is no such turn of this team, or it is complete.
            StorageError: Another process carries it, or the database can not be read or written.
        """
        started = await asyncio.to_thread(take_up_again, self.store, self.team, self.rules, turn)
        return await self._carry(started, sinks, left)

    async def compact(self, user: str) -> CompactionReport:
        """Compact the sessions of a user that are over; meant for idle time, and safe to cancel at any moment.

        It runs at the lowest priority on the instance of the agent that is least urgent.

        Raises:
            StorageError: The database can not be read or written.
            EngineError: The engine does not answer.
        """
        compactor = Compactor(self.store, self.cast.by_agent[self.order[-1]], self.clock)
        return await compactor.compact(self.team.name, user)

    def resumable(self, user: str | None = None) -> list[Turn]:
        """Turns of this team that `resume` can complete: of a user or of all, oldest first. Blocks.

        Raises:
            StorageError: The database can not be read or written.
        """
        self.mark_given_up()
        self.store.turns.mark_interrupted()
        return self.store.taking_up.resumable(self.team.name, user)

    def mark_given_up(self) -> None:
        """Mark the turns that this process began and gave up; it may take until the database can be written again.

        Raises:
            StorageError: It can still not be written.
        """
        for turn in tuple(self._unmarked):
            self.store.turns.interrupt(turn)
            self._unmarked.discard(turn)

    async def _carry(self, started: StartedTurn, sinks: Sequence[EventSink], left: asyncio.Event | None) -> TurnResult:
        turn = started.state.turn
        reached("turn:begun")
        recorder = Recorder(turn, self.clock, sinks, lambda events: self._keep(turn, events), started.earlier)
        running = RunningTurn(self._parts, started, recorder)
        watch = None if left is None else asyncio.create_task(_leave_when(left, running))
        try:
            result = await running.carry()
            await recorder.close()
            reached("turn:events kept")
            await asyncio.to_thread(
                self.store.turns.finish_turn,
                turn,
                result.status,
                result.document(),
                at=self.clock(),
                unfinished=running.unfinished,
            )
        except Exception:
            # Nothing can be kept now. What was kept stands, and the turn can be taken up again.
            await recorder.abandon()
            self._unmarked.add(turn)
            with suppress(StorageError):
                await asyncio.to_thread(self.mark_given_up)
            raise
        except BaseException:
            with suppress(StorageError):
                await asyncio.shield(self._end_failed(recorder, turn))
            raise
        finally:
            if watch is not None:
                watch.cancel()
            running.keep_prefixes()
        reached("turn:finished")
        return result

    async def _end_failed(self, recorder: Recorder, turn: str) -> None:
        await recorder.close()
        await asyncio.to_thread(self.store.turns.finish_turn, turn, "failed", None, at=self.clock())

    def _keep(self, turn: str, events: Sequence[TurnEvent]) -> None:
        self.store.turns.append_events(turn, [(event.seq, event.type, event.model_dump_json()) for event in events])


async def _leave_when(left: asyncio.Event, running: RunningTurn) -> None:
    await left.wait()
    running.leave()
