"""What durability costs a turn: our journal, and DBOS where it is installed, for the same six agents.

    python -m benchmarks.durable [--turns 40]

An engine that answers at once shows all that is ours: a turn of six agents with everything that is kept (message,
steps, sections, events, result) on SQLite. An engine that takes half a second for each answer shows what of it a person
waits for: the turn's time less the engine's critical path, which is two answers one after the other. DBOS is measured
in the only form that recovers, each agent as a child workflow in a fixed order, and keeps nothing but the six answers:
its time comes on top of ours.
"""

import argparse
import asyncio
import importlib.util
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from benchmarks.machine import write_result
from repertory.engines.protocol import GenerateRequest, StreamPart
from repertory.runtime.cast import cast_on_one
from repertory.runtime.rules import TeamRules
from repertory.runtime.team import Agent, Read, ReadMode, Replies, Section, Team
from repertory.runtime.turn import TurnRunner
from repertory.storage.store import Store
from repertory.testing.scripted_model import ScriptedModel, agent_of

ANSWER_S = 0.5
"""What an answer takes on the engine that takes time."""

_NAMES = ("coach", "shadow", "persona", "plasticity", "stability", "synth")
_NOTE = {"type": "object", "properties": {"note": {"type": "string", "maxLength": 400}}, "required": ["note"]}

_DBOS = """
import asyncio, json, sys, time
began = time.perf_counter()
from dbos import DBOS
imported = time.perf_counter()
DBOS(config={"name": "turns", "system_database_url": f"sqlite:///{sys.argv[1]}", "run_admin_server": False,
             "log_level": "ERROR"})

@DBOS.step()
async def ask(agent):
    return "x" * 300

@DBOS.workflow()
async def carry_agent(agent):
    return await ask(agent)

@DBOS.workflow()
async def carry_turn(message):
    agents = [await DBOS.start_workflow_async(carry_agent, name) for name in range(6)]
    return [await agent.get_result() for agent in agents]

DBOS.launch()
launched = time.perf_counter()

async def main():
    times = []
    for _ in range(int(sys.argv[2])):
        start = time.perf_counter()
        await (await DBOS.start_workflow_async(carry_turn, "hello")).get_result()
        times.append(time.perf_counter() - start)
    return times

times = asyncio.run(main())
ended = time.perf_counter()
DBOS.destroy()
print(json.dumps({"import_s": imported - began, "launch_s": launched - imported,
                  "destroy_s": time.perf_counter() - ended, "turns_s": times}))
"""


def team() -> Team:
    fresh = Read(mode=ReadMode.FRESH)
    sections = {name: Section(json_schema=_NOTE) for name in _NAMES[1:-1]}
    return Team(
        name="six",
        preamble="You are a team of six.",
        sections=sections | {"coach": Section(text=True), "synth": Section(text=True)},
        agents={
            name: Agent(
                instructions="Work.", writes=name, reads=dict.fromkeys(sections, fresh) if name == "synth" else {}
            )
            for name in _NAMES
        },
        replies=Replies(first="coach", full="synth"),
    )


class PacedModel(ScriptedModel):
    """A scripted model whose answer takes `ANSWER_S`, its words evenly over that time."""

    async def generate(self, request: GenerateRequest) -> AsyncGenerator[StreamPart]:
        """Stream the scripted answer, paced."""
        began = time.perf_counter()
        parts = [part async for part in super().generate(request)]
        for number, part in enumerate(parts, 1):
            await asyncio.sleep(began + ANSWER_S * number / len(parts) - time.perf_counter())
            yield part


async def ours(folder: Path, turns: int, model: type[ScriptedModel], critical_path_s: float) -> dict[str, Any]:
    note = json.dumps({"note": "What was seen. " * 20})
    first: list[float] = []
    whole: list[float] = []

    def answer(request: Any) -> str:
        return "Well then, what is next? " * 8 if agent_of(request) in {"coach", "synth"} else note

    with Store.open(folder / "ours.sqlite") as store:
        runner = TurnRunner(team(), TeamRules(), cast_on_one(team(), model(reply=answer)), store)
        for number in range(turns):
            began = time.perf_counter()
            words: list[float] = []

            def see(event: Any, words: list[float] = words) -> None:
                if event.type == "agent_delta" and not words:
                    words.append(time.perf_counter())

            await runner.run("Hello.", user="ada", session=f"s{number % 4}", sinks=[see])
            whole.append(time.perf_counter() - began - critical_path_s)
            first.append(words[0] - began)
    return {"first_word": _spread(first), "turn_beyond_the_engine": _spread(whole)}


def dbos(folder: Path, turns: int) -> dict[str, Any] | None:
    if importlib.util.find_spec("dbos") is None:
        return None
    command = [sys.executable, "-c", _DBOS, str(folder / "dbos.sqlite"), str(turns)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    told = json.loads(done.stdout.strip().splitlines()[-1])
    times = told.pop("turns_s")
    return {name: round(value, 3) for name, value in told.items()} | {"turn": _spread(times)}


def _spread(seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    return {
        "median_ms": round(1000 * statistics.median(ordered), 1),
        "least_ms": round(1000 * ordered[0], 1),
        "p95_ms": round(1000 * ordered[int(0.95 * (len(ordered) - 1))], 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=40)
    turns = parser.parse_args().turns
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top)
        (folder / "paced").mkdir()
        result = {
            "turns": turns,
            "engine_at_once": asyncio.run(ours(folder, turns, ScriptedModel, 0)),
            "engine_takes_time": asyncio.run(ours(folder / "paced", turns, PacedModel, 2 * ANSWER_S)),
            "dbos": dbos(folder, turns),
        }
    print(write_result("durable", result))
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
