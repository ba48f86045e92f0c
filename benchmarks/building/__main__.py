"""Claim: the team builds more of what is asked for than one prompt of the same model, and rarely says "built" in error.

Run: `python -m benchmarks.building --requests FILE --model qwen2.5-coder-1.5b`, or with `--engine-url URL`. The file is
YAML: `requests`, each with `id`, `difficulty`, `request`, `contract` and `tests` (see `acceptance.py`). Without a file
the project's own requests are built. Every request goes, one after the other on the same engine, through one prompt,
five drafts without tests, and the team.
"""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any, cast

from ruamel.yaml import YAML

from benchmarks.building.acceptance import accept
from benchmarks.building.baselines import one_prompt
from benchmarks.machine import write_result
from repertory.cli.engine_choice import EngineChoice, open_engine
from repertory.engines.protocol import Engine
from repertory.home import Home
from repertory.registry.registry import Registry
from repertory.runtime.cast import cast_on_one
from repertory.sandbox import Sandbox
from repertory.storage.store import Store
from repertory.teams.engineering.contract_text import read_contract
from repertory.teams.engineering.release import Releaser
from repertory.teams.engineering.runner import BuildRunner
from repertory.teams.engineering.team import engineering_team

OWN = Path(__file__).parent / "requests.yaml"
Row = dict[str, Any]


def log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def read_requests(path: Path, only: set[str]) -> list[dict[str, str]]:
    document = YAML(typ="safe").load(path.read_text(encoding="utf-8"))  # pyright: ignore[reportUnknownMemberType]
    rows = cast("list[dict[str, str]]", document["requests"])
    return [row for row in rows if (not only or row["id"] in only) and read_contract(row["contract"]).kind == "tools"]


async def measure(engine: Engine, rows: list[dict[str, str]], minutes: float, *, baselines: bool) -> list[Row]:
    team, sandbox = engineering_team(), Sandbox()
    found: list[Row] = []
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "bench.sqlite") as store:
        registry = Registry(store, Home(Path(folder), Path(folder) / "models"))
        runner = BuildRunner(
            cast_on_one(team, engine), store, Releaser(registry, sandbox).release, taken=registry.names, sandbox=sandbox
        )
        for row in rows:
            measured: Row = {"id": row["id"], "difficulty": row["difficulty"]}
            for name, drafts in (("one_prompt", 1), ("five_drafts", 5)) if baselines else ():
                answer = await one_prompt(engine, row["request"], row["contract"], drafts=drafts)
                wrong = await asyncio.to_thread(accept, sandbox, answer.source, row["tests"])
                measured[name] = {"passes": wrong is None, "tokens": answer.tokens, "seconds": round(answer.seconds, 1)}
            result = await runner.run(row["request"], row["contract"], user="bench", budget_minutes=minutes)
            wrong = "not built"
            if result.agent:
                name, _, version = result.agent.partition("@")
                package = registry.load(registry.resolve(name, int(version))).package
                wrong = await asyncio.to_thread(accept, sandbox, package.files["tools.py"].decode(), row["tests"])
            built = result.status == "built"
            measured["team"] = {
                "status": result.status, "passes": built and wrong is None, "false_built": built and wrong is not None,
                "why": result.why, "wrong": wrong, "candidates": result.candidates, "tokens": result.tokens,
                "seconds": round(result.seconds, 1),
            }  # fmt: skip
            found.append(measured)
            log(f"{row['id']:5} {row['difficulty']:8} {measured}")
    return found


def summary(rows: list[Row]) -> Row:
    """The numbers that the docs quote."""
    built = [row for row in rows if row["team"]["status"] == "built"]
    made: Row = {
        "requests": len(rows),
        "team_passes": sum(row["team"]["passes"] for row in rows),
        "false_built_share": round(sum(row["team"]["false_built"] for row in rows) / max(len(built), 1), 3),
        "longest_s": max((row["team"]["seconds"] for row in rows), default=0),
    }
    for name in ("one_prompt", "five_drafts"):
        if any(name in row for row in rows):
            made[f"{name}_passes"] = sum(row[name]["passes"] for row in rows)
    for level in ("trivial", "easy", "medium", "hard"):
        of = [row for row in rows if row["difficulty"] == level]
        made[level] = f"{sum(row['team']['passes'] for row in of)} of {len(of)}"
    return made


async def run(options: argparse.Namespace) -> Row:
    choice = EngineChoice(url=options.engine_url, model=options.model, context_tokens=6144)
    rows = read_requests(options.requests, set(options.only.split(",")) if options.only else set())
    async with open_engine(choice, agents=4, say=log) as engine:
        found = await measure(engine, rows, options.minutes, baselines=not options.no_baselines)
        return {"model": engine.model, "engine": str(engine.profile.kind), **summary(found), "rows": found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=Path, default=OWN)
    parser.add_argument("--only", help="ids, with commas between")
    parser.add_argument("--model", default="qwen2.5-coder-1.5b")
    parser.add_argument("--engine-url")
    parser.add_argument("--minutes", type=float, default=20.0, help="budget of one build")
    parser.add_argument("--no-baselines", action="store_true")
    result = asyncio.run(run(parser.parse_args()))
    print({key: value for key, value in result.items() if key != "rows"})
    print(f"kept in {write_result('building', result)}")


if __name__ == "__main__":
    main()
