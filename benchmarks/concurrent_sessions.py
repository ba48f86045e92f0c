"""Claims about many sessions at once, on one scripted engine that runs N requests at a time.

1. 200 people who talk at the same time, six agents each, get at least 90 % of the tokens per second that the engine
   gives to bare HTTP clients that keep all its places busy.
2. No cross-talk: each message holds a word of its own, which the engine says back in every answer to a prompt that it
   stands in. Each person's blackboard, messages and replies hold that person's words alone; and every section and reply
   of a turn holds the turn's own word.

    python -m benchmarks.concurrent_sessions [--sessions 200] [--places 64] [--token-ms 50] [--seconds 60]

The engine is a process of its own; turns are carried and kept (SQLite) as always. A rate is counted while everybody
talks: from a few seconds after the first message until the time is over and turns begin to run out.
"""

import argparse
import asyncio
import json
import multiprocessing
import re
import tempfile
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil

from benchmarks.machine import write_result
from repertory.engines.connect import connect
from repertory.engines.profile import EngineKind
from repertory.engines.protocol import Engine, GenerateRequest, Generation, StreamPart
from repertory.engines.stand_in import EngineStandIn
from repertory.runtime.cast import cast_on_one
from repertory.runtime.rules import TeamRules
from repertory.runtime.team import Agent, Read, ReadMode, Replies, Section, Team
from repertory.runtime.turn import TurnRunner
from repertory.storage.store import Store
from repertory.testing import ScriptedEngine
from repertory.testing.scripted_request import ScriptedRequest

SHARE = 0.9
WARM_S = 5.0
BARE_S = 15.0
ANSWER_TOKENS = 60
_SPECIALISTS = ("shadow", "persona", "plasticity", "stability")
_NOTE = {"type": "object", "properties": {"note": {"type": "string", "maxLength": 600}}, "required": ["note"]}
_WORD = re.compile(r"\bw\d+x\d+\b")


def team() -> Team:
    """Six agents in two stages, as in coaching."""
    fresh = Read(mode=ReadMode.FRESH)
    notes = {name: Agent(instructions=f"Note what {name} sees.", writes=name) for name in _SPECIALISTS}
    return Team(
        name="six",
        preamble="You are a team of six that keeps a person company.",
        sections={
            "first": Section(text=True),
            "full": Section(text=True),
            **{name: Section(json_schema=_NOTE) for name in _SPECIALISTS},
        },
        agents={
            "coach": Agent(instructions="Answer at once.", writes="first"),
            **notes,
            "synth": Agent(instructions="End.", writes="full", reads=dict.fromkeys(_SPECIALISTS, fresh)),
        },
        replies=Replies(first="first", full="full"),
    )


def answer(request: ScriptedRequest) -> str | dict[str, object]:
    """The words that stand in the prompt, the newest last, and filling up to the answer's length."""
    heard = list(dict.fromkeys(_WORD.findall(request.text)))[-8:]
    words = " ".join([*heard, *("so" for _ in range(ANSWER_TOKENS - len(heard)))])
    return {"note": words} if request.json_schema is not None else words


def run_engine(places: int, token_s: float, pipe: Connection) -> None:
    """The engine's process; it ends with the pipe."""

    async def serve() -> None:
        engine = ScriptedEngine(
            answer, kind=EngineKind.VLLM, slots=places, token_delay_s=token_s, context_tokens=32_768
        )
        async with engine:
            pipe.send(engine.url)
            await asyncio.to_thread(pipe.poll, None)

    asyncio.run(serve())


@dataclass
class Tokens:
    """Tokens as they come."""

    times: list[float] = field(default_factory=list[float])

    def add(self, count: int) -> None:
        """So many have come now."""
        self.times += [time.monotonic()] * count

    def per_s(self, start: float, end: float) -> float:
        """How many came in a second, between two moments."""
        return sum(start <= at < end for at in self.times) / (end - start)


class Counted(EngineStandIn):
    """Counts each piece of an answer when it comes: this engine sends one token a piece."""

    def __init__(self, engine: Engine, tokens: Tokens) -> None:
        super().__init__(engine)
        self._tokens = tokens

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[StreamPart]:
        """Stream one generation."""
        stream = self._engine.generate(request)
        try:
            async for part in stream:
                if not isinstance(part, Generation):
                    self._tokens.add(1)
                yield part
        finally:
            await stream.aclose()


async def bare_rate(url: str, places: int, seconds: float) -> float:
    """Tokens per second that the engine gives to clients which ask again as soon as they have their answer."""
    parts = urlsplit(url)
    body = json.dumps(
        {"model": "scripted", "stream": True, "messages": [{"role": "user", "content": "w1x1 " * 200}]}
    ).encode()
    head = f"POST {parts.path}/chat/completions HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: close\r\n"
    request = f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
    tokens = Tokens()

    async def client() -> None:
        while True:
            reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
            try:
                writer.write(request)
                while line := await reader.readline():
                    if line.startswith(b"data: ") and b'"content"' in line and b'"content": ""' not in line:
                        tokens.add(1)
            finally:
                writer.close()

    clients = [asyncio.create_task(client()) for _ in range(places)]
    await asyncio.sleep(WARM_S)
    start = time.monotonic()
    await asyncio.sleep(seconds)
    end = time.monotonic()
    for task in clients:
        task.cancel()
    await asyncio.gather(*clients, return_exceptions=True)
    return tokens.per_s(start, end)


@dataclass
class Talked:
    """What the sessions came to."""

    turns: int = 0
    not_complete: list[str] = field(default_factory=list[str])
    cross_talk: list[str] = field(default_factory=list[str])
    unheard: list[str] = field(default_factory=list[str])

    def check(self, user: int, where: str, text: str, own: str | None = None) -> None:
        """Only the words of this user may stand here, and the turn's own word must."""
        words = set(_WORD.findall(text))
        if strange := {word for word in words if not word.startswith(f"w{user}x")}:
            self.cross_talk.append(f"user {user}, {where}: {sorted(strange)}")
        if own is not None and own not in words:
            self.unheard.append(f"user {user}, {where}: {own} is missing")


async def talk(runner: TurnRunner, user: int, until: float, talked: Talked) -> None:
    """One person who writes again as soon as the whole reply is there."""
    number = 0
    while time.monotonic() < until:
        number += 1
        own = f"w{user}x{number}"
        result = await runner.run(f"Today I thought of {own}.", user=f"u{user}", session="s")
        talked.turns += 1
        if result.status != "complete":
            talked.not_complete.append(f"{result.turn}: {result.status}, {result.reason}")
            continue
        talked.check(user, "first reply", result.first_reply, own)
        talked.check(user, "full reply", result.reply, own)
        for name, section in result.sections.items():
            talked.check(user, name, json.dumps(section.value), own)


def check_kept(store: Store, sessions: int, talked: Talked) -> int:
    """Look through all that is kept of everybody; how many section versions there are."""
    versions = 0
    for user in range(sessions):
        for one in store.blackboard("six", f"u{user}").history():
            versions += 1
            talked.check(user, f"kept {one.section}", json.dumps(one.value))
        talked.check(user, "all that is kept", json.dumps(store.export(f"u{user}"), default=str))
    return versions


async def measure(options: argparse.Namespace, url: str, folder: Path) -> dict[str, Any]:
    """Bare clients first, then the sessions; all that is kept is looked through at the end."""
    bare = await bare_rate(url, options.places, min(BARE_S, options.seconds))
    tokens, talked = Tokens(), Talked()
    engine = await connect(url, kind=EngineKind.VLLM)
    six = team()
    with Store.open(folder / "store.sqlite") as store:
        runner = TurnRunner(six, TeamRules(), cast_on_one(six, Counted(engine, tokens)), store)
        process = psutil.Process()
        before, cpu = process.memory_info().rss, sum(process.cpu_times()[:2])
        start = time.monotonic()
        until = start + options.seconds
        await asyncio.gather(*(talk(runner, user, until, talked) for user in range(options.sessions)))
        wall = time.monotonic() - start
        used, after = sum(process.cpu_times()[:2]) - cpu, process.memory_info().rss
        await engine.aclose()
        versions = check_kept(store, options.sessions, talked)
    rate = tokens.per_s(start + WARM_S, until)
    return {
        "sessions": options.sessions,
        "engine": {
            "places": options.places,
            "token_ms": options.token_ms,
            "tokens_per_s_by_its_script": round(options.places / options.token_ms * 1000, 1),
            "tokens_per_s_to_bare_clients": round(bare, 1),
        },
        "tokens_per_s": round(rate, 1),
        "share_of_bare_clients": round(rate / bare, 3),
        "turns": talked.turns,
        "turns_not_complete": len(talked.not_complete),
        "sections_kept": versions,
        "cross_talk": len(talked.cross_talk),
        "words_not_heard": len(talked.unheard),
        "cpu_s_per_turn": round(used / max(talked.turns, 1), 4),
        "tokens_per_cpu_s": round(len(tokens.times) / used, 1),
        "cpu_share_of_one_core": round(used / wall, 3),
        "memory_growth_mib": round((after - before) / 2**20, 1),
        "examples": (talked.cross_talk + talked.unheard + talked.not_complete)[:5],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--places", type=int, default=64, help="requests that the engine runs at once")
    parser.add_argument("--token-ms", type=float, default=50.0, help="time of a token of one request")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long people begin new turns")
    options = parser.parse_args()
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    engine = spawn.Process(target=run_engine, args=(options.places, options.token_ms / 1000, there), daemon=True)
    engine.start()
    try:
        with tempfile.TemporaryDirectory() as folder:
            result = asyncio.run(measure(options, here.recv(), Path(folder)))
    finally:
        here.send("end")
        engine.join(10)
        engine.terminate()
    print(json.dumps(result, indent=2))
    print(write_result("concurrent_sessions", result))
    clean = not (result["cross_talk"] or result["words_not_heard"] or result["turns_not_complete"])
    if not clean or result["share_of_bare_clients"] < SHARE:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
