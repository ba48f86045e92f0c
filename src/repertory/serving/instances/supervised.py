"""The life of one instance: start, prove, watch, restart, sleep, wake, end."""

import contextlib
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import anyio
import anyio.to_thread

from repertory.clock import system_clock
from repertory.errors import EngineError, EngineUnavailableError, RepertoryError
from repertory.serving.instances.engine_process import EngineProcess
from repertory.serving.instances.failure_reasons import FailureReason
from repertory.serving.instances.first_token import first_token, why_ended
from repertory.serving.instances.health_watch import HealthWatch
from repertory.serving.instances.memory_use import free_gib, measure, remember_measurement
from repertory.serving.instances.port_lease import PortLease, lease_port
from repertory.serving.instances.process_identity import end_processes, processes_of
from repertory.serving.instances.records import InstanceSpec, InstanceState, InstanceStatus
from repertory.serving.instances.restart_policy import LoadWatch, RestartHistory, RestartPolicy
from repertory.serving.instances.state_file import ServingFolder
from repertory.serving.instances.vllm_sleep import fall_asleep, is_asleep, wake_up

__all__ = ("SupervisedInstance", "Timing")


@dataclass(frozen=True)
class Timing:
    """How often what is looked at, in seconds."""

    start_poll_s: float = 0.25
    watch_s: float = 0.5
    health_every_s: float = 15.0
    unhealthy_s: float = 120.0
    memory_every_s: float = 60.0
    policy: RestartPolicy = field(default_factory=RestartPolicy)


class SupervisedInstance:
    """One instance.

    Args:
        spec: What it is.
        files: The supervisor's folder.
        device_locks: Held while it starts or wakes, so that no two do at once on one device.
        api_key: The key to give to its engine.
        changed: Called after every change of `state`.
        timing: How often what is looked at.
        before: What a supervisor before us knew of it.
    """

    def __init__(
        self,
        spec: InstanceSpec,
        files: ServingFolder,
        device_locks: Sequence[anyio.Lock],
        api_key: str,
        changed: Callable[[], None],
        timing: Timing | None = None,
        before: InstanceState | None = None,
    ) -> None:
        self.spec = spec
        self.state = InstanceState(spec=spec, restarts=before.restarts if before is not None else 0)
        self._files = files
        self._locks = device_locks
        self._api_key = api_key
        self._changed = changed
        self._timing = timing or Timing()
        self._history = RestartHistory(self._timing.policy)
        self._process: EngineProcess | None = None
        self._lease: PortLease | None = None
        self._taken_ports: frozenset[int] = frozenset()
        self._free_gib: float | None = None
        self._wants_sleep = not spec.resident
        self._stirred = anyio.Event()
        self._health = self._new_health_watch()
        self._measured_at = float("-inf")
        self._pause_s = 0.0

    async def run(self) -> None:
        """Keep the instance as it is wanted, until cancelled. The engine then runs on."""
        try:
            await self._adopt()
            while True:
                await self._step()
        finally:
            if self._lease is not None:
                self._lease.release()

    async def end(self) -> None:
        """End the engine for good; `run` must not be running any more."""
        if self.spec.engine != "url":
            process = self._process
            if process is not None:
                await process.end()
            else:
                folder, name = self._files.root, self.spec.id
                await anyio.to_thread.run_sync(lambda: end_processes(processes_of(folder, name)))
        self._process = None
        self._tell(InstanceStatus.STOPPED, "stopped", url=None, api_key=None, pid=None, launch=None)

    async def reach(self, *, asleep: bool) -> None:
        """Make it sleep or wake, and wait for that.

        Raises:
            EngineUnavailableError: It failed on the way.
        """
        self._wants_sleep = asleep
        goal = InstanceStatus.ASLEEP if asleep else InstanceStatus.READY
        self._stir()
        while self.state.status is not goal:
            if self.state.status in (InstanceStatus.FAILED, InstanceStatus.STOPPED):
                raise EngineUnavailableError(self.state.message, where=self.spec.id, hint=self.state.advice or None)
            await self._stirred.wait()

    def retry(self) -> None:
        """Somebody asked for a new try of an instance that was given up."""
        if self.state.status in (InstanceStatus.FAILED, InstanceStatus.BACKING_OFF):
            self._history.forget()
            self._tell(InstanceStatus.WAITING, "to be tried again")

    def give_up(self, message: str) -> None:
        """Something went wrong that nobody foresaw."""
        self._tell(InstanceStatus.FAILED, message, failure="internal", advice="its traceback is in supervisor.log")

    def _new_health_watch(self) -> HealthWatch:
        return HealthWatch(self._timing.health_every_s, self._timing.unhealthy_s)

    def _stir(self) -> None:
        event, self._stirred = self._stirred, anyio.Event()
        event.set()

    def _tell(self, status: InstanceStatus, message: str, **more: object) -> None:
        if status is not self.state.status:
            more["since"] = system_clock().isoformat(timespec="seconds")
        self.state = self.state.model_copy(update={"status": status, "message": message, **more})
        self._changed()
        self._stir()

    async def _adopt(self) -> None:
        """Take over an engine that a supervisor before us started; end what is left of one that can not be used."""
        if self.spec.engine == "url":
            return
        found = await anyio.to_thread.run_sync(EngineProcess.find, self.spec, self._files)
        if found is None:
            folder, name = self._files.root, self.spec.id
            await anyio.to_thread.run_sync(lambda: end_processes(processes_of(folder, name)))
            return
        self._process = found
        if found.port:
            self._lease = lease_port(found.port)
        self._tell(InstanceStatus.STARTING, "found running", launch=found.launch, api_key=found.api_key)
        url = found.record.url if found.record is not None else None
        if self._sleeps_in_place and url is not None:
            with contextlib.suppress(EngineError):  # it does not answer: then it is started or restarted as any other
                if await is_asleep(url, found.api_key):
                    self._history.ready(time.monotonic())
                    self._tell(InstanceStatus.ASLEEP, "asleep", url=url)

    async def _step(self) -> None:
        status = self.state.status
        if status is InstanceStatus.WAITING and self._wants_sleep and self.state.start_s is not None:
            self._tell(InstanceStatus.ASLEEP, "asleep")  # it has proven itself before: it starts when it is needed
        elif status in (InstanceStatus.WAITING, InstanceStatus.STARTING):
            await self._bring_up()
        elif status is InstanceStatus.READY and self._wants_sleep:
            await self._sleep()
        elif status is InstanceStatus.ASLEEP and not self._wants_sleep:
            await self._wake()
        elif status in (InstanceStatus.READY, InstanceStatus.ASLEEP):
            await self._watch()
        else:
            await self._stirred.wait()

    async def _bring_up(self) -> None:
        """Start the engine if it does not run, and wait for its first token, while no other starts on its devices."""
        async with AsyncExitStack() as stack:
            for lock in self._locks:
                await stack.enter_async_context(lock)
            began = time.monotonic()
            if self._process is None and self.spec.engine != "url":
                try:
                    await self._launch()
                except RepertoryError as error:
                    self._failed(FailureReason("not_started", error.message, error.hint or "", permanent=True))
                    return
            else:
                self._tell(InstanceStatus.STARTING, "asking for a first token")
            watch = LoadWatch(self._timing.policy, began)
            key = self.state.api_key if self.spec.engine != "url" else self.spec.api_key
            started = await first_token(
                self.spec, self._process, key, watch, self._timing.start_poll_s, free_gib=self._free_gib
            )
        if started.reason is not None:
            await self._discard(started.reason)
            return
        record = self._process.record if self._process is not None else None
        build = record.version if record is not None else ""
        self.state = self.state.model_copy(
            update={"url": started.url, "pid": started.pid, "api_key": key, "build": build}
        )
        took = round(time.monotonic() - began, 2)
        self._history.ready(time.monotonic())
        self._health = self._new_health_watch()
        await self._measure()
        self._tell(InstanceStatus.READY, "ready", start_s=took, failure=None, advice="")

    async def _launch(self) -> None:
        self._free_gib = await anyio.to_thread.run_sync(free_gib, self.spec)
        if self._lease is None:
            self._lease = lease_port(avoid=self._taken_ports)
        port = self._lease.port
        self._process = await anyio.to_thread.run_sync(
            lambda: EngineProcess.start(self.spec, self._files, port=port, api_key=self._api_key)
        )
        self._tell(
            InstanceStatus.STARTING,
            "loading",
            launch=self._process.launch,
            api_key=self._api_key,
            url=None,
            pid=None,
        )

    async def _watch(self) -> None:
        """One look at an instance that is ready or asleep."""
        process = self._process
        if process is not None and not process.alive:
            await self._discard(await why_ended(process, free_gib=self._free_gib))
            return
        if self.state.status is InstanceStatus.READY:
            url = self.state.url
            if url is not None and (reason := await self._health.check(url, self.state.api_key)):
                await self._discard(reason)
                return
            if time.monotonic() - self._measured_at >= self._timing.memory_every_s:
                await self._measure()
        with anyio.move_on_after(self._timing.watch_s):
            await self._stirred.wait()

    async def _discard(self, reason: FailureReason) -> None:
        """Clear away an engine that failed, and decide about its next start."""
        process, self._process = self._process, None
        if process is not None:
            await process.end(at_once=reason.code in ("unhealthy", "stalled"))
        if reason.code == "port_in_use" and self._lease is not None:
            self._taken_ports |= {self._lease.port}
            self._lease.release()
            self._lease = None
        self._failed(reason)
        if self.state.status is InstanceStatus.BACKING_OFF:
            await self._pause()

    def _failed(self, reason: FailureReason) -> None:
        pause = self._history.failed(time.monotonic(), permanent=reason.permanent)
        gone: dict[str, object] = {"url": None, "pid": None, "launch": None}
        told: dict[str, object] = {"failure": reason.code, "advice": reason.advice}
        if pause is None:
            times = f" ({self._history.failures} times in a row)" if self._history.failures > 1 else ""
            self._tell(InstanceStatus.FAILED, f"{reason.message}{times}", **gone, **told)
            return
        self._pause_s = 0.0 if reason.code == "port_in_use" else pause
        message = f"{reason.message}; started again in {self._pause_s:.0f} s"
        self._tell(InstanceStatus.BACKING_OFF, message, restarts=self.state.restarts + 1, **gone, **told)

    async def _pause(self) -> None:
        with anyio.move_on_after(self._pause_s):
            while self.state.status is InstanceStatus.BACKING_OFF and not self._wants_sleep:
                await self._stirred.wait()
        if self.state.status is InstanceStatus.BACKING_OFF:
            self._tell(InstanceStatus.WAITING, self.state.message)

    async def _sleep(self) -> None:
        began = time.monotonic()
        process = self._process
        if process is not None and not self._sleeps_in_place:
            self._process = None
            await process.end()
        elif self.state.url is not None:
            try:
                await fall_asleep(self.state.url, self.state.api_key)
            except EngineError as error:
                await self._discard(FailureReason("no_sleep", error.message, error.hint or ""))
                return
        took = round(time.monotonic() - began, 2)
        gone: dict[str, object] = {} if self._sleeps_in_place else {"url": None, "pid": None, "launch": None}
        self._tell(InstanceStatus.ASLEEP, "asleep", sleep_s=took, **gone)

    async def _wake(self) -> None:
        began = time.monotonic()
        if not self._sleeps_in_place or self._process is None or self.state.url is None:
            await self._bring_up()
        else:
            async with AsyncExitStack() as stack:
                for lock in self._locks:
                    await stack.enter_async_context(lock)
                try:
                    await wake_up(self.state.url, self.state.api_key)
                except EngineError as error:
                    await self._discard(FailureReason("no_wake", error.message, error.hint or ""))
                    return
                self._tell(InstanceStatus.READY, "ready")
        if self.state.status is InstanceStatus.READY:
            self._tell(InstanceStatus.READY, "ready", wake_s=round(time.monotonic() - began, 2))

    @property
    def _sleeps_in_place(self) -> bool:
        """A vLLM keeps its process and frees the device; llama.cpp is stopped, its weights stay in the page cache."""
        return self.spec.engine == "vllm" and any(name != "cpu" for name in self.spec.devices)

    async def _measure(self) -> None:
        self._measured_at = time.monotonic()
        process = self._process
        if process is None:
            return
        memory = await anyio.to_thread.run_sync(lambda: measure(self.spec, process.processes))
        self.state = self.state.model_copy(update={"memory": memory})
        when = system_clock().isoformat(timespec="seconds")
        await anyio.to_thread.run_sync(remember_measurement, self._files.measurements, self.spec, memory, when)
        self._changed()
