"""Serving on the instances that `repertory up` started, wherever they are after the supervisor's latest restart."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from repertory.engines.profile import EngineKind
from repertory.errors import EngineUnavailableError, RepertoryError, UsageError
from repertory.runtime.cast import Cast
from repertory.runtime.harness.interface import Harness
from repertory.runtime.harness.native import NativeHarness
from repertory.runtime.team import Team
from repertory.runtime.turn import TurnRunner
from repertory.server.casting import ServedTeam, StandingEngine, cast_on, upstream_of
from repertory.serving.gateway.gateway import Gateway
from repertory.serving.gateway.upstream import Address, Upstream
from repertory.serving.instances.awake_engine import connect_awake
from repertory.serving.instances.directory import InstanceDirectory, RunningInstance
from repertory.storage.store import Store

__all__ = ("SupervisedInstances",)

_LOOK_S = 0.5
_KINDS = {"llama.cpp": EngineKind.LLAMACPP, "vllm": EngineKind.VLLM}
_ASLEEP_CONCURRENCY = 4
"""For an instance that has not been seen awake yet."""


class SupervisedInstances:
    """Follows the supervisor's state.

    Args:
        directory: Reads the state.
        teams: The teams that are served.
        store: Where turns are kept.
        harness: Runs the agents; None runs native ones alone.
        slot_cache_gib: Disk space for kept prefixes; 0 keeps none, None takes what the instances were started with.
    """

    def __init__(
        self,
        directory: InstanceDirectory,
        teams: Sequence[ServedTeam],
        store: Store,
        *,
        harness: Harness | None = None,
        slot_cache_gib: float | None = None,
    ) -> None:
        self._slot_cache_gib = slot_cache_gib
        self._harness = harness or NativeHarness()
        self._directory = directory
        self._teams = {team.name: team for team in teams}
        self._store = store
        self._standing: dict[RunningInstance, StandingEngine] = {}
        self._runners: dict[str, tuple[object, TurnRunner]] = {}
        self._seen: tuple[RunningInstance, ...] = ()

    async def upstreams(self) -> list[Upstream]:
        """What the gateway serves now."""
        self._seen = await asyncio.to_thread(self._directory.instances)
        return [upstream for instance in self._seen if (upstream := await self._upstream(instance)) is not None]

    async def runner_of(self, team: str) -> TurnRunner:
        """The runner of a team, on the instances as they are now.

        Raises:
            UsageError: The team is not served.
            EngineUnavailableError: None of the instances answers.
        """
        served = self._teams.get(team)
        if served is None:
            message = f"the team {team!r} is not served"
            raise UsageError(message)
        known = self._runners.get(team)
        signature = tuple(self._awake())
        if known is not None and known[0] == signature:
            return known[1]
        runner = TurnRunner(served.team, served.rules, self.cast_of(served.team), self._store, harness=self._harness)
        self._runners[team] = (signature, runner)
        return runner

    @property
    def supervised(self) -> bool:
        """They are those of `repertory up`, as they come and go."""
        return True

    def standing(self) -> Sequence[StandingEngine]:
        """The instances that answer now."""
        return tuple(self._standing[instance] for instance in self._seen if instance in self._standing)

    def cast_of(self, team: Team) -> Cast:
        """The agents of a team on the instances that the plan gives them, the others on the first.

        Raises:
            EngineUnavailableError: None of the instances answers.
        """
        awake = self._awake()
        by_agent = {
            agent: standing
            for instance, standing in awake.items()
            if instance.team == team.name
            for agent in instance.agents
        }
        return cast_on(team, by_agent, next(iter(awake.values())))

    def _awake(self) -> dict[RunningInstance, StandingEngine]:
        awake = {instance: self._standing[instance] for instance in self._seen if instance in self._standing}
        if not awake:
            raise EngineUnavailableError("none of the instances answers now", hint="repertory status says why")
        return awake

    @asynccontextmanager
    async def follow(self, gateway: Gateway) -> AsyncGenerator[None]:
        """Tell the gateway of every change inside the block."""
        following = asyncio.create_task(self._follow(gateway))
        try:
            yield
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
            for standing in self._standing.values():
                await standing.engine.aclose()

    async def _follow(self, gateway: Gateway) -> None:
        last: list[Upstream] = []
        while True:
            try:
                found = await self.upstreams()
            except (RepertoryError, OSError):
                found = last  # the state is just being replaced, or can not be read now: go on with what is known
            if found != last:
                gateway.serve(found)
                last = found
            await asyncio.sleep(_LOOK_S)

    async def _upstream(self, instance: RunningInstance) -> Upstream | None:
        standing = self._standing.get(instance)
        if standing is None and instance.url is not None and instance.ready and not instance.takes_turns:
            standing = await self._connect(instance)
        served = self._teams.get(instance.team)
        agents = served.agents(instance.agents) if served is not None else ()
        if standing is not None:
            return upstream_of(standing, agents)
        if not instance.takes_turns:
            return None
        return Upstream(
            id=instance.id,
            address=Address(instance.url or "http://127.0.0.1:1", instance.api_key),
            kind=_KINDS.get(instance.engine, EngineKind.OPENAI),
            served_model=instance.model,
            names=(instance.catalog_model,),
            agents=agents,
            concurrency=_ASLEEP_CONCURRENCY,
            hold=self._holder(instance.id),
        )

    async def _connect(self, instance: RunningInstance) -> StandingEngine | None:
        url = instance.url or ""
        try:
            engine = await connect_awake(instance, self._slot_cache_gib)
        except RepertoryError:
            return None  # asked again at the next look
        names = (instance.catalog_model,) if instance.catalog_model != engine.model else ()
        standing = StandingEngine(instance.id, engine, Address(url, instance.api_key), names)
        self._standing[instance] = standing
        return standing

    def _holder(self, instance: str) -> Callable[[], AbstractAsyncContextManager[Address]]:
        @asynccontextmanager
        async def hold() -> AsyncGenerator[Address]:
            async with self._directory.use(instance) as held:
                if held.url is None:
                    message = f"the instance {instance} has no address"
                    raise EngineUnavailableError(message)
                yield Address(held.url, held.api_key)

        return hold
