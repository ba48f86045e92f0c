"""Requests that are sent twice."""

import asyncio

import pytest

from repertory.server.panel.once import Once
from repertory.serving.gateway.wire_errors import GatewayError


class Counter:
    def __init__(self) -> None:
        self.calls = 0
        self.go = asyncio.Event()

    async def carry(self) -> int:
        self.calls += 1
        await self.go.wait()
        return self.calls


async def test_it_is_carried_out_once_for_each_who_and_key() -> None:
    once, counter = Once[int](), Counter()
    counter.go.set()
    assert [await once.carry("ada", "k", "body", counter.carry) for _ in range(3)] == [1, 1, 1]
    assert await once.carry("bob", "k", "body", counter.carry) == 2
    assert await once.carry("ada", "l", "body", counter.carry) == 3
    assert [await once.carry("ada", None, "body", counter.carry) for _ in range(2)] == [4, 5]
    with pytest.raises(GatewayError, match="another request"):
        await once.carry("ada", "k", "other body", counter.carry)


async def test_one_that_failed_is_tried_again_and_whoever_waited_is_told() -> None:
    once: Once[int] = Once()
    go = asyncio.Event()

    async def fails() -> int:
        await go.wait()
        message = "no engine"
        raise ValueError(message)

    async def works() -> int:
        return 7

    first = asyncio.create_task(once.carry("ada", "k", "b", fails))
    await asyncio.sleep(0)
    second = asyncio.create_task(once.carry("ada", "k", "b", works))
    await asyncio.sleep(0)
    go.set()
    for task in (first, second):
        with pytest.raises(ValueError, match="no engine"):
            await task
    assert await once.carry("ada", "k", "b", works) == 7


async def test_the_first_being_cut_off_does_not_leave_the_second_waiting() -> None:
    once, counter = Once[int](), Counter()
    first = asyncio.create_task(once.carry("ada", "k", "b", counter.carry))
    await asyncio.sleep(0)
    second = asyncio.create_task(once.carry("ada", "k", "b", counter.carry))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(RuntimeError):
        await asyncio.wait_for(second, 1)


async def test_the_oldest_are_forgotten_after_a_day() -> None:
    now = [0.0]
    once, counter = Once[int](lambda: now[0]), Counter()
    counter.go.set()
    assert await once.carry("ada", "k", "b", counter.carry) == 1
    now[0] = 24 * 3600.0 + 1
    assert await once.carry("ada", "k", "b", counter.carry) == 2
