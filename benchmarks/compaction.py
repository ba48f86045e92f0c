"""Does the context of a turn stay flat over many sessions, and what is still remembered?

    python -m benchmarks.compaction [--sessions 200]
    python -m benchmarks.compaction --model qwen2.5-coder-1.5b --sessions 4
    python -m benchmarks.compaction --engine-url URL [--model NAME] --sessions 6

Every session, the person says a few ordinary things; in some they tell a fact worth keeping. Between sessions the talk
is compacted. At the end each planted fact is asked for, and counts as recalled when its words stand in the prompt.
Without an engine's address or a model a scripted one notes down whatever the person said, worth keeping or not, so that
the bound is what is tested; with one, a real model decides what is kept.
"""

import argparse
import asyncio
import json
import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.machine import write_result
from repertory.cli.engine_choice import EngineChoice, open_engine
from repertory.engines.protocol import Engine, GenerateRequest
from repertory.runtime.cast import cast_on_one
from repertory.runtime.rules import TeamRules
from repertory.runtime.team import Agent, Replies, Section, Team
from repertory.runtime.turn import TurnRunner
from repertory.storage.store import Store
from repertory.testing.scripted_model import ScriptedModel, agent_of

_BEGAN = datetime(2026, 1, 1, 9, 0, tzinfo=UTC)

FACTS: Mapping[str, tuple[str, str, str]] = {
    "sister": ("My sister is called Mirabel and she lives in Porto.", "Should I visit my sister?", "Mirabel"),
    "allergy": ("I am allergic to walnuts, badly.", "Can I bake the cake with walnuts?", "allergic"),
    "teacher": ("My piano teacher is called Ingrid Solberg.", "I have to call my piano teacher.", "Solberg"),
    "marathon": ("I want to run the Lisbon marathon in October.", "How is the marathon going?", "October"),
    "dog": ("Our dog Bartok was run over when I was nine.", "I think about getting a dog.", "Bartok"),
    "job": ("I left the insurance office because of the night shifts.", "The insurance office wrote to me.", "shifts"),
    "garden": ("I planted quince trees behind the house.", "What about the quince trees?", "behind"),
    "debt": ("I still owe Teodoro four hundred euros.", "Teodoro called me today.", "hundred"),
}
"""What is told, what is asked at the end, and the word that then has to be in the prompt."""

_SMALL = (
    "Today was {a}, and the weather was {b}.",
    "I had {a} soup for lunch and it was {b}.",
    "Work was {b} again, we had a {a} meeting.",
    "I slept {b} and woke up {a}.",
)
_ADJECTIVES = ("grey", "long", "quiet", "loud", "cold", "warm", "odd", "short", "slow", "bright", "heavy", "light")


def team() -> Team:
    return Team(
        name="companion",
        preamble="You keep a person company. Answer in one short sentence.",
        sections={"ending": Section(text=True)},
        agents={"companion": Agent(instructions="Answer.", writes="ending", max_output_tokens=40)},
        replies=Replies(full="ending"),
    )


def scripted(request: GenerateRequest) -> str:
    """Notes down what the person said, all of it; calls lasting what has a name in it, like a hasty reader."""
    if agent_of(request):
        return "I see."
    said = re.findall(r'<message id="(m\d+)" date="[^"]+">\n(.*?)\n</message>', request.messages[-1].content, re.DOTALL)
    facts = [{"message": name, "text": text[:160], "lasting": text.startswith("My ")} for name, text in said]
    return json.dumps({"facts": facts[:8]})


async def measure(engine: Engine, sessions: int, *, real: bool) -> dict[str, Any]:
    chance = random.Random(3)
    planted = {name: chance.randrange(max(sessions * 3 // 4, 1)) for name in FACTS}
    seen: list[GenerateRequest] = []

    class Watched:
        """The engine, with the turns' requests noted."""

        def __getattr__(self, name: str) -> Any:
            return getattr(engine, name)

        def generate(self, request: GenerateRequest) -> Any:
            if agent_of(request):
                seen.append(request)
            return engine.generate(request)

    tokens: list[int] = []
    waited: list[float] = []
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "sessions.sqlite") as store:
        runner = TurnRunner(team(), TeamRules(), cast_on_one(team(), Watched()), store)  # pyright: ignore[reportArgumentType]
        kept = dropped = 0
        for number in range(sessions):
            moment = _BEGAN + timedelta(days=number)
            runner.clock = lambda moment=moment: moment
            said = [text.format(a=chance.choice(_ADJECTIVES), b=chance.choice(_ADJECTIVES)) for text in _SMALL]
            said = chance.sample(said, 2 if real else 4)
            said += [FACTS[name][0] for name, when in planted.items() if when == number]
            for text in said:
                result = await runner.run(text, user="ada", session=f"s{number}")
                tokens.append(await engine.count_tokens(seen[-1].messages))
                waited.append(result.timing["overhead_s"] or 0.0)
            report = await runner.compact("ada")
            kept, dropped = kept + report.facts, dropped + report.dropped
        recalled: dict[str, bool] = {}
        for name, (_, question, word) in FACTS.items():
            await runner.run(question, user="ada", session=f"ask-{name}")
            recalled[name] = word in "\n".join(one.content for one in seen[-1].messages)
            tokens.append(await engine.count_tokens(seen[-1].messages))
        messages = len(store.export("ada")["teams"]["companion"]["messages"])
    fifth = max(len(tokens) // 5, 1)
    return {
        "model": engine.model,
        "sessions": sessions,
        "turns": len(tokens),
        "messages_kept": messages,
        "facts_kept": kept,
        "facts_refused_as_not_said": dropped,
        "prompt_tokens": {
            "first_fifth_mean": round(statistics.mean(tokens[:fifth])),
            "second_fifth_mean": round(statistics.mean(tokens[fifth : 2 * fifth])),
            "last_fifth_mean": round(statistics.mean(tokens[-fifth:])),
            "most": max(tokens),
        },
        "turn_overhead_ms_median": {
            "first_fifth": round(1000 * statistics.median(waited[: max(len(waited) // 5, 1)]), 1),
            "last_fifth": round(1000 * statistics.median(waited[-max(len(waited) // 5, 1) :]), 1),
        },
        "recalled": recalled,
    }


async def run(options: argparse.Namespace) -> dict[str, Any]:
    if not is_real(options):
        return await measure(ScriptedModel(reply=scripted), options.sessions, real=False)
    choice = EngineChoice(url=options.engine_url, model=options.model, context_tokens=4096)
    async with open_engine(choice, agents=1, say=print) as engine:
        return await measure(engine, options.sessions, real=True)


def is_real(options: argparse.Namespace) -> bool:
    return options.engine_url is not None or options.model is not None


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--engine-url")
    parser.add_argument("--model")
    options = parser.parse_args()
    began = time.monotonic()
    result = asyncio.run(run(options))
    result["seconds"] = round(time.monotonic() - began, 1)
    print(write_result("compaction_real" if is_real(options) else "compaction", result))
    print(json.dumps(result, indent=2))
    flat = result["prompt_tokens"]["last_fifth_mean"] <= 1.2 * result["prompt_tokens"]["second_fifth_mean"]
    if not is_real(options) and not (flat and all(result["recalled"].values())):
        sys.exit("the context grew, or a planted fact was not recalled")


if __name__ == "__main__":
    main()
