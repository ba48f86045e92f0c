"""A turn, and an engine, each in a process of its own that a test can kill.

The processes are forked from a server that has loaded everything, so that one costs a tenth of a second.
"""

import asyncio
import json
import multiprocessing
import os
import resource
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from repertory.clock import fixed_clock
from repertory.engines.connect import connect
from repertory.engines.profile import EngineKind
from repertory.errors import EngineUnavailableError, StorageError, UsageError
from repertory.runtime.cast import cast_on_one
from repertory.runtime.durable.points import watch_points
from repertory.runtime.rules import TeamRules, TurnView, Written
from repertory.runtime.team import Agent, Read, ReadMode, Replies, Section, Team
from repertory.runtime.turn import TurnRunner
from repertory.storage.records import CommitmentChange
from repertory.storage.store import Store
from repertory.testing import ScriptedEngine
from repertory.testing.scripted_request import ScriptedRequest

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
MESSAGE = "I will call Mia on Sunday."
_MOOD = {
    "type": "object",
    "properties": {"mood": {"type": "string", "maxLength": 20}},
    "required": ["mood"],
    "additionalProperties": False,
}
CALLS = {"quick": 1, "scribe": 2, "critic": 1, "closer": 1}
"""How many calls each agent of the team needs; the scribe's first answer always has to be mended."""

context = multiprocessing.get_context("forkserver")
context.set_forkserver_preload([__name__])


def team() -> Team:
    """Four agents in two stages."""
    fresh = Read(mode=ReadMode.FRESH)
    return Team(
        name="small",
        preamble="You are a small team.",
        sections={
            "hello": Section(text=True),
            "notes": Section(json_schema=_MOOD),
            "critique": Section(json_schema=_MOOD),
            "tally": Section(json_schema={"type": "integer"}),
            "ending": Section(text=True),
        },
        agents={
            "quick": Agent(instructions="Greet.", writes="hello"),
            "scribe": Agent(instructions="Note.", writes="notes"),
            "critic": Agent(instructions="Judge.", writes="critique"),
            "closer": Agent(instructions="Close.", writes="ending", reads={"notes": fresh, "critique": fresh}),
        },
        replies=Replies(first="hello", full="ending"),
        deadline_s=60,
    )


class Rules(TeamRules):
    """The scribe's answer needs mending and makes a commitment; code counts the commitments."""

    code_sections = ("tally",)

    def check(self, name: str, answer: Any, view: TurnView) -> list[str]:
        return ["mood must be calm"] if name == "scribe" and answer["mood"] != "calm" else []

    def write(self, name: str, answer: Any, view: TurnView) -> Written:
        made = (CommitmentChange(what="call Mia", when="on Sunday"),) if name == "scribe" else ()
        return Written(value=answer, commitments=made)

    def derived_sections(self, view: TurnView) -> dict[str, Any]:
        return {"tally": len(view.commitments)}


def reply(request: ScriptedRequest) -> str | dict[str, object]:
    """What the engine answers each agent."""
    match agent_in(request.text):
        case "quick":
            return "Hello there. What now?"
        case "scribe":
            return {"mood": "calm" if "mood must be calm" in request.text else "wild"}
        case "critic":
            return {"mood": "dry"}
        case _:
            return "All in all you seem calm."


def agent_in(text: str) -> str:
    """The agent whose prompt this is; empty for a probe."""
    return text.rpartition("# Your role: ")[2].partition("\n")[0] if "# Your role: " in text else ""


def carry(database: str, url: str, turn: str | None, kill_at: str, log: str) -> None:
    """The main function of a turn's process: begin or resume a turn; kill itself at a point, or log all points."""

    def reach(point: str) -> None:
        if point == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        with Path(log).open("a") as file:
            file.write(f"{point}\n")

    watch_points(reach)
    # The engine was killed before the turn began; or another process carries the turn.
    with suppress(EngineUnavailableError, StorageError, UsageError):
        asyncio.run(_carry(database, url, turn))


async def _carry(database: str, url: str, turn: str | None) -> None:
    with Store.open(database) as store:
        engine = await connect(url, kind=EngineKind.VLLM)
        runner = TurnRunner(team(), Rules(), cast_on_one(team(), engine), store, fixed_clock(NOW))
        if turn is None:
            await runner.run(MESSAGE, user="ada", session="s1")
        else:
            await runner.resume(turn)
        await engine.aclose()


def carry_on_a_full_disk(database: str, url: str, point: str, told: str) -> None:
    """The main function of a turn's process on a disk that is full from a point on; what it is told is written down."""

    def fill(reached: str) -> None:
        if reached == point:  # no file may grow any more; Python ignores the signal that says so
            most = max(path.stat().st_size for path in Path(database).parent.glob("*.sqlite*"))
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    watch_points(fill)
    try:
        asyncio.run(_carry(database, url, None))
        words = "nothing was wrong"
    except StorageError as error:
        words = str(error)
    # The limit holds for every file, and what is to be told is longer than none.
    Path(told).write_text(words)


def serve(port: int, log: str, token_delay_s: float) -> None:
    """The main function of an engine's process: log every call of an agent when it comes."""
    asyncio.run(_serve(port, log, token_delay_s))


async def _serve(port: int, log: str, token_delay_s: float) -> None:
    def answer(request: ScriptedRequest) -> str | dict[str, object]:
        if agent := agent_in(request.text):
            with Path(log).open("a") as file:
                file.write(f"{agent}\n")
        return reply(request)

    engine = ScriptedEngine(answer, kind=EngineKind.VLLM, token_delay_s=token_delay_s, port=port)
    async with engine:
        await asyncio.Event().wait()


def start(main: Callable[..., None], *arguments: object) -> ForkServerProcess:
    """Start a process with one of the main functions above."""
    process = context.Process(target=main, args=arguments, daemon=True)
    process.start()
    return process


def kill(process: ForkServerProcess) -> None:
    """End a process as a power cut does, and wait until it is gone."""
    process.kill()
    process.join(30)


def calls_in(log: Path) -> Counter[str]:
    """How often each agent has asked the engine."""
    return Counter(log.read_text().split()) if log.exists() else Counter()


def durable_calls(database: str) -> Counter[str]:
    """The calls that are kept as finished, per agent, as whoever takes the turn up finds them."""
    with Store.open(database) as store:
        turn = store.turns.latest_turn()
        return Counter(step.agent for step in store.steps.of_turn(turn.id) if step.number > 0) if turn else Counter()


def turn_of(database: str) -> tuple[str | None, str]:
    """The turn that is there, and its status."""
    with Store.open(database) as store:
        found = store.turns.latest_turn()
        return (found.id, found.status) if found is not None else (None, "never begun")


def check_whole(store: Store, turn: str) -> None:
    """The turn is complete, and nothing of it is lost, doubled or torn."""
    kept = store.turns.find_turn(turn)
    assert kept is not None
    document = store.turns.result(turn)
    assert kept.status == "complete", document
    # Code counts at each end of a turn: one more version when the turn had ended without its engine before.
    assert store.blackboard("small", "ada").all_latest()["tally"].value == 1
    versions = [one for one in store.blackboard("small", "ada").history() if one.agent != "code"]
    assert sorted((one.section, one.version, json.dumps(one.value), one.turn) for one in versions) == [
        ("critique", 1, '{"mood": "dry"}', turn),
        ("ending", 1, '"All in all you seem calm."', turn),
        ("hello", 1, '"Hello there. What now?"', turn),
        ("notes", 1, '{"mood": "calm"}', turn),
    ]
    assert [one.what for one in store.commitments.all("small", "ada")] == ["call Mia"]
    session = store.sessions.find("small", "ada", "s1")
    assert session is not None
    assert [(one.role, one.text) for one in store.messages.messages(session)] == [
        ("person", MESSAGE),
        ("team", "Hello there. What now?\n\nAll in all you seem calm."),
    ]
    assert (document["first_reply"], document["reply"]) == ("Hello there. What now?", "All in all you seem calm.")
    assert store.steps.of_turn(turn) == ()
    events = store.turns.events(turn)
    places = [event.seq for event in events]
    assert places == sorted(set(places))
    kinds = Counter(event.type for event in events)
    assert (kinds["section_written"], kinds["reply_ready"], kinds["turn_started"]) == (4, 2, 1)
    assert events[-1].type == "turn_finished"


def wait_until(condition: Callable[[], bool], seconds: float = 30) -> None:
    """Wait for another process."""
    ends = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > ends:
            raise TimeoutError
        time.sleep(0.005)


def expected_again(before: Counter[str], durable: Counter[str], after: Counter[str]) -> Sequence[str]:
    """Agents that asked the engine for something that was kept as finished."""
    return [agent for agent, needed in CALLS.items() if after[agent] - before[agent] != needed - durable[agent]]
