"""Instances that do not fit together: they sleep and wake, by vLLM's endpoints or by being stopped and started."""

import anyio
import pytest
from tests.serving.instances.conftest import FakeEngines, kill, wanted
from tests.serving.instances.test_supervisor import ASLEEP, READY, running, until

from repertory.errors import EngineUnavailableError
from repertory.serving.instances.device_turns import turn_groups
from repertory.serving.instances.records import InstanceState
from repertory.serving.instances.state_file import ServingFolder
from repertory.serving.instances.supervisor import Supervisor

DEVICES = [("gpu0",), ("cpu",)]
"""On a GPU the engine sleeps by its endpoints; on a processor it is stopped."""


def test_who_takes_turns_is_who_shares_a_device(engines: FakeEngines) -> None:
    specs = [
        engines.spec("a", devices=("gpu0", "gpu1"), resident=False),
        engines.spec("b", devices=("gpu1",), resident=False),
        engines.spec("c", devices=("gpu2",), resident=False),
        engines.spec("d", devices=("gpu0",)),
        engines.spec("e", devices=("gpu1", "gpu3"), resident=False),
    ]
    assert sorted(sorted(group) for group in turn_groups(specs)) == [["a", "b", "e"], ["c"]]


async def pair(supervisor: Supervisor, engines: FakeEngines, devices: tuple[str, ...]) -> None:
    specs = [engines.spec(name, devices=devices, resident=False) for name in ("a", "b")]
    await supervisor.apply(wanted(*specs))
    for name in ("a", "b"):
        await until(supervisor, name, ASLEEP)


def state_of(supervisor: Supervisor, name: str) -> InstanceState:
    return next(item for item in supervisor.state().instances if item.spec.id == name)


@pytest.mark.parametrize("devices", DEVICES)
async def test_each_is_proven_once_and_then_woken_when_it_is_asked(
    files: ServingFolder, engines: FakeEngines, devices: tuple[str, ...]
) -> None:
    async with running(files) as supervisor:
        await pair(supervisor, engines, devices)
        assert [engines.count(name, "request fake") for name in ("a", "b")] == [1, 1]
        for name, other in (("a", "b"), ("b", "a"), ("b", "a")):
            async with supervisor.use(name) as held:
                assert held.url is not None
                assert READY(held)
                assert ASLEEP(state_of(supervisor, other))
        for name in ("a", "b"):
            state = state_of(supervisor, name)
            assert state.wake_s is not None
            assert state.restarts == 0
        assert state_of(supervisor, "a").sleep_s is not None


@pytest.mark.parametrize("devices", DEVICES)
async def test_never_two_are_awake_and_no_request_is_cut_by_a_switch(
    files: ServingFolder, engines: FakeEngines, devices: tuple[str, ...]
) -> None:
    async with running(files) as supervisor:
        await pair(supervisor, engines, devices)
        inside = {"a": 0, "b": 0}
        served = 0

        async def agent(name: str) -> None:
            nonlocal served
            for _ in range(3):
                async with supervisor.use(name) as held:
                    inside[name] += 1
                    assert 0 in inside.values(), "requests ran on both at once"
                    await anyio.sleep(0.02)
                    assert READY(state_of(supervisor, name))
                    assert held.pid == state_of(supervisor, name).pid
                    inside[name] -= 1
                    served += 1

        async with anyio.create_task_group() as group:
            for name in ("a", "a", "b", "b"):
                group.start_soon(agent, name)
        assert served == 12


async def test_one_that_dies_while_it_is_awake_comes_back_on_its_turn(
    files: ServingFolder, engines: FakeEngines
) -> None:
    async with running(files) as supervisor:
        await pair(supervisor, engines, ("gpu0",))
        async with supervisor.use("a") as held:
            assert held.pid is not None
            await anyio.to_thread.run_sync(kill, held.pid)
        await until(supervisor, "a", lambda state: state.restarts == 1)
        async with supervisor.use("b"):
            pass
        async with supervisor.use("a") as again:
            assert again.pid != held.pid


async def test_one_that_can_not_be_woken_is_told_and_the_other_goes_on(
    files: ServingFolder, engines: FakeEngines
) -> None:
    async with running(files) as supervisor:
        await pair(supervisor, engines, ("cpu",))
        engines.behave("a", {"exit_code": 1})
        with pytest.raises(EngineUnavailableError, match="exit code 1"):
            async with supervisor.use("a"):
                pytest.fail("it was lent")
        async with supervisor.use("b") as held:
            assert READY(held)
