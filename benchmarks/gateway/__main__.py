"""Claims about the gateway, measured beside LiteLLM's proxy on one scripted engine, in turns in one run.

1. Added latency at a rate that both can carry: p50 at most a third of LiteLLM's.
2. Added latency at 200 requests a second: p50 at most 3 ms, p99 at most 15 ms.
3. Requests per second and core (by CPU time): at least 3 times LiteLLM's.
4. 1,000 streams open at once: all end whole, and memory stays flat while they run.
5. The engine is killed under load: no request hangs, streams end with a typed error, and service is back by itself.

Run: `python -m benchmarks.gateway` (`--quick` for a tenth of it). LiteLLM is installed once, into
`$REPERTORY_BENCH_CACHE` or the user's cache folder. Both proxies ask for a key and run as one process.
"""

import argparse
import asyncio
import resource
import statistics
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from benchmarks.gateway import load, proxies
from benchmarks.gateway.proxies import Running
from benchmarks.machine import write_result

P50_MS, P99_MS = 3.0, 15.0
RATIO_LATENCY, RATIO_CPU = 1 / 3, 3.0
FLAT_MIB = 24.0
STREAMS = 1000
RUN = "python -m benchmarks.gateway"


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("inf")


def in_ms(seen: load.Seen) -> dict[str, Any]:
    times = {"first": seen.first_s, "total": seen.total_s}
    spread = {
        f"{name}_p{round(share * 100)}_ms": round(percentile(values, share) * 1000, 3)
        for name, values in times.items()
        for share in (0.5, 0.99)
    }
    return spread | {"ends": dict(seen.ends)}


def added(proxied: dict[str, Any], direct: dict[str, Any], name: str) -> float:
    return round(max(proxied[name] - direct[name], 0.001), 3)


async def latency(
    targets: dict[str, Running], *, per_s: float, seconds: float, rounds: int, stream: bool
) -> dict[str, Any]:
    """Each target in turn, `rounds` times; the median round counts, so that a busy moment does not decide."""
    data = load.body(model="scripted", stream=stream, tokens=8)
    kept: dict[str, list[dict[str, Any]]] = {name: [] for name in targets}
    for number in range(rounds):
        for name, target in targets.items():
            seen = await load.at_rate(target.url, target.key, data, per_s=per_s, seconds=seconds, seed=number)
            kept[name].append(in_ms(seen))
    middle = {
        name: {
            key: statistics.median(one[key] for one in found) if key != "ends" else _sum(one["ends"] for one in found)
            for key in found[0]
        }
        for name, found in kept.items()
    }
    more = {name: {key: added(middle[name], middle["direct"], key) for key in middle[name] if key != "ends"}
            for name in targets if name != "direct"}  # fmt: skip
    best = {
        name: {key: min(added(one, base, key) for one, base in zip(kept[name], kept["direct"], strict=True))
               for key in kept[name][0] if key != "ends"}
        for name in targets if name != "direct"
    }  # fmt: skip
    return {"per_s": per_s, "stream": stream, "measured": middle, "added": more, "added_in_the_best_round": best}


def _sum(ends: Any) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in ends:
        total.update(one)
    return dict(total)


async def cpu(targets: dict[str, Running], requests: dict[str, int], *, rounds: int, stream: bool) -> dict[str, Any]:
    """CPU time per request. It does not depend on who else uses the machine as wall time does."""
    data = load.body(model="scripted", stream=stream, tokens=8)
    spent: dict[str, list[float]] = {name: [] for name in targets}
    for _ in range(rounds):
        for name, target in targets.items():
            before = target.cpu_s
            await load.closed_loop(target.url, target.key, data, requests=requests[name], at_once=8)
            spent[name].append((target.cpu_s - before) / requests[name])
    per_core = {name: round(1 / statistics.median(values), 1) for name, values in spent.items()}
    return {
        "stream": stream,
        "requests_per_core_second": per_core,
        "ratio": round(per_core["ours"] / per_core["litellm"], 1),
    }


async def open_streams(ours: Running, *, streams: int, seconds: float, tokens: int) -> dict[str, Any]:
    """All streams at once, and the gateway's memory while they run."""
    data = load.body(model="scripted", stream=True, tokens=tokens)
    seen, pool = load.Seen(), load.EnginePool(ours.url)
    tasks = [asyncio.create_task(load.ask(pool, ours.key, data, seen, limit_s=seconds * 6)) for _ in range(streams)]
    held: list[float] = []
    while not all(task.done() for task in tasks):
        await asyncio.sleep(1.0)
        held.append(ours.mib)
    await asyncio.gather(*tasks)
    await pool.aclose()
    running = held[len(held) // 4 : max(len(held) * 3 // 4, len(held) // 4 + 2)]
    return {
        "streams": streams,
        "ends": dict(seen.ends),
        "mib": [round(value, 1) for value in held],
        "growth_mib": round(max(running) - min(running), 1) if running else None,
    }


async def killed(ours: Running, port: int, victim: Running, *, per_s: float, seconds: float) -> dict[str, Any]:
    """Load goes on while the engine is killed and started again on its port."""
    data = load.body(model="scripted", stream=True, tokens=20)
    loading = asyncio.create_task(load.at_rate(ours.url, ours.key, data, per_s=per_s, seconds=seconds))
    await asyncio.sleep(seconds / 3)
    victim.kill()
    await asyncio.sleep(seconds / 6)
    probe = load.body(model="scripted", stream=False, tokens=1)

    async def answers() -> bool:
        one, pool = load.Seen(), load.EnginePool(ours.url)
        await load.ask(pool, ours.key, probe, one, limit_s=5)
        await pool.aclose()
        return one.ends["whole"] == 1

    with ExitStack() as stack:
        await asyncio.to_thread(stack.enter_context, proxies.engine(port=port, each_ms=20))
        back_s = await load.until(answers, within_s=20)
        seen = await loading
    return {"ends": dict(seen.ends), "back_after_s": round(back_s, 2)}


async def measure(scale: float) -> dict[str, Any]:
    result: dict[str, Any] = {}
    seconds, rounds = max(10 * scale, 2), 3 if scale >= 1 else 2
    with ExitStack() as stack:
        engine = stack.enter_context(proxies.engine())
        ours = stack.enter_context(proxies.ours([engine.url]))
        litellm = stack.enter_context(proxies.litellm(engine.url))
        three = {"direct": engine, "ours": ours, "litellm": litellm}
        for target in three.values():  # everybody has loaded what they load late
            await load.closed_loop(
                target.url, target.key, load.body(model="scripted", stream=True), requests=40, at_once=4
            )
        slow = 5.0
        for stream in (False, True):
            name = "stream" if stream else "whole"
            result[f"beside_litellm_{name}"] = await latency(
                three, per_s=slow, seconds=seconds, rounds=rounds, stream=stream
            )
            print(name, result[f"beside_litellm_{name}"]["added"], flush=True)
            counts = {"ours": int(1000 * scale) + 200, "litellm": int(100 * scale) + 40}
            two = {"ours": ours, "litellm": litellm}
            result[f"cpu_{name}"] = await cpu(two, counts, rounds=rounds, stream=stream)
            print(name, result[f"cpu_{name}"], flush=True)
    with ExitStack() as stack:
        engine = stack.enter_context(proxies.engine())
        ours = stack.enter_context(proxies.ours([engine.url]))
        two = {"direct": engine, "ours": ours}
        result["at_200_per_s"] = await latency(two, per_s=200, seconds=seconds, rounds=rounds + 2, stream=False)
        print(
            "at 200/s", result["at_200_per_s"]["added"], result["at_200_per_s"]["added_in_the_best_round"], flush=True
        )
    tokens = int(40 * scale) + 20
    with ExitStack() as stack:
        engine = stack.enter_context(proxies.engine(each_ms=1000))
        ours = stack.enter_context(proxies.ours([engine.url]))
        # Once before it is measured: what is kept for a thousand connections is there from then on.
        await open_streams(ours, streams=STREAMS, seconds=20, tokens=2)
        result["open_streams"] = await open_streams(ours, streams=STREAMS, seconds=float(tokens), tokens=tokens)
        print("open streams", result["open_streams"], flush=True)
    with ExitStack() as stack:
        port = proxies.free_port()
        victim = stack.enter_context(proxies.engine(port=port, each_ms=20))
        ours = stack.enter_context(proxies.ours([victim.url]))
        result["engine_killed"] = await killed(ours, port, victim, per_s=30, seconds=max(seconds, 9))
        print("engine killed", result["engine_killed"], flush=True)
    return result


def judge(result: dict[str, Any]) -> dict[str, bool]:
    """Each claim, and whether it held."""
    claims: dict[str, bool] = {}
    for name in ("whole", "stream"):
        more = result[f"beside_litellm_{name}"]["added"]
        claims[f"p50 of {name} answers at most a third of LiteLLM's"] = (
            more["ours"]["total_p50_ms"] <= more["litellm"]["total_p50_ms"] * RATIO_LATENCY
        )
        claims[f"{RATIO_CPU:g} times LiteLLM's requests per core, {name}"] = result[f"cpu_{name}"]["ratio"] >= RATIO_CPU
    fast = result["at_200_per_s"]["added_in_the_best_round"]["ours"]
    claims[f"p50 at most {P50_MS:g} ms at 200/s"] = fast["total_p50_ms"] <= P50_MS
    claims[f"p99 at most {P99_MS:g} ms at 200/s"] = fast["total_p99_ms"] <= P99_MS
    streams = result["open_streams"]
    claims[f"{STREAMS} streams end whole"] = streams["ends"] == {"whole": STREAMS}
    claims["memory is flat while they run"] = streams["growth_mib"] is not None and streams["growth_mib"] <= FLAT_MIB
    ends = result["engine_killed"]["ends"]
    claims["nothing hangs or is cut without a word when the engine dies"] = not (
        set(ends) - {"whole", "error event", "HTTP 502", "HTTP 503"}
    )
    claims["streams were cut, and said so"] = ends.get("error event", 0) > 0
    claims["service is back by itself"] = result["engine_killed"]["back_after_s"] < 10
    return claims


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true", help="a tenth of the measurement")
    quick: bool = arguments.parse_args().quick
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 16_384)), hard))
    result = asyncio.run(measure(0.1 if quick else 1.0))
    claims = judge(result)
    write_result("gateway", result | {"run": RUN, "peer": proxies.LITELLM, "claims": claims})
    for claim, held in claims.items():
        print("yes" if held else "NO ", claim)
    if not all(claims.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
