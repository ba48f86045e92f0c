import asyncio

import pytest

from repertory.serving.gateway.fair_queue import FairQueue, QueueFullError, Share, Ticket

pytestmark = pytest.mark.virtual_time


class Line:
    """Requests that note the order in which they get in."""

    def __init__(self, queue: FairQueue) -> None:
        self.queue = queue
        self.order: list[str] = []
        self.inside: list[tuple[str, Ticket]] = []
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def come(self, name: str, share: Share = ("", ""), priority: int = 0) -> None:
        async def enter() -> None:
            ticket = await self.queue.enter(share, priority)
            self.order.append(name)
            self.inside.append((name, ticket))

        self.tasks[name] = asyncio.create_task(enter())
        await asyncio.sleep(0)

    async def leave(self) -> None:
        _, ticket = self.inside.pop(0)
        self.queue.leave(ticket)
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    async def empty(self) -> list[str]:
        while self.inside:
            await self.leave()
        assert (self.queue.inside, self.queue.waiting) == (0, 0)
        assert not self.queue._by_key
        assert not self.queue._by_share
        return self.order


async def test_in_the_order_they_came_when_all_else_is_equal() -> None:
    line = Line(FairQueue(2))
    for number in range(6):
        await line.come(str(number))
    assert line.order == ["0", "1"]
    assert await line.empty() == ["0", "1", "2", "3", "4", "5"]


async def test_the_urgent_go_first() -> None:
    line = Line(FairQueue(1))
    for name, priority in (("first", 5), ("later", 5), ("batch", 9), ("coach", 0)):
        await line.come(name, priority=priority)
    assert await line.empty() == ["first", "coach", "later", "batch"]


async def test_a_crowd_of_one_user_waits_behind_itself() -> None:
    line = Line(FairQueue(2))
    for number in range(4):
        await line.come(f"hog{number}", ("key", "hog"))
    await line.come("ada0", ("key", "ada"))
    await line.come("ada1", ("key", "ada"))
    order = await line.empty()
    assert order[:2] == ["hog0", "hog1"]
    assert order[2] == "ada0"
    assert order.index("ada1") < order.index("hog3")


async def test_a_key_gains_nothing_by_inventing_users() -> None:
    line = Line(FairQueue(2))
    for number in range(6):
        await line.come(f"many{number}", ("busy", f"user{number}"))
    for number in range(2):
        await line.come(f"one{number}", ("quiet", ""))
    order = await line.empty()
    assert order[2] == "one0"
    assert order.index("one1") <= 4


async def test_who_left_the_line_is_not_served_and_holds_nobody_up() -> None:
    line = Line(FairQueue(1))
    for name in ("a", "b", "c"):
        await line.come(name)
    line.tasks["b"].cancel()
    await asyncio.gather(line.tasks["b"], return_exceptions=True)
    assert line.queue.waiting == 1
    assert await line.empty() == ["a", "c"]


async def test_who_is_cancelled_in_the_moment_of_being_let_in_gives_the_place_on() -> None:
    line = Line(FairQueue(1))
    for name in ("a", "b", "c"):
        await line.come(name)
    _, ticket = line.inside.pop(0)
    line.queue.leave(ticket)  # b has the place now, but has not run yet
    line.tasks["b"].cancel()
    await asyncio.gather(line.tasks["b"], return_exceptions=True)
    await asyncio.sleep(0)
    assert line.order == ["a", "c"]
    await line.empty()


async def test_a_full_line_is_told_at_once() -> None:
    line = Line(FairQueue(1, max_waiting=1))
    await line.come("in")
    await line.come("waits")
    with pytest.raises(QueueFullError):
        await line.queue.enter(("", ""))
    await line.empty()


async def test_leaving_twice_frees_one_place() -> None:
    queue = FairQueue(1)
    ticket = await queue.enter(("", ""))
    queue.leave(ticket)
    queue.leave(ticket)
    assert queue.inside == 0
