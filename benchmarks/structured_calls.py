"""Claim: of 1,000 structured calls to a small model, no unparseable or invalid answer is accepted; failures are typed.

Run: `python -m benchmarks.structured_calls` (embedded engine), or with `--engine-url URL --model NAME`; `--calls 1000`
and `--at-once 8`. Accepted answers are checked again here, with `json` and `jsonschema` alone.
"""

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import psutil
from jsonschema import Draft202012Validator

from benchmarks.machine import write_result
from benchmarks.structured_cases import CASES, request_for
from repertory.cli.engine_choice import EngineChoice, open_engine
from repertory.engines.protocol import Engine
from repertory.runtime.structured import FailureKind, GrammarHealth, StructuredResult, structured_call

DEADLINE_S = 300.0


@dataclass
class Tally:
    """What happened to the calls of one case, or of all."""

    calls: int = 0
    usable: int = 0
    repaired: int = 0
    unparseable_accepted: int = 0
    invalid_accepted: int = 0
    untyped_failures: int = 0
    failures: Counter[str] = field(default_factory=Counter[str])
    first_tries: Counter[str] = field(default_factory=Counter[str])
    seconds: list[float] = field(default_factory=list[float])
    output_tokens: int = 0

    def take(self, result: StructuredResult, schema: dict[str, Any], seconds: float) -> None:
        """Count one call."""
        self.calls += 1
        self.seconds.append(seconds)
        self.output_tokens += sum(attempt.usage.output for attempt in result.attempts if attempt.usage)
        first = result.attempts[0].kind
        if first is not None:
            self.first_tries[first.value] += 1
        if not result.usable:
            self.untyped_failures += not isinstance(result.failure, FailureKind)
            self.failures[str(result.failure)] += 1
            return
        self.usable += 1
        self.repaired += len(result.attempts) > 1
        self.unparseable_accepted += not parses(result)
        validator: Any = Draft202012Validator(schema)
        self.invalid_accepted += not validator.is_valid(result.value)

    def row(self) -> dict[str, Any]:
        """The counts as they are kept."""
        ordered = sorted(self.seconds)
        return {
            "calls": self.calls,
            "usable": self.usable,
            "after_a_repair": self.repaired,
            "unparseable_accepted": self.unparseable_accepted,
            "schema_invalid_accepted": self.invalid_accepted,
            "untyped_failures": self.untyped_failures,
            "failures": dict(self.failures),
            "first_tries_that_failed": dict(self.first_tries),
            "output_tokens": self.output_tokens,
            "seconds_median": round(statistics.median(ordered), 2),
            "seconds_p95": round(ordered[int(0.95 * (len(ordered) - 1))], 2),
        }


def parses(result: StructuredResult) -> bool:
    """Whether the accepted answer's own text is JSON that says the same."""
    try:
        text = result.attempts[-1].text.strip()
        return json.loads(text.removeprefix("```json").removesuffix("```")) == result.value
    except ValueError:
        return False


async def measure(choice: EngineChoice, calls: int, at_once: int) -> dict[str, Any]:
    total, by_case = Tally(), {case.name: Tally() for case in CASES}
    health = GrammarHealth()
    numbers = iter(range(calls))
    memory: list[int] = []

    async def work(engine: Engine) -> None:
        for number in numbers:
            case, request = request_for(number)
            began = time.monotonic()
            result = await structured_call(engine, request, case.schema, deadline=began + DEADLINE_S, health=health)
            for tally in (total, by_case[case.name]):
                tally.take(result, case.schema, time.monotonic() - began)
            if total.calls % 20 == 0:
                memory.append(psutil.Process().memory_info().rss)
                said = f"{total.calls} of {calls}: {total.usable} usable, {dict(total.failures)}"
                print(said, file=sys.stderr, flush=True)

    began = time.monotonic()
    async with open_engine(choice, agents=at_once, say=lambda text: print(text, file=sys.stderr)) as engine:
        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(work(engine))
        kind, model = engine.profile.kind.value, engine.model
    return {
        "engine": kind,
        "model": model,
        "at_once": at_once,
        "seconds": round(time.monotonic() - began, 1),
        "total": total.row(),
        "cases": {name: tally.row() for name, tally in by_case.items() if tally.calls},
        "refused_keywords": sorted(health.refused),
        "our_memory_mib": [round(size / 2**20, 1) for size in (memory[:1] + memory[-1:])],
    }


def show(result: dict[str, Any]) -> None:
    columns = ("calls", "usable", "after_a_repair", "unparseable_accepted", "schema_invalid_accepted", "seconds_p95")
    print(f"{'case':<12}" + "".join(f"{column.replace('_', ' '):>24}" for column in columns))
    for name, row in [*result["cases"].items(), ("all", result["total"])]:
        print(f"{name:<12}" + "".join(f"{row[column]:>24}" for column in columns))
    total = result["total"]
    print(f"failures: {total['failures']}; first tries that failed: {total['first_tries_that_failed']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine-url")
    parser.add_argument("--model", default="qwen2.5-coder-0.5b")
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--at-once", type=int, default=8)
    parser.add_argument("--name", default="structured_calls")
    arguments = parser.parse_args()
    choice = EngineChoice(url=arguments.engine_url, model=arguments.model, context_tokens=2048)
    result = asyncio.run(measure(choice, arguments.calls, arguments.at_once))
    show(result)
    print(f"written to {write_result(arguments.name, result)}")
    total = result["total"]
    if total["unparseable_accepted"] or total["schema_invalid_accepted"] or total["untyped_failures"]:
        sys.exit("an unusable answer was accepted, or a failure had no kind")


if __name__ == "__main__":
    main()
