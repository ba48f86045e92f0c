"""Claim: memory stays flat over 10,000 streams, a third of them broken or cancelled, and nothing is left open.

Run: `python -m benchmarks.stream_load --streams 10000`
"""

import argparse
import asyncio
import sys
from collections import Counter
from random import Random

import anyio
import psutil

from benchmarks.machine import write_result
from repertory.engines.connect import connect
from repertory.engines.failures import failure_code
from repertory.engines.http import EngineTimeouts
from repertory.engines.openai_compatible import OpenAIEngine
from repertory.errors import RepertoryError
from repertory.testing import ScriptedEngine, ask, chaotic

LIMIT_MIB = 8.0
AT_ONCE = 16
ANSWER = "one two three four five six seven eight"


async def call(engine: OpenAIEngine, random: Random, ends: Counter[str]) -> None:
    patience_s = 0.01 if random.random() < 0.1 else 5.0
    try:
        with anyio.move_on_after(patience_s) as scope:
            ends[(await ask(engine, deadline_s=5)).finish_reason.value] += 1
        if scope.cancelled_caught:
            ends["cancelled"] += 1
    except RepertoryError as error:
        ends[failure_code(error)] += 1


async def load(streams: int) -> dict[str, object]:
    random, ends = Random(1), Counter[str]()
    process, held = psutil.Process(), list[float]()
    timeouts = EngineTimeouts(stall_s=0.05, first_part_s=0.1, ending_s=0.05)
    rounds = 10

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

        for _ in range(rounds):
            left[0] = streams // rounds
            async with anyio.create_task_group() as group:
                for _ in range(AT_ONCE):
                    group.start_soon(worker)
            scripted.requests.clear()
            held.append(process.memory_info().rss / 2**20)
            print(f"{sum(ends.values()):,} streams, {held[-1]:.1f} MiB", flush=True)
        await engine.aclose()
    await asyncio.sleep(0.1)
    left_open = [connection for connection in process.net_connections() if connection.status != "NONE"]
    growth = held[-1] - held[1]
    return {"ends": dict(ends), "mib": held, "growth_mib": growth, "left_open": len(left_open), "limit_mib": LIMIT_MIB}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--streams", type=int, default=10_000)
    result = asyncio.run(load(arguments.parse_args().streams))
    print(f"ends {result['ends']}\ngrowth {result['growth_mib']:+.1f} MiB, connections left open {result['left_open']}")
    write_result("stream_load", result)
    if float(str(result["growth_mib"])) > LIMIT_MIB or result["left_open"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
