"""One turn of six agents: ours, a naive pipeline, LangGraph, Pydantic AI and Agno, on one engine, in one run.

    python -m benchmarks.turn --setup        # an environment for the peers, in the cache folder
    python -m benchmarks.turn --quick        # one context size, two turns, the smallest model: does it all work?
    python -m benchmarks.turn                # 1.5k, 4k and 8k tokens of context, first and fifth turn (hours on a CPU)
    python -m benchmarks.turn --vllm         # the same on vLLM's CPU build, where `make vllm` has made it

Everybody gets the same agents, messages, schemas and output lengths (`work`), written as each one's documentation does
it (`drivers`), and goes through one recording proxy (`proxy`). Sessions are interleaved: one driver after the other,
in another order at each repeat, and no two of them begin their prompts with the same words.
"""

import argparse
import json
import random
import statistics
import sys
from collections import defaultdict
from contextlib import ExitStack
from typing import Any

import httpx2

from benchmarks.machine import write_result
from benchmarks.turn.engines import MeasuredEngine, embedded, vllm_environment, vllm_on_processor
from benchmarks.turn.peers import DRIVERS, peer_python, run_driver, set_up
from benchmarks.turn.proxy import RecordedTurn, RecordingProxy
from benchmarks.turn.tokens import UniqueTokens
from benchmarks.turn.work import AGENTS, MESSAGES, REPLY_TOKENS, TASK, diary, make_work
from repertory.engines.profile import EngineKind

_ROOM_TOKENS = 3000
"""Beside the context: history of four turns, roles, what Synth reads, and the answers."""


def log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def sentences_for(engine: MeasuredEngine, context_tokens: int) -> int:
    """How many sentences about the person make a context of so many tokens, by the engine's own count."""
    sample = 100
    text = f"{TASK}\n\n{diary(sample)}"
    headers = {"Authorization": f"Bearer {engine.api_key}"} if engine.api_key else {}
    body = {"content": text} if engine.kind is EngineKind.LLAMACPP else {"model": engine.model, "prompt": text}
    answer = httpx2.post(f"{engine.url}/tokenize", json=body, headers=headers, timeout=60, trust_env=False)
    tokens = answer.raise_for_status().json()["tokens"]
    return max(1, round(context_tokens * sample / len(tokens)))


def session(
    engine: MeasuredEngine, proxy: RecordingProxy, driver: str, work: dict[str, Any], timeout_s: float
) -> list[dict[str, Any]]:
    """One driver's session: a row for each turn."""
    report = run_driver(driver, work, timeout_s=timeout_s)
    recorded = {turn.number: turn for turn in proxy.take_turns()}
    if "error" in report:
        log(f"  {driver}: {report['error']}")
        return [{"driver": driver, "error": report["error"]}]
    counter = UniqueTokens(engine.url, engine.api_key, engine.kind, engine.model)
    rows: list[dict[str, Any]] = []
    for times in report["turns"]:
        turn = recorded[times["turn"]]
        rows.append(row(driver, times, turn, counter) | {"peak_mib": report["peak_mib"], "version": report["version"]})
    counter.close()
    for one, status in zip(rows, report.get("statuses", []), strict=False):
        one["status"] = status
        if status != "complete":
            log(f"  {driver}: a turn was {status}")
    return rows


def row(driver: str, times: dict[str, Any], turn: RecordedTurn, counter: UniqueTokens) -> dict[str, Any]:
    prompt, unique = counter.add(turn)
    failed = sum(sent.status >= 400 for sent in turn.generations)
    return times | {
        "driver": driver,
        "own_overhead_s": round(times["wall_s"] - turn.busy_s, 4),
        "prefilled_tokens": turn.prefilled,
        "unique_tokens": unique,
        "prompt_tokens": prompt,
        "generated_tokens": turn.generated,
        "generations": len([sent for sent in turn.generations if sent.path != "/completion"]),
        "with_schema": turn.with_schema,
        "refused": failed,
        "other_requests": turn.control,
    }


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Medians over the repeats, by context, turn and driver."""
    groups: dict[tuple[int, int, str], list[dict[str, Any]]] = defaultdict(list)
    for one in rows:
        if "error" not in one:
            groups[one["context_tokens"], one["turn"], one["driver"]].append(one)
    shown: list[dict[str, Any]] = []
    fields = ("first_token_s", "coach_s", "reply_s", "wall_s", "own_overhead_s", "generated_tokens", "peak_mib")
    for (context, turn, driver), found in sorted(groups.items()):
        medians = {name: _median([one[name] for one in found]) for name in fields}
        ratios = [one["prefilled_tokens"] / max(one["unique_tokens"], 1) for one in found]
        shown.append(
            {"context_tokens": context, "turn": turn, "driver": driver, "runs": len(found)}
            | medians
            | {
                "prefilled_tokens": _median([one["prefilled_tokens"] for one in found]),
                "prefilled_to_unique": round(statistics.median(ratios), 3),
            }
        )
    return shown


def _median(values: list[Any]) -> float | None:
    known = [value for value in values if value is not None]
    return round(statistics.median(known), 3) if known else None


def findings(shown: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Ours against the best peer, by context and turn."""
    found: list[dict[str, Any]] = []
    for ours in (one for one in shown if one["driver"] == "repertory"):
        peers = [
            one
            for one in shown
            if one["driver"] != "repertory"
            and (one["context_tokens"], one["turn"]) == (ours["context_tokens"], ours["turn"])
        ]
        if not peers or ours["reply_s"] is None:
            continue
        best = min(peers, key=lambda one: one["reply_s"])
        lone = next((one for one in peers if one["driver"] == "naive pipeline"), None)
        found.append(
            {
                "context_tokens": ours["context_tokens"],
                "turn": ours["turn"],
                "best_peer": best["driver"],
                "reply_to_best_peer": round(ours["reply_s"] / best["reply_s"], 3),
                # The naive pipeline begins with the Coach alone on an idle engine.
                "first_token_to_lone_request": round(ours["first_token_s"] / lone["first_token_s"], 3)
                if lone
                else None,
                "prefilled_to_unique": ours["prefilled_to_unique"],
                "own_overhead_s": ours["own_overhead_s"],
            }
        )
    return found


def measure(engine: MeasuredEngine, options: argparse.Namespace) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    chance = random.Random(5)
    with RecordingProxy(engine.url, engine.api_key, engine.kind).running() as proxy:
        for context in options.contexts:
            sentences = sentences_for(engine, context)
            for repeat in range(options.repeats):
                order = list(options.drivers)
                chance.shuffle(order)
                for driver in order:
                    case = "".join(chance.choices("bcdfghjkmnpqrstvwxz", k=6))
                    work = make_work(
                        proxy.url, engine.api_key, engine.model, case=case, sentences=sentences, turns=options.turns
                    )
                    for one in session(engine, proxy, driver, work, options.timeout_s):
                        one |= {"context_tokens": context, "repeat": repeat}
                        rows.append(one)
                        if "error" not in one:
                            log(
                                f"  {context} tokens, turn {one['turn']}, {driver}: first token "
                                f"{one['first_token_s']:.2f} s, reply {one['reply_s']:.2f} s, prefilled "
                                f"{one['prefilled_tokens']} of {one['unique_tokens']} unique, overhead "
                                f"{1000 * one['own_overhead_s']:.0f} ms"
                            )
    return rows


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--setup", action="store_true", help="make the peers' environment and end")
    parser.add_argument("--quick", action="store_true", help="1.5k tokens, two turns, smollm2-135m")
    parser.add_argument("--vllm", action="store_true", help="on vLLM's CPU build instead of llama.cpp")
    parser.add_argument("--model", default=None)
    parser.add_argument("--contexts", type=int, nargs="+", default=None, metavar="TOKENS")
    parser.add_argument("--turns", type=int, default=None, choices=range(1, len(MESSAGES) + 1))
    parser.add_argument("--repeats", type=int, default=None)
    parser.add_argument("--drivers", nargs="+", default=list(DRIVERS), choices=list(DRIVERS))
    parser.add_argument("--timeout-s", type=float, default=3600.0, help="for one driver's session")
    options = parser.parse_args()
    options.model = options.model or ("smollm2-135m" if options.quick else "qwen2.5-coder-0.5b")
    options.contexts = options.contexts or ([1500] if options.quick else [1500, 4000, 8000])
    options.turns = options.turns or (2 if options.quick else 5)
    options.repeats = options.repeats or (1 if options.quick else 3)
    return options


def main() -> None:
    options = read_options()
    if options.setup:
        print(set_up())
        return
    if peer_python() is None and options.drivers != ["repertory"]:
        sys.exit("the peers are not installed: python -m benchmarks.turn --setup")
    room = max(options.contexts) + _ROOM_TOKENS
    with ExitStack() as stack:
        if options.vllm:
            folder = vllm_environment()
            if folder is None:
                sys.exit("there is no vLLM environment: make vllm")
            engine = stack.enter_context(vllm_on_processor(folder, options.model, context_tokens=room))
        else:
            engine = stack.enter_context(embedded(options.model, slots=len(AGENTS), context_tokens=room))
        rows = measure(engine, options)
    shown = summary(rows)
    result = {
        "engine": {"kind": str(engine.kind), "version": engine.version, "model": engine.model},
        "quick": options.quick,
        "tokens_of_a_free_text": REPLY_TOKENS,
        "findings": findings(shown),
        "summary": shown,
        "rows": rows,
    }
    kind = str(engine.kind).replace(".", "")
    path = write_result(f"turn_{kind}_{engine.model}{'_quick' if options.quick else ''}", result)
    print(json.dumps(result["findings"], indent=2))
    print(f"kept in {path}")
    if any("error" in one or one["refused"] or one.get("status", "complete") != "complete" for one in rows):
        sys.exit("a driver failed, the engine refused a request, or a turn is not complete")


if __name__ == "__main__":
    main()
