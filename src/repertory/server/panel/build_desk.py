"""Builds of the engineering team on the instances of this server, one at a time."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from repertory.clock import Clock, system_clock
from repertory.errors import EngineUnavailableError, RepertoryError, StorageError
from repertory.registry.registry import Registry, parse_label
from repertory.runtime.recorder import EventSink
from repertory.sandbox import Sandbox
from repertory.server.panel.engines_in_use import EnginesInUse
from repertory.server.panel.event_hub import EventHub
from repertory.server.panel.schema.events import BuildEnded
from repertory.server.running_turns import RunningTurn, RunningTurns
from repertory.serving.gateway.wire_errors import GatewayError
from repertory.storage.records import Turn
from repertory.storage.store import Store
from repertory.teams.engineering.build_result import BuildResult
from repertory.teams.engineering.improvement import Improvement
from repertory.teams.engineering.release import Releaser
from repertory.teams.engineering.runner import BuildRunner
from repertory.teams.engineering.team import engineering_team

__all__ = ("BUILDERS", "BuildDesk")

BUILDERS = "engineering"
"""The team that builds; a build is a turn of it."""


class BuildDesk:
    """Takes builds.

    Args:
        engines: Where the agents play.
        store: Where builds are kept.
        registry: Where built agents go.
        running: Where builds run.
        hub: Is told when one ends.
        sandbox: Where code runs.
        clock: The clock.
    """

    def __init__(
        self,
        engines: EnginesInUse,
        store: Store,
        registry: Registry,
        running: RunningTurns,
        hub: EventHub,
        sandbox: Callable[[], Sandbox] = Sandbox,
        clock: Clock = system_clock,
    ) -> None:
        self._engines = engines
        self._store = store
        self._registry = registry
        self._running = running
        self._hub = hub
        self._sandbox = sandbox
        self._clock = clock
        self._current: RunningTurn | None = None
        self._starting = asyncio.Lock()
        self._given_up: set[str] = set()

    @property
    def team(self) -> str:
        """The team whose turns are builds."""
        return BUILDERS

    @property
    def current(self) -> str | None:
        """The build that runs, if one does."""
        return self._current.turn if self._current is not None and not self._current.task.done() else None

    def why_not(self) -> str | None:
        """Why nothing can be built here; None when it can. Blocks for a moment."""
        try:
            self._engines.cast_of(engineering_team())
            self._sandbox().isolation()
        except RepertoryError as error:
            return error.message
        return None

    async def begin(self, request: str, contract: str | None, *, user: str, budget_minutes: float) -> RunningTurn:
        """Start a build.

        Raises:
            GatewayError: Another one runs.
            UsageError: The contract promises nothing.
            SandboxError: Code can not be isolated on this machine.
            EngineUnavailableError: No instance answers.
        """
        async with self._starting:
            if self.current is not None:
                message = f"the build {self.current} runs, and this server takes one at a time"
                raise GatewayError(message, status=409, code="build_runs", hint="wait for it, or cancel it")
            runner = await self._runner()

            async def run(sinks: Sequence[EventSink]) -> BuildResult:
                return await runner.run(request, contract, user=user, budget_minutes=budget_minutes, sinks=sinks)

            return await self._begin(runner.team.name, user, run)

    async def take_up(self, build: Turn) -> RunningTurn | None:
        """Go on with a build that was cut off; None when another one runs.

        Raises:
            RepertoryError: It can not go on here, or another process carries it.
        """
        async with self._starting:
            if self.current is not None:
                return None
            runner = await self._runner()
            await runner.cast.require_engines()

            async def resume(sinks: Sequence[EventSink]) -> BuildResult:
                return await runner.resume(build.id, sinks=sinks)

            return await self._begin(runner.team.name, build.user, resume)

    async def _runner(self) -> BuildRunner:
        team, sandbox = engineering_team(), await asyncio.to_thread(self._sandbox)
        return BuildRunner(
            self._engines.cast_of(team),
            self._store,
            Releaser(self._registry, sandbox).release,
            taken=self._registry.names,
            sandbox=sandbox,
            team=team,
            improvement_of=self._improvement_of,
        )

    async def _begin(
        self, team: str, user: str, carry: Callable[[Sequence[EventSink]], Awaitable[BuildResult]]
    ) -> RunningTurn:
        async def carry_to_its_end(sinks: Sequence[EventSink]) -> BuildResult:
            try:
                return await carry(sinks)
            except asyncio.CancelledError:
                if self._current is not None and self._current.turn in self._given_up:
                    # Before anybody is told that it has ended, so that what they fetch then is final.
                    await asyncio.shield(asyncio.to_thread(self._keep_cancelled, self._current.turn))
                raise

        begun = self._current = await self._running.begin(team, user, carry_to_its_end)
        begun.task.add_done_callback(lambda task: self._ended(begun, task))
        return begun

    async def cancel(self, build: str) -> None:
        """End a build for good: it counts as not built.

        Raises:
            UsageError: It does not run here.
        """
        self._given_up.add(build)
        try:
            await self._running.cancel(build)
        finally:
            self._given_up.discard(build)

    def cut_off(self) -> None:
        """The server stops: a build that runs is cut off, and `repertory resume` completes it."""
        if self._current is not None:
            self._current.task.cancel()

    def _improvement_of(self, label: str) -> Improvement:
        name, version = parse_label(label)
        return Improvement.of(self._registry.load(self._registry.resolve(name, version)))

    def _keep_cancelled(self, build: str) -> None:
        turn = self._store.turns.get(build)
        if turn is None or turn.status in {"complete", "partial", "failed"}:
            return  # erased, or it was quicker
        result = BuildResult(build, "not_built", None, "it was cancelled")
        with suppress(StorageError):
            self._store.turns.finish_turn(build, "failed", result.document(), at=self._clock())

    def _ended(self, begun: RunningTurn, task: "asyncio.Task[BuildResult]") -> None:
        if task.cancelled():
            status = "not_built" if begun.turn in self._given_up else "interrupted"
            event = BuildEnded(build=begun.turn, status=status, agent=None, at=self._clock())
        elif (error := task.exception()) is not None:
            unfinished = isinstance(error, EngineUnavailableError | StorageError)
            status = "interrupted" if unfinished else "failed"
            event = BuildEnded(build=begun.turn, status=status, agent=None, at=self._clock())
        else:
            result = task.result()
            event = BuildEnded(build=begun.turn, status=result.status, agent=result.agent, at=self._clock())
        self._hub.tell(event, team=begun.team, user=begun.user, turn=begun.turn)
