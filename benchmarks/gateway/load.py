"""A load generator that costs little itself: requests on kept connections, at a fixed rate or as fast as they go."""

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from repertory.errors import RepertoryError
from repertory.serving.gateway.engine_pool import EnginePool

TEXT = "The quick brown fox jumps over the lazy dog, again and again. " * 40


@dataclass
class Seen:
    """What the clients saw.

    Attributes:
        first_s: Until the first byte of the body.
        total_s: Until its end.
        ends: How requests ended: `whole`, `error event`, `HTTP status`, or the name of an exception.
    """

    first_s: list[float] = field(default_factory=list[float])
    total_s: list[float] = field(default_factory=list[float])
    ends: Counter[str] = field(default_factory=Counter[str])


def body(*, model: str, stream: bool, tokens: int | None = None, number: int = 0) -> bytes:
    fields: dict[str, object] = {
        "messages": [
            {"role": "system", "content": "You are brief."},
            {"role": "user", "content": f"{number}: {TEXT}"},
        ],
        "model": model,
        "temperature": 0.2,
    }
    if tokens is not None:
        fields["max_tokens"] = tokens
    if stream:
        fields["stream"] = True
    return json.dumps(fields).encode()


async def ask(pool: EnginePool, key: str, data: bytes, seen: Seen, *, limit_s: float = 60.0) -> None:
    headers = [(b"content-type", b"application/json"), (b"authorization", f"Bearer {key or 'none'}".encode())]
    began = time.perf_counter()
    first = 0.0
    tail = b""
    try:
        async with asyncio.timeout(limit_s):
            connection = await pool.send("POST", "/v1/chat/completions", headers, data, first_byte_s=limit_s)
            try:
                while part := await connection.read():
                    first = first or time.perf_counter() - began
                    tail = (tail + part)[-400:]
            finally:
                connection.release()
    except TimeoutError:
        seen.ends["hung"] += 1
        return
    except RepertoryError as error:
        seen.ends[type(error).__name__] += 1
        return
    if connection.status != 200:
        seen.ends[f"HTTP {connection.status}"] += 1
    elif b'"error"' in tail:
        seen.ends["error event"] += 1
    elif b"[DONE]" in tail or tail.rstrip().endswith(b"}"):
        seen.ends["whole"] += 1
        seen.first_s.append(first)
        seen.total_s.append(time.perf_counter() - began)
    else:
        seen.ends["cut without a word"] += 1


async def at_rate(url: str, key: str, data: bytes, *, per_s: float, seconds: float, seed: int = 1) -> Seen:
    """Requests at random moments (Poisson), whether or not earlier ones have been answered."""
    seen, pool, chance = Seen(), EnginePool(url), random.Random(seed)
    tasks: set[asyncio.Task[None]] = set()
    began = time.perf_counter()
    due = 0.0
    while due < seconds:
        due += chance.expovariate(per_s)
        await asyncio.sleep(max(0.0, began + due - time.perf_counter()))
        task = asyncio.create_task(ask(pool, key, data, seen))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    await asyncio.gather(*tasks)
    await pool.aclose()
    return seen


async def closed_loop(url: str, key: str, data: bytes, *, requests: int, at_once: int) -> Seen:
    """So many requests, so many at once."""
    seen, pool, left = Seen(), EnginePool(url), [requests]

    async def worker() -> None:
        while left[0] > 0:
            left[0] -= 1
            await ask(pool, key, data, seen)

    await asyncio.gather(*(worker() for _ in range(at_once)))
    await pool.aclose()
    return seen


async def until(condition: Callable[[], Awaitable[bool]], *, within_s: float, each_s: float = 0.1) -> float:
    """Seconds until a condition holds; infinity when it does not in time."""
    began = time.perf_counter()
    while time.perf_counter() - began < within_s:
        if await condition():
            return time.perf_counter() - began
        await asyncio.sleep(each_s)
    return float("inf")
