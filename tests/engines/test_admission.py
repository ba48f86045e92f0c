import anyio
import anyio.lowlevel
import pytest

from repertory.engines.admission import Admission
from repertory.engines.deadline import Deadline
from repertory.errors import EngineTimeoutError

pytestmark = pytest.mark.virtual_time


async def hold(gate: Admission, log: list[str], name: str, *, priority: int = 0, lane: int | None = None) -> None:
    async with gate.enter(priority=priority, lane=lane, deadline=Deadline(None)):
        log.append(name)
        await anyio.sleep(0.01)


async def test_g17_no_more_are_inside_than_the_engine_can_run() -> None:
    gate, peak = Admission(3), 0

    async def one() -> None:
        nonlocal peak
        async with gate.enter(deadline=Deadline(None)):
            peak = max(peak, gate.inside)
            await anyio.sleep(0.001)

    async with anyio.create_task_group() as group:
        for _ in range(40):
            group.start_soon(one)
    assert peak == 3
    assert (gate.inside, gate.waiting) == (0, 0)


async def test_the_waiting_enter_by_priority_and_then_in_order() -> None:
    gate, log = Admission(1), list[str]()
    async with anyio.create_task_group() as group, gate.enter(deadline=Deadline(None)):
        for name, priority in [("late", 5), ("first", 0), ("second", 0), ("best", -1)]:
            group.start_soon(lambda name=name, priority=priority: hold(gate, log, name, priority=priority))
            await anyio.lowlevel.checkpoint()
        await anyio.sleep(0.005)
        assert gate.waiting == 4
    assert log == ["best", "first", "second", "late"]


async def test_a_lane_has_one_place_and_does_not_hold_up_others() -> None:
    gate, log = Admission(4), list[str]()
    async with anyio.create_task_group() as group, gate.enter(lane=2, deadline=Deadline(None)):
        group.start_soon(lambda: hold(gate, log, "same lane", priority=-5, lane=2))
        group.start_soon(lambda: hold(gate, log, "other lane", lane=1))
        group.start_soon(lambda: hold(gate, log, "no lane"))
        await anyio.sleep(0.03)
        assert sorted(log) == ["no lane", "other lane"]
    assert log[-1] == "same lane"


async def test_the_deadline_ends_the_waiting() -> None:
    gate = Admission(1)
    async with gate.enter(deadline=Deadline(None)):
        with pytest.raises(EngineTimeoutError, match="waiting for a free place"):
            async with gate.enter(deadline=Deadline(0.01)):
                raise AssertionError
        assert gate.waiting == 0
    assert gate.inside == 0


async def test_g12_cancelled_waiters_leave_no_trace_and_harm_nobody() -> None:
    gate, done = Admission(2), list[int]()

    async def one(number: int) -> None:
        async with gate.enter(priority=number % 3, lane=number % 4, deadline=Deadline(None)):
            await anyio.sleep(0.002)
            done.append(number)

    async with anyio.create_task_group() as group:
        for number in range(60):
            if number % 2:
                scope = anyio.CancelScope()

                async def doomed(number: int = number, scope: anyio.CancelScope = scope) -> None:
                    with scope:
                        await one(number)

                group.start_soon(doomed)
                group.start_soon(lambda scope=scope: _cancel_soon(scope))
            else:
                group.start_soon(one, number)
    assert set(range(0, 60, 2)) <= set(done)
    assert (gate.inside, gate.waiting) == (0, 0)


async def _cancel_soon(scope: anyio.CancelScope) -> None:
    await anyio.sleep(0.004)
    scope.cancel()
