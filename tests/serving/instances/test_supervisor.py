"""The supervisor with engines that are small programs: order, proof, restarts, reasons, changes of what is wanted."""

import itertools
import signal
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import anyio
import anyio.to_thread
import psutil
import pytest
from tests.serving.instances.conftest import FakeEngines, kill, wanted

from repertory.errors import EngineUnavailableError, UsageError
from repertory.serving.instances import supervised
from repertory.serving.instances.port_lease import PortLease, lease_port
from repertory.serving.instances.process_identity import processes_of
from repertory.serving.instances.records import InstanceSpec, InstanceState, InstanceStatus
from repertory.serving.instances.restart_policy import RestartPolicy
from repertory.serving.instances.state_file import ServingFolder, read_json_object
from repertory.serving.instances.supervised import Timing
from repertory.serving.instances.supervisor import Supervisor
from repertory.testing import ScriptedEngine

QUICK = Timing(
    start_poll_s=0.02,
    watch_s=0.02,
    health_every_s=0.1,
    unhealthy_s=0.3,
    policy=RestartPolicy(first_s=0.01, longest_s=0.05, limit=4, stable_s=600, stalled_s=1.5),
)


@asynccontextmanager
async def running(files: ServingFolder, timing: Timing = QUICK) -> AsyncGenerator[Supervisor]:
    """A supervisor in this process; its instances are ended with the block."""
    files.create()
    async with anyio.create_task_group() as group:
        supervisor = Supervisor(files, group, timing)
        try:
            yield supervisor
        finally:
            with anyio.CancelScope(shield=True):
                await supervisor.stop_all()
            group.cancel_scope.cancel()


async def until(supervisor: Supervisor, name: str, true: Callable[[InstanceState], bool]) -> InstanceState:
    with anyio.fail_after(60):
        while True:
            state = next(item for item in supervisor.state().instances if item.spec.id == name)
            if true(state):
                return state
            await anyio.sleep(0.01)


def is_now(*statuses: InstanceStatus) -> Callable[[InstanceState], bool]:
    return lambda state: state.status in statuses


READY, FAILED, ASLEEP = is_now(InstanceStatus.READY), is_now(InstanceStatus.FAILED), is_now(InstanceStatus.ASLEEP)


async def test_instances_of_one_device_start_one_after_the_other(files: ServingFolder, engines: FakeEngines) -> None:
    names = ["a", "b", "c"]
    async with running(files) as supervisor:
        await supervisor.apply(wanted(*(engines.spec(name, {"loads_for_tenths": 3}) for name in names)))
        for name in names:
            await until(supervisor, name, READY)
        spans = sorted(
            (engines.events(name)[0]["at"], next(e["at"] for e in engines.events(name) if "request" in e["what"]))
            for name in names
        )
        assert all(first_token < start for (_, first_token), (start, _) in itertools.pairwise(spans))


async def test_instances_of_different_devices_start_together(files: ServingFolder, engines: FakeEngines) -> None:
    async with running(files) as supervisor:
        await supervisor.apply(
            wanted(
                *(engines.spec(n, {"loads_for_tenths": 10}, devices=(d,)) for n, d in (("a", "gpu0"), ("b", "gpu1")))
            )
        )
        for name in ("a", "b"):
            await until(supervisor, name, READY)
        starts = [engines.events(name)[0]["at"] for name in ("a", "b")]
        ready = [next(e["at"] for e in engines.events(name) if e["what"] == "ready") for name in ("a", "b")]
        assert max(starts) < min(ready)


async def test_ready_means_a_generated_token_with_the_key(files: ServingFolder, engines: FakeEngines) -> None:
    async with running(files) as supervisor:
        await supervisor.apply(wanted(engines.spec("a")))
        state = await until(supervisor, "a", READY)
        assert engines.count("a", "request fake") == 1
        assert state.url is not None
        assert state.url.startswith("http://127.0.0.1:")
        assert state.start_s is not None
        assert state.memory.measured_gib is not None
        kept = read_json_object(files.measurements)
        assert len(kept) == 1


@pytest.mark.parametrize(
    ("behaviour", "says"),
    [({"no_tokens": True}, "holds no token"), ({"broken_answer": True}, "the kernel failed")],
)
async def test_an_open_port_alone_is_not_ready(
    files: ServingFolder, engines: FakeEngines, behaviour: dict[str, object], says: str
) -> None:
    async with running(files) as supervisor:
        await supervisor.apply(wanted(engines.spec("a", behaviour)))
        state = await until(supervisor, "a", FAILED)
        assert says in state.message
        assert processes_of(files.root) == []


async def test_one_that_dies_is_restarted_at_the_same_address(files: ServingFolder, engines: FakeEngines) -> None:
    async with running(files) as supervisor:
        await supervisor.apply(wanted(engines.spec("a")))
        before = await until(supervisor, "a", READY)
        assert before.pid is not None
        await anyio.to_thread.run_sync(kill, before.pid)
        after = await until(supervisor, "a", lambda state: READY(state) and state.pid != before.pid)
        assert (after.restarts, after.url) == (1, before.url)
        assert after.failure is None


async def test_a_crash_loop_is_given_up_with_its_reason(files: ServingFolder, engines: FakeEngines) -> None:
    line = (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of "
        "23.64 GiB of which 0.50 GiB is free."
    )
    async with running(files) as supervisor:
        await supervisor.apply(wanted(engines.spec("a", {"prints": [line], "exit_code": 1})))
        state = await until(supervisor, "a", FAILED)
        assert engines.count("a", "start") == QUICK.policy.limit
        assert state.failure == "out_of_memory"
        assert "1.50 GiB are missing (4 times in a row)" in state.message
        assert "--gpu-memory-utilization" in state.advice
        # Asked for again, it gets a new try; by then what was wrong has been put right.
        engines.behave("a", {})
        await supervisor.apply(wanted(state.spec))
        await until(supervisor, "a", READY)


async def test_what_can_not_help_is_not_started_twice(files: ServingFolder, engines: FakeEngines) -> None:
    line = "vllm: error: unrecognized arguments: --frobnicate"
    async with running(files) as supervisor:
        await supervisor.apply(wanted(engines.spec("a", {"prints": [line], "exit_code": 2})))
        state = await until(supervisor, "a", FAILED)
        assert (state.failure, engines.count("a", "start")) == ("bad_flag", 1)
        assert "--frobnicate" in state.message


async def test_a_slow_load_is_waited_for(files: ServingFolder, engines: FakeEngines) -> None:
    """It loads for longer than a start may stand still, but prints all the while."""
    async with running(files) as supervisor:
        await supervisor.apply(wanted(engines.spec("a", {"loads_for_tenths": 30})))
        state = await until(supervisor, "a", READY)
        assert state.restarts == 0


async def test_a_start_that_hangs_is_ended_and_tried_again(files: ServingFolder, engines: FakeEngines) -> None:
    async with running(files) as supervisor:
        spec = engines.spec("a", {"hangs": True})
        await supervisor.apply(wanted(spec))
        await until(supervisor, "a", lambda state: state.failure == "stalled")
        engines.behave("a", {})
        state = await until(supervisor, "a", READY)
        assert state.restarts >= 1


async def test_a_port_that_a_stranger_took_meanwhile_costs_nothing_but_another_port(
    files: ServingFolder, engines: FakeEngines, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as stranger:
        leases = [lease_port()]
        stranger.bind(("127.0.0.1", leases[0].port))
        stranger.listen()

        def lease(wanted: int | None = None, *, avoid: frozenset[int] = frozenset()) -> PortLease:
            return leases.pop() if leases else lease_port(wanted, avoid=avoid)

        monkeypatch.setattr(supervised, "lease_port", lease)
        async with running(files) as supervisor:
            await supervisor.apply(wanted(engines.spec("a")))
            await until(supervisor, "a", lambda state: state.failure == "port_in_use" or READY(state))
            state = await until(supervisor, "a", READY)
            assert state.url != f"http://127.0.0.1:{stranger.getsockname()[1]}"
            assert state.restarts == 1


async def test_one_that_no_longer_answers_is_restarted(files: ServingFolder, engines: FakeEngines) -> None:
    async with running(files) as supervisor:
        await supervisor.apply(wanted(engines.spec("a")))
        state = await until(supervisor, "a", READY)
        assert state.pid is not None
        monkey = pytest.MonkeyPatch()
        monkey.setattr("repertory.serving.instances.readiness._HEALTH_S", 0.1)
        psutil.Process(state.pid).send_signal(signal.SIGSTOP)
        await until(supervisor, "a", lambda now: READY(now) and now.pid != state.pid)
        monkey.undo()


async def test_only_what_changed_is_stopped_and_started(files: ServingFolder, engines: FakeEngines) -> None:
    async with running(files) as supervisor:
        kept, dropped = engines.spec("kept"), engines.spec("dropped")
        await supervisor.apply(wanted(kept, dropped))
        for name in ("kept", "dropped"):
            await until(supervisor, name, READY)
        await supervisor.apply(wanted(kept, engines.spec("new")))
        await until(supervisor, "new", READY)
        assert [item.spec.id for item in supervisor.state().instances] == ["kept", "new"]
        assert engines.count("kept", "start") == 1
        assert processes_of(files.root, "dropped") == []


async def test_nothing_that_an_engine_started_is_left(files: ServingFolder, engines: FakeEngines) -> None:
    async with running(files) as supervisor:
        await supervisor.apply(wanted(engines.spec("a", {"child": True})))
        await until(supervisor, "a", READY)
        assert len(processes_of(files.root, "a")) == 3  # the shim, the engine, and what it started
    assert processes_of(files.root) == []


async def test_an_engine_of_somebody_else_is_attached_and_left_alone(files: ServingFolder) -> None:
    async with ScriptedEngine("hello", api_key="theirs") as engine, running(files) as supervisor:
        facts = {"id": "u", "engine": "url", "model": "", "checkpoint": "", "served_name": "scripted"}
        spec = InstanceSpec.model_validate(facts | {"url": engine.url.removesuffix("/v1"), "api_key": "theirs"})
        await supervisor.apply(wanted(spec))
        state = await until(supervisor, "u", READY)
        assert state.api_key == "theirs"
        await supervisor.stop_all()
        assert engine.requests[0].fields["max_tokens"] == 1


async def test_a_program_that_is_not_there_is_said(files: ServingFolder, engines: FakeEngines) -> None:
    async with running(files) as supervisor:
        await supervisor.apply(wanted(engines.spec("a", program="/no/such/vllm")))
        state = await until(supervisor, "a", FAILED)
        assert "No such file" in state.message


async def test_only_what_serves_is_lent(files: ServingFolder, engines: FakeEngines) -> None:
    async with running(files) as supervisor:
        await supervisor.apply(
            wanted(engines.spec("a", {"prints": ["error: unrecognized arguments: x"], "exit_code": 2}))
        )
        await until(supervisor, "a", FAILED)
        with pytest.raises(EngineUnavailableError, match="does not know x"):
            async with supervisor.use("a"):
                pytest.fail("it was lent")
        with pytest.raises(UsageError, match="no instance 'b'"):
            async with supervisor.use("b"):
                pytest.fail("it was lent")
