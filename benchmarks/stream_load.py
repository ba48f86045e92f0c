"""Claim: memory stays flat over 10,000 streams, a third of them broken or cancelled, and nothing is left open.

Run: `python -m benchmarks.stream_load --streams 10000` (the default is 1,000). Flat is a number: the slope of resident
memory over streams, fitted to all samples after the first quarter, in bytes per stream; what the allocator keeps in
reserve is given back before each sample.
"""

import argparse
import asyncio
import contextlib
import ctypes
import gc
import statistics
import sys
from collections import Counter
from contextlib import aclosing
from random import Random
from typing import Any

import anyio
import psutil

from benchmarks.machine import write_result
from repertory.engines.connect import connect
from repertory.engines.failures import failure_code
from repertory.engines.http import EngineTimeouts
from repertory.engines.openai_compatible import OpenAIEngine
from repertory.engines.protocol import ChatMessage, GenerateRequest
from repertory.errors import RepertoryError
from repertory.testing import ScriptedEngine, ask, chaotic
from repertory.testing.virtual_time import virtual_time

LIMIT_BYTES = 200.0
"""Per stream: 10,000 streams may cost two megabytes, which is what the allocator's own noise comes to."""
ROUNDS = 40
AT_ONCE = 16
ANSWER = "one two three four five six seven eight"


async def call(engine: OpenAIEngine, random: Random, ends: Counter[str]) -> None:
    leaves = random.random() < 0.1
    try:
        if leaves:
            request = GenerateRequest([ChatMessage("user", "Hello.")], 256, deadline_s=5)
            async with aclosing(engine.generate(request)) as parts:
                await anext(parts, None)
            ends["left after the first part"] += 1
        else:
            ends[(await ask(engine, deadline_s=5)).finish_reason.value] += 1
    except RepertoryError as error:
        ends[failure_code(error)] += 1


def _give_back_free_memory() -> None:
    """What the allocator keeps for later use is not held by us; glibc lets it grow by some 300 bytes a stream."""
    gc.collect()
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)


async def load(streams: int) -> dict[str, Any]:
    random, ends = Random(1), Counter[str]()
    process, held = psutil.Process(), list[float]()
    timeouts = EngineTimeouts(stall_s=0.05, first_part_s=0.1, ending_s=0.05)

    def reply(_: object) -> object:
        return chaotic(ANSWER, random, share=0.25)

    async with ScriptedEngine(reply, slots=AT_ONCE) as scripted:  # pyright: ignore[reportArgumentType] - any reply
        engine = await connect(scripted.url, timeouts=timeouts)
        assert isinstance(engine, OpenAIEngine)
        left = [streams]

        async def worker() -> None:
            while left[0] > 0:
                left[0] -= 1
                await call(engine, random, ends)

        for _ in range(ROUNDS):
            left[0] = streams // ROUNDS
            async with anyio.create_task_group() as group:
                for _ in range(AT_ONCE):
                    group.start_soon(worker)
            scripted.requests.clear()
            scripted.other_requests.clear()
            _give_back_free_memory()
            held.append(process.memory_info().rss / 2**20)
        print(f"{sum(ends.values()):,} streams, {held[0]:.1f} to {held[-1]:.1f} MiB", flush=True)
        await engine.aclose()
    await asyncio.sleep(0.1)
    left_open = [connection for connection in process.net_connections() if connection.status != "NONE"]
    settled = held[ROUNDS // 4 :]
    slope = statistics.linear_regression(range(len(settled)), settled).slope
    return {
        "streams": sum(ends.values()),
        "ends": dict(ends),
        "mib": [round(size, 2) for size in held],
        "bytes_per_stream": round(slope * 2**20 / (streams // ROUNDS), 1),
        "limit_bytes_per_stream": LIMIT_BYTES,
        "left_open": len(left_open),
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--streams", type=int, default=1000)
    streams = arguments.parse_args().streams
    with virtual_time() as run:  # else a busy machine would turn good streams into late ones
        result = run(load(streams))
    print(f"ends {result['ends']}")
    print(f"{result['bytes_per_stream']} bytes per stream, connections left open {result['left_open']}")
    write_result("stream_load", result)
    # A slope needs streams: over a thousand of them the allocator's noise is larger than any leak that matters.
    leaks = float(str(result["bytes_per_stream"])) > LIMIT_BYTES and result["streams"] >= 5000
    if leaks or result["left_open"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
