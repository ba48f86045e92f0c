"""Claim: on an engine that misbehaves in 30 % of its calls every turn ends inside its deadline with the right status.

Run: `python -m benchmarks.chaos_turns --turns 300`. Whole turns of the coaching team over HTTP, on each engine's
dialect in turn, in virtual time (a stall costs no real second). An oracle that knows only what the engine did says what
each turn must have come to; after it slots, queue, tasks and connections must be as before, and the blackboard whole.
"""

import argparse
import asyncio
import json
import re
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.chaos_faults import break_answer
from benchmarks.chaos_oracle import Served, expected_status
from benchmarks.machine import write_result
from repertory.engines.connect import connect
from repertory.engines.http import EngineTimeouts
from repertory.engines.openai_compatible import OpenAIEngine
from repertory.engines.profile import EngineKind
from repertory.engines.schema import validate
from repertory.runtime.cast import cast_on_one
from repertory.runtime.events import AgentDelta
from repertory.runtime.timeline import build_timeline
from repertory.runtime.turn import TurnRunner
from repertory.runtime.turn_result import TurnResult
from repertory.storage.store import Store
from repertory.teams import find_team
from repertory.testing import ScriptedEngine, ScriptedRequest
from repertory.testing.virtual_time import virtual_time

DEADLINE_S = 60.0
CLOSING_S = 5.0
"""What closing the streams may take after the deadline."""
TIMEOUTS = EngineTimeouts(connect_s=2, control_s=5, first_part_s=6, stall_s=5, ending_s=1, idle_check_s=1)
KINDS = (EngineKind.LLAMACPP, EngineKind.VLLM, EngineKind.OLLAMA, EngineKind.OPENAI, EngineKind.SGLANG)
MESSAGE = "I want to finish my thesis by June. I'll write every weekday from 8 to 9 before work."
LEAK = r"[{}\[\]]|data:|CUDA|ping|overloaded|null"
"""Bytes of faults; none may ever be shown to a person."""
COACH = "Thank you for writing. What would help you most this week?"
SYNTH = {
    "noticed": "You want to finish your thesis by June.",
    "means": "Writing before work is the time that you chose for it.",
    "next": "Which weekday will you write first?",
}
DRAFTS: dict[str, dict[str, Any]] = {
    "shadow": {
        "evidence": [],
        "stated_goal": "",
        "revealed_priority": "",
        "pattern": "insufficient_data",
        "outcomes": [],
        "promises": [],
    },
    "persona": {"traits": [], "goal": "", "same_as": "", "growth_edge": "", "evidence": []},
    "plasticity": {"moves": ["open_question"], "setting": "none", "change": "more", "because": "", "evidence": []},
    "stability": {"risks": []},
}


@dataclass
class ChaosEngine:
    """Answers each agent well, or in a share of all cases badly; remembers which."""

    random: Random
    share: float
    served: list[Served] = field(default_factory=list[Served])

    def reply(self, request: ScriptedRequest) -> Any:
        """The answer to one request."""
        roles = re.findall(r"^# Your role: (\w+)$", request.text, re.MULTILINE)
        agent = roles[-1] if roles else ""
        good = COACH if agent == "coach" else json.dumps(self._object(agent, request.text))
        if self.random.random() >= self.share:
            self.served.append(Served(agent, None))
            return good
        fault, reply = break_answer(good, self.random, json_wanted=agent != "coach")
        self.served.append(Served(agent, fault))
        return reply

    def _object(self, agent: str, prompt: str) -> dict[str, Any]:
        if agent != "synth":
            return DRAFTS[agent]
        points = re.findall(r"^(c\d+): ", prompt, re.MULTILINE)
        sentences = {name: {"points": points[:1], "words": words} for name, words in SYNTH.items()}
        sentences["means"]["points"] = points[-1:]
        return {"noticed": [sentences["noticed"], sentences["means"]], "next": sentences["next"]}


@dataclass(frozen=True)
class Row:
    """One turn and what was wrong with it."""

    engine: str
    served: tuple[Served, ...]
    status: str
    expected: str
    seconds: float
    wrong: tuple[str, ...]


async def play(kind: EngineKind, turns: int, random: Random, share: float, folder: Path) -> list[Row]:
    """Whole turns on one engine, each of a person of their own."""
    team, rules = find_team("coaching")
    team = team.model_copy(update={"deadline_s": DEADLINE_S})
    rows: list[Row] = []
    chaos = ChaosEngine(random, share)
    with Store.open(folder / f"{kind.name}.sqlite") as store:
        async with ScriptedEngine(chaos.reply, kind=kind, slots=len(team.agents)) as scripted:
            engine = await connect(scripted.url, timeouts=TIMEOUTS)
            assert isinstance(engine, OpenAIEngine)
            for number in range(turns):
                chaos.served.clear()
                tasks = len(asyncio.all_tasks())
                began = time.monotonic()
                # Another cast each time: what an instance has shown of itself would change the next turn's requests.
                runner = TurnRunner(team, rules, cast_on_one(team, engine), store)
                result = await runner.run(MESSAGE, user=f"p{number}", session="one")
                seconds = time.monotonic() - began
                await asyncio.sleep(1.0)
                shown = "".join(event.text for event in result.events if isinstance(event, AgentDelta))
                expected = expected_status(chaos.served, shown)
                wrong = [
                    *([f"{result.status}, not {expected}: {result.reason}"] if result.status != expected else []),
                    *([f"it took {seconds:.1f} s"] if seconds > DEADLINE_S + CLOSING_S else []),
                    *([f"{scripted.open_streams} streams are open"] if scripted.open_streams else []),
                    *([f"slots {scripted.busy_slots} are busy"] if scripted.busy_slots else []),
                    *(["the queue is not empty"] if engine.admission.inside or engine.admission.waiting else []),
                    *(
                        [f"{len(asyncio.all_tasks()) - tasks} tasks are left"]
                        if len(asyncio.all_tasks()) > tasks
                        else []
                    ),
                    *([f"the person saw {shown!r}"] if len(shown) > 300 or re.search(LEAK, shown) else []),
                    *broken_sections(store, result, team.sections),
                ]
                rows.append(Row(kind.value, tuple(chaos.served), result.status, expected, seconds, tuple(wrong)))
            await engine.aclose()
    return rows


def broken_sections(store: Store, result: TurnResult, sections: Any) -> list[str]:
    """What can not be read or is not valid on the blackboard after a turn."""
    board = store.blackboard("coaching", result.user)
    wrong: list[str] = []
    for name, version in board.all_latest().items():
        schema = sections[name].json_schema
        if schema is not None and validate(version.value, schema):
            wrong.append(f"section {name} is not valid")
    versions = [version.section for version in board.history() if version.turn == result.turn]
    wrong += [f"section {name} was written {count} times" for name, count in Counter(versions).items() if count > 1]
    build_timeline(result.events)
    return wrong


def run(turns: int, seed: int, share: float = 0.3) -> list[Row]:
    """Turns on all engines' dialects in virtual time."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for number, kind in enumerate(KINDS):
            count = turns // len(KINDS) + (number < turns % len(KINDS))
            with virtual_time() as run_virtual:
                rows += run_virtual(play(kind, count, Random(seed + number), share, Path(folder)))
    return rows


def summary(rows: list[Row], seed: int, share: float) -> dict[str, Any]:
    """The numbers that the docs quote."""
    served = [one for row in rows for one in row.served]
    return {
        "turns": len(rows),
        "share": share,
        "seed": seed,
        "calls": len(served),
        "faults": dict(Counter(one.fault for one in served if one.fault).most_common()),
        "statuses": dict(Counter(row.status for row in rows)),
        "longest_s": round(max(row.seconds for row in rows), 2),
        "deadline_s": DEADLINE_S,
        "wrong": [{"engine": row.engine, "served": [str(one) for one in row.served], "wrong": row.wrong}
                  for row in rows if row.wrong],
    }  # fmt: skip


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--turns", type=int, default=30)
    arguments.add_argument("--share", type=float, default=0.3)
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    result = summary(run(options.turns, options.seed, options.share), options.seed, options.share)
    print(json.dumps(result, indent=2, ensure_ascii=False))
    print(f"kept in {write_result('chaos_turns', result)}")
    if result["wrong"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
