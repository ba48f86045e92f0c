"""Claim: agents run by Claude Code or an ACP program give valid sections, at a cost in seconds and tokens that is told.

Run: `python -m benchmarks.harness --model qwen2.5-coder-0.5b` (embedded llama.cpp), or with `--engine-url URL` (vLLM).
The same coaching turn is carried natively, by Claude Code, by both mixed (the Coach native), and with `--acp` by an
ACP program; each with people of its own, after one turn that warms the engine and is not counted.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.coaching_turns import PEOPLE, SPECIALISTS, log
from benchmarks.machine import write_result
from repertory.cli.engine_choice import EngineChoice, open_engine
from repertory.cli.harness_choice import open_harness
from repertory.clock import fixed_clock
from repertory.engines.protocol import Engine
from repertory.engines.schema import validate
from repertory.runtime.cast import cast_on_one
from repertory.runtime.events import HarnessFinished
from repertory.runtime.harness.kinds import HarnessKind
from repertory.runtime.harness.programs import find_programs, require_programs, with_harness
from repertory.runtime.harness.settings import HarnessSettings
from repertory.runtime.rules import TeamRules
from repertory.runtime.team import Team
from repertory.runtime.turn import TurnRunner
from repertory.runtime.turn_result import TurnResult
from repertory.storage.store import Store
from repertory.teams import find_team

BEGIN = datetime(2026, 11, 1, 9, tzinfo=UTC)


def mixed(team: Team) -> Team:
    """The Coach, for whose first word the person waits, by us; the others by Claude Code."""
    coach = next(name for name, agent in team.agents.items() if agent.writes == team.replies.first)
    by_claude = with_harness(team, HarnessKind.CLAUDE_CODE)
    return by_claude.model_copy(update={"agents": {**by_claude.agents, coach: team.agents[coach]}})


def by_acp(team: Team, program: str) -> Team:
    settings = HarnessSettings.model_validate({"kind": "acp", "program": program})
    agents = {name: agent.model_copy(update={"harness": settings}) for name, agent in team.agents.items()}
    return team.model_copy(update={"agents": agents})


def row_of(team: Team, result: TurnResult) -> dict[str, Any]:
    """One turn in numbers."""
    valid = [
        name
        for name in SPECIALISTS
        if result.sections[name].status == "written"
        and not validate(result.sections[name].value, team.sections[name].json_schema or {})
    ]
    calls = [event for event in result.events if isinstance(event, HarnessFinished)]
    return {
        "status": result.status,
        "reason": result.reason,
        "valid_sections": len(valid),
        "first_token_s": result.timing["first_token_s"],
        "first_reply_s": result.timing["first_reply_s"],
        "reply_s": result.timing["reply_s"],
        "tokens": asdict(result.tokens),
        "programs": [
            {
                "agent": call.agent,
                "status": call.status,
                "seconds": call.seconds,
                "first_words_s": call.first_words_s,
                "requests": call.requests,
                "prompt_tokens": call.prompt_tokens,
                "cached_tokens": call.cached_tokens,
                "added_tokens": call.added_tokens,
                "shared_prefix": call.shared_prefix,
            }
            for call in calls
        ],
    }


async def turns_of(team: Team, rules: TeamRules, engine: Engine, store: Store, label: str, turns: int) -> list[Any]:
    cast = cast_on_one(team, engine)
    rows: list[dict[str, Any]] = []
    async with open_harness(team, cast) as harness:
        runner = TurnRunner(team, rules, cast, store, fixed_clock(BEGIN), harness)
        for number in range(turns):
            text = next(iter(PEOPLE.values()))[number % 4] if turns > 5 else list(PEOPLE.values())[number % 5][0]
            result = await runner.run(text, user=f"{label}-{number}")
            rows.append(row_of(team, result))
            times = f"first {rows[-1]['first_token_s'] or 0:.1f} s, full {rows[-1]['reply_s'] or 0:.1f} s"
            log(f"{label:12} {result.status:9} sections {rows[-1]['valid_sections']}/4  {times}  {result.reason or ''}")
    return rows


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    def median(name: str) -> float | None:
        found = [row[name] for row in rows if row[name] is not None]
        return round(statistics.median(found), 3) if found else None

    tokens = ("prefill", "cached", "output")
    return {
        "first_token_s": median("first_token_s"),
        "full_turn_s": median("reply_s"),
        "valid_share": sum(row["valid_sections"] for row in rows) / (len(SPECIALISTS) * len(rows)),
        "replied": sum(row["status"] != "failed" for row in rows) / len(rows),
        **{name: statistics.median(row["tokens"][name] for row in rows) for name in tokens},
        "added_tokens_per_request": max((call["added_tokens"] for row in rows for call in row["programs"]), default=0),
    }


async def measure(
    choice: EngineChoice, turns: int, acp: str | None, wanted: Sequence[str], keep: Callable[[dict[str, Any]], object]
) -> dict[str, Any]:
    """Carry the turns of each way; `keep` gets what is known after each, so that a run that is cut off has a result."""
    team, rules = find_team("coaching")
    ways: dict[str, Callable[[], Team]] = {
        "native": lambda: team,
        "claude-code": lambda: with_harness(team, HarnessKind.CLAUDE_CODE),
        "mixed": lambda: mixed(team),
    }
    if acp is not None:
        ways["acp"] = lambda: by_acp(team, acp)
    ways = {label: way for label, way in ways.items() if not wanted or label in wanted}
    for way in ways.values():
        require_programs(way())
    programs = {one.name: one.version for one in find_programs() if one.path is not None}
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "bench.sqlite") as store:
        async with open_engine(choice, agents=len(team.agents), say=log) as engine:
            about = {"model": engine.model, "engine": str(engine.profile.kind), "programs": programs, "acp": acp}
            await turns_of(team, rules, engine, store, "warm", 1)
            for label, way in ways.items():
                rows = await turns_of(way(), rules, engine, store, label, turns)
                found[label] = {**summary(rows), "turns": rows}
                keep({**about, "ways": found})
    return {**about, "ways": found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="qwen2.5-coder-0.5b")
    parser.add_argument("--engine-url")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--acp", metavar="PROGRAM", help="also by this ACP program: opencode or qwen-code")
    parser.add_argument("--ways", nargs="*", default=[], help="only these: native, claude-code, mixed, acp")
    arguments = parser.parse_args()
    choice = EngineChoice(url=arguments.engine_url, model=arguments.model, context_tokens=4096)

    def keep(result: dict[str, Any]) -> Path:
        engine = str(result["engine"]).replace(".", "")
        return write_result(f"harness_{engine}_{Path(str(result['model'])).name}", result)

    result = asyncio.run(measure(choice, arguments.turns, arguments.acp, arguments.ways, keep))
    for label, way in result["ways"].items():
        print(label, {name: value for name, value in way.items() if name != "turns"})
    print(f"kept in {keep(result)}")
    if any(way["replied"] < 1 for way in result["ways"].values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
