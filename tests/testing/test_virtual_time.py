"""Time that passes only while nothing else can."""

import asyncio
import threading
import time

import anyio

from repertory.engines.connect import connect
from repertory.testing import ScriptedEngine, ask
from repertory.testing.dialects import Answer
from repertory.testing.virtual_time import virtual_time


def test_an_hour_passes_at_once_and_in_order() -> None:
    order: list[str] = []

    async def wait(name: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        order.append(name)

    async def all_of_them() -> float:
        began = time.monotonic()
        await asyncio.gather(wait("long", 3600), wait("short", 60), wait("none", 0))
        return time.monotonic() - began

    real = time.perf_counter()
    with virtual_time() as run:
        assert run(all_of_them()) == 3600
    assert order == ["none", "short", "long"]
    assert time.perf_counter() - real < 60


def test_the_clock_stands_still_while_a_thread_works() -> None:
    async def race() -> str:
        done = threading.Event()
        work = asyncio.create_task(asyncio.to_thread(done.wait, 0.2))
        with anyio.move_on_after(0.001):
            await work
            return "thread"
        return "timer"

    with virtual_time() as run:
        assert run(race()) == "thread"


def test_a_slow_engine_over_http_takes_virtual_seconds() -> None:
    async def talk() -> tuple[str, float]:
        async with ScriptedEngine(Answer("one two three", token_delay_s=30.0)) as scripted:
            engine = await connect(scripted.url)
            began = time.monotonic()
            generation = await ask(engine, deadline_s=600)
            await engine.aclose()
            return generation.text, time.monotonic() - began

    with virtual_time() as run:
        text, seconds = run(talk())
    assert text == "one two three"
    assert 90 <= seconds < 200


def test_after_the_block_time_is_real_again() -> None:
    with virtual_time():
        inside = time.monotonic
    assert time.monotonic is not inside
