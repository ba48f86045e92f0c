"""The supervisor: runs the wanted instances, changes them when something else is wanted, and says how they are."""

import os
import secrets
import traceback
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
import anyio.abc
import anyio.to_thread
import psutil

from repertory.errors import EngineUnavailableError, UsageError
from repertory.serving.instances.device_turns import DeviceTurns, turn_groups
from repertory.serving.instances.process_identity import end_processes, processes_of
from repertory.serving.instances.records import (
    InstanceSpec,
    InstanceState,
    InstanceStatus,
    ServingState,
    SupervisorRecord,
    WantedInstances,
)
from repertory.serving.instances.state_file import ServingFolder
from repertory.serving.instances.supervised import SupervisedInstance, Timing

__all__ = ("Supervisor",)

_WRITE_EVERY_S = 0.1


@dataclass
class _Running:
    instance: SupervisedInstance
    scope: anyio.CancelScope
    ended: anyio.Event


class Supervisor:
    """Runs instances. Cancelled, it leaves the engines running for the next supervisor.

    Args:
        files: Its folder.
        group: Runs the instances.
        timing: How often what is looked at.
        before: What a supervisor before us knew of the instances.
    """

    def __init__(
        self,
        files: ServingFolder,
        group: anyio.abc.TaskGroup,
        timing: Timing | None = None,
        before: Mapping[str, InstanceState] | None = None,
    ) -> None:
        self.token = secrets.token_urlsafe(32)
        self.port = 0
        self._files = files
        self._group = group
        self._timing = timing
        self._team = ""
        self._slot_cache_gib: float | None = None
        self._running: dict[str, _Running] = {}
        self._order: tuple[str, ...] = ()
        self._locks: dict[str, anyio.Lock] = {}
        self._turns: dict[str, DeviceTurns] = {}
        self._dirty = anyio.Event()
        self._applying = anyio.Lock()
        self._before = before or {}
        self._record_started = psutil.Process().create_time()

    def state(self) -> ServingState:
        """Everything as it is."""
        record = SupervisorRecord(pid=os.getpid(), started=self._record_started, port=self.port, token=self.token)
        states = tuple(self._running[name].instance.state for name in self._order if name in self._running)
        return ServingState(team=self._team, supervisor=record, instances=states, slot_cache_gib=self._slot_cache_gib)

    async def keep_state_written(self) -> None:
        """Write the state file after changes, several at once where they come quickly."""
        while True:
            state = self.state()
            await anyio.to_thread.run_sync(self._files.write_state, state)
            await self._dirty.wait()
            self._dirty = anyio.Event()
            await anyio.sleep(_WRITE_EVERY_S)

    async def apply(self, wanted: WantedInstances) -> None:
        """Run these instances and no others. Those that already run as they are wanted are left alone."""
        async with self._applying:
            await anyio.to_thread.run_sync(self._files.write_wanted, wanted)
            self._team = wanted.team
            self._slot_cache_gib = wanted.slot_cache_gib
            specs = {spec.id: spec for spec in wanted.instances}
            changed = [name for name, item in self._running.items() if specs.get(name) != item.instance.spec]
            async with anyio.create_task_group() as group:
                for name in changed:
                    group.start_soon(self._stop, name)
            self._order = tuple(specs)
            for spec in specs.values():
                if spec.id in self._running:
                    self._running[spec.id].instance.retry()
                else:
                    self._start(spec)
            self._arrange_turns(specs)
            self._dirty.set()

    async def stop_all(self) -> None:
        """End all instances, and whatever else carries our mark."""
        async with self._applying:
            await anyio.to_thread.run_sync(self._files.write_wanted, None)
            async with anyio.create_task_group() as group:
                for name in list(self._running):
                    group.start_soon(self._stop, name)
            await anyio.to_thread.run_sync(lambda: end_processes(processes_of(self._files.root, None)))
            self._order = ()
            self._turns = {}
            self._dirty.set()

    @asynccontextmanager
    async def use(self, name: str) -> AsyncGenerator[InstanceState]:
        """Hold an instance awake inside the block; waits for its turn.

        Raises:
            UsageError: There is no such instance.
            EngineUnavailableError: It can not serve.
        """
        if name not in self._running:
            message = f"there is no instance {name!r}"
            raise UsageError(message, hint=f"running are {', '.join(self._order) or 'none'}")
        turns = self._turns.get(name)
        if turns is None:
            yield self._serving(name)
            return
        async with turns.turns.use(name):
            yield self._serving(name)

    def _mark_changed(self) -> None:
        self._dirty.set()

    def _serving(self, name: str) -> InstanceState:
        state = self._running[name].instance.state
        if state.status is not InstanceStatus.READY or state.url is None:
            message = f"the instance {name} is {state.status.value.replace('_', ' ')}: {state.message}"
            raise EngineUnavailableError(message, hint=state.advice or None)
        return state

    def _start(self, spec: InstanceSpec) -> None:
        locks = [self._locks.setdefault(device, anyio.Lock()) for device in sorted(set(spec.devices))]
        key = secrets.token_urlsafe(32)
        instance = SupervisedInstance(
            spec, self._files, locks, key, self._mark_changed, self._timing, self._before.get(spec.id)
        )
        running = _Running(instance, anyio.CancelScope(), anyio.Event())
        self._running[spec.id] = running
        self._group.start_soon(self._run, running)

    async def _run(self, running: _Running) -> None:
        try:
            with running.scope:
                await running.instance.run()
        except Exception as error:  # noqa: BLE001 - one instance that meets a mistake of ours must not end the others
            traceback.print_exc()
            running.instance.give_up(f"a mistake in Repertory: {type(error).__name__}: {error}")
        finally:
            running.ended.set()

    async def _stop(self, name: str) -> None:
        running = self._running[name]
        running.scope.cancel()
        await running.ended.wait()
        await running.instance.end()
        self._running.pop(name, None)
        self._dirty.set()

    def _arrange_turns(self, specs: dict[str, InstanceSpec]) -> None:
        turns: dict[str, DeviceTurns] = {}
        for members in turn_groups(list(specs.values())):
            shared = DeviceTurns(self._group, {name: self._running[name].instance for name in members})
            turns |= dict.fromkeys(members, shared)
        self._turns = turns
