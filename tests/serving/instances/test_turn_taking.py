"""Whose turn it is: order, grouping, the bound on waiting, failures. A switch takes no time here; order is all."""

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertory.errors import EngineUnavailableError
from repertory.serving.instances.turn_taking import TurnTaking

pytestmark = pytest.mark.virtual_time

JOINS = 3


class Switches:
    """Notes the switches, and checks that nobody is inside meanwhile."""

    def __init__(self) -> None:
        self.made: list[tuple[str | None, str]] = []
        self.inside = 0
        self.refused: set[str] = set()

    async def __call__(self, previous: str | None, member: str) -> None:
        assert self.inside == 0, "an instance was put to sleep while a request ran on it"
        await anyio.lowlevel.checkpoint()
        assert self.inside == 0
        if member in self.refused:
            raise EngineUnavailableError("no memory")
        self.made.append((previous, member))


async def test_requests_for_the_one_that_is_awake_need_no_switch() -> None:
    switches = Switches()
    async with anyio.create_task_group() as group:
        turns = TurnTaking(group, switches, awake="a")
        async with turns.use("a"), turns.use("a"):
            pass
    assert switches.made == []


async def test_a_switch_waits_until_the_running_request_has_ended() -> None:
    switches = Switches()
    order: list[str] = []
    async with anyio.create_task_group() as group:
        turns = TurnTaking(group, switches, awake="a")

        async def other() -> None:
            async with turns.use("b"):
                order.append("b")

        async with turns.use("a"):
            group.start_soon(other)
            await anyio.wait_all_tasks_blocked()
            order.append("a")
            assert switches.made == []
    assert order == ["a", "b"]
    assert switches.made == [("a", "b")]


async def test_two_agents_that_ask_again_and_again_do_not_evict_each_other_with_every_request() -> None:
    """Twenty requests each: without grouping that is forty switches; with it at most one for each group of joins."""
    switches = Switches()
    async with anyio.create_task_group() as group:
        turns = TurnTaking(group, switches, most_joins=JOINS, linger_s=lambda: 0.05)

        async def agent(member: str) -> None:
            for _ in range(20):
                async with turns.use(member):
                    switches.inside += 1
                    await anyio.lowlevel.checkpoint()
                    switches.inside -= 1

        group.start_soon(agent, "a")
        group.start_soon(agent, "b")
    assert len(switches.made) <= 2 * (20 / JOINS) + 2


async def test_a_stream_of_requests_for_one_does_not_keep_another_waiting_for_ever() -> None:
    switches = Switches()
    overtook = 0
    async with anyio.create_task_group() as group:
        turns = TurnTaking(group, switches, awake="a", most_joins=JOINS)
        served = anyio.Event()

        async def flood() -> None:
            nonlocal overtook
            while not served.is_set():
                async with turns.use("a"):
                    overtook += 1
                    await anyio.lowlevel.checkpoint()

        async def victim() -> None:
            async with turns.use("b"):
                served.set()

        for _ in range(4):
            group.start_soon(flood)
        await anyio.lowlevel.checkpoint()
        overtook = 0
        group.start_soon(victim)
    # Those that were inside or had come before, those that may join, and those that are served after the victim.
    assert overtook <= 4 + 4 + JOINS + 4


async def test_one_that_can_not_be_woken_is_told_to_those_who_wait_for_it_alone() -> None:
    switches = Switches()
    switches.refused.add("b")
    results: list[str] = []
    async with anyio.create_task_group() as group:
        turns = TurnTaking(group, switches, awake="a")

        async def ask(member: str) -> None:
            try:
                async with turns.use(member):
                    results.append(f"{member} served")
            except EngineUnavailableError as error:
                results.append(f"{member}: {error.message}")

        for member in ("b", "b", "a"):
            group.start_soon(ask, member)
    assert sorted(results) == [
        "a served",
        "b: the instance b could not be woken: no memory",
        "b: the instance b could not be woken: no memory",
    ]


async def test_a_request_that_is_given_up_while_it_waits_is_forgotten() -> None:
    switches = Switches()
    async with anyio.create_task_group() as group:
        turns = TurnTaking(group, switches, awake="a")
        async with turns.use("a"):
            with anyio.move_on_after(0.01):
                async with turns.use("b"):
                    pytest.fail("it was let in beside another")
            assert turns.waiting == 0
        async with turns.use("a"):
            pass
    assert switches.made == []


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=40), st.integers(0, 4))
def test_everybody_is_served_and_nobody_is_overtaken_beyond_the_bound(members: list[str], most_joins: int) -> None:
    """All requests wait from the start: a later one passes an earlier one only within the bound of each turn."""
    order: list[int] = []
    switches = Switches()

    async def run() -> None:
        async with anyio.create_task_group() as group:
            turns = TurnTaking(group, switches, most_joins=most_joins)

            async def ask(number: int, member: str) -> None:
                async with turns.use(member):
                    order.append(number)
                    await anyio.lowlevel.checkpoint()

            for number, member in enumerate(members):
                group.start_soon(ask, number, member)

    anyio.run(run)
    assert sorted(order) == list(range(len(members)))
    for number in order:
        overtaken_by = sum(1 for other in order[: order.index(number)] if other > number)
        turns_before = 1 + sum(1 for _ in switches.made)
        assert overtaken_by <= most_joins * turns_before
    if most_joins == 0:
        assert order == sorted(order), "without joins the order is the order of arrival"
