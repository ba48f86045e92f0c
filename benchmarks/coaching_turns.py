"""Claim: all sections of the coaching team are schema-valid in 20 of 20 turns with a small model.

Run: `python -m benchmarks.coaching_turns --model qwen2.5-coder-0.5b` (embedded engine), or with `--engine-url URL`.
Five invented people with four messages each; every turn must end with all specialists' sections written in it.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.machine import write_result
from repertory.cli.engine_choice import EngineChoice, open_engine
from repertory.clock import fixed_clock
from repertory.engines.schema import validate
from repertory.runtime.cast import cast_on_one
from repertory.runtime.turn import TurnRunner
from repertory.storage.store import Store
from repertory.teams import find_team

SPECIALISTS = ("shadow", "persona", "plasticity", "stability")

PEOPLE: dict[str, tuple[str, ...]] = {
    "nina": (
        "I want to finish my thesis by June. I'll write every weekday from 8 to 9 before work.",
        "Wrote on Monday and Tuesday, then slept in. I keep planning more than I can do.",
        "Two mornings again. My flatmate says I should just post a public countdown. I hate that idea.",
        "Three mornings this week! I left the phone in the kitchen. Next week three again.",
    ),
    "tom": (
        "Quero correr uma meia maratona em maio. Vou treinar terça, quinta e domingo.",
        "Não treinei nada. Fiquei até tarde no trabalho os três dias. Essa semana vou correr no domingo.",
        "Corri no domingo, 5 km. Fiquei orgulhoso. Devo contar para todos no trabalho?",
        "Perdi o treino de novo. Qual a chance de eu conseguir na próxima semana?",
    ),
    "ines": (
        "Short answers only, please. I need to prepare a budget talk for Thursday.",
        "Done, it went ok. Next is the hiring plan, two hours tomorrow from 9 to 11.",
        "Skipped it, three fires at work. Friday at 10 instead.",
        "Friday worked. No cheerleading please. What is the next small step?",
    ),
    "karl": (
        "Ich will jeden Tag 20 Minuten Klavier üben. Letztes Jahr habe ich nach einer Woche aufgehört.",
        "Zwei Tage geübt, dann Grippe. Ich fange morgen wieder an.",
        "Vier Tage geübt. Wenn ich einen Tag auslasse, will ich gleich alles hinwerfen.",
        "Fünf Tage! Soll ich auf 40 Minuten erhöhen?",
    ),
    "aya": (
        "I said I'd call two customers a day. I called one on Monday, none since.",
        "Four calls this week. Calling scares me, I prepare for hours instead.",
        "I borrowed money to hire a caller. My partner does not know yet.",
        "I told my partner. Five calls this week. What do you make of my chances?",
    ),
}


def log(text: str) -> None:
    print(text, file=sys.stderr)


async def measure(choice: EngineChoice, turns: int) -> dict[str, Any]:
    team, rules = find_team("coaching")
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "bench.sqlite") as store:
        async with open_engine(choice, agents=len(team.agents), say=log) as engine:
            runner = TurnRunner(team, rules, cast_on_one(team, engine), store)
            begin = datetime(2026, 11, 1, 9, tzinfo=UTC)
            for number in range(turns):
                user = list(PEOPLE)[number // 4 % len(PEOPLE)]
                runner.clock = fixed_clock(begin + timedelta(days=7 * (number % 4)))
                result = await runner.run(PEOPLE[user][number % 4], user=user, session=f"s{number % 4 // 2}")
                valid = [
                    name
                    for name in SPECIALISTS
                    if result.sections[name].status == "written"
                    and not validate(result.sections[name].value, team.sections[name].json_schema or {})
                ]
                timing = result.timing
                rows.append(
                    {
                        "user": user,
                        "status": result.status,
                        "reason": result.reason,
                        "valid_sections": len(valid),
                        "attempts": sum(agent["attempts"] for agent in timing["agents"].values()),
                        "first_token_s": timing["first_token_s"],
                        "first_reply_s": timing["first_reply_s"],
                        "reply_s": timing["reply_s"],
                        "overhead_s": timing["overhead_s"],
                        "tokens": result.document()["tokens"],
                        "first_reply": result.first_reply,
                        "reply": result.reply,
                    }
                )
                times = f"first {timing['first_token_s'] or 0:.1f} s, full {timing['reply_s'] or 0:.1f} s"
                log(
                    f"{number + 1:3} {user:5} {result.status:9} sections {len(valid)}/4  {times}  {result.reason or ''}"
                )
            model = engine.model
            kind = str(engine.profile.kind)
    return {"model": model, "engine": kind, "turns": rows, **summary(rows)}


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The numbers that the docs quote."""
    full = [row["reply_s"] for row in rows if row["reply_s"] is not None]
    return {
        "all_sections_valid": sum(row["valid_sections"] == len(SPECIALISTS) for row in rows),
        "of": len(rows),
        "complete": sum(row["status"] == "complete" for row in rows),
        "failed": sum(row["status"] == "failed" for row in rows),
        "first_token_s_median": statistics.median(row["first_token_s"] for row in rows if row["first_token_s"]),
        "full_reply_s_median": statistics.median(full) if full else None,
        "overhead_s_median": statistics.median(row["overhead_s"] for row in rows),
        "prefill_to_unique": round(
            sum(row["tokens"]["prefill"] for row in rows) / max(sum(row["tokens"]["unique"] for row in rows), 1), 3
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="qwen2.5-coder-0.5b")
    parser.add_argument("--engine-url")
    parser.add_argument("--turns", type=int, default=20)
    arguments = parser.parse_args()
    choice = EngineChoice(url=arguments.engine_url, model=arguments.model, context_tokens=4096)
    result = asyncio.run(measure(choice, arguments.turns))
    engine = str(result["engine"]).replace(".", "")
    path = write_result(f"coaching_turns_{engine}_{Path(str(result['model'])).name}", result)
    print({key: value for key, value in result.items() if key != "turns"})
    print(f"kept in {path}")
    if result["all_sections_valid"] < result["of"] or result["failed"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
