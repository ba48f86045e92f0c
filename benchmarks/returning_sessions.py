"""A session comes back after others have used the engine: with and without computed prompts kept on disk.

    python -m benchmarks.returning_sessions                      # 20 other sessions between, 3,000 tokens each
    python -m benchmarks.returning_sessions --quick              # 3 others, 400 tokens, the smallest model

Two sessions begin; others use the engine, which has a slot for each agent and no more; then both come back with their
next message. One of them plays on an adapter that keeps prefixes, the other on one that does not; both on one engine,
in one run, and their order changes with every repeat. Claim: with kept states, the first turn after 20 other sessions
computes at most 1.15 times the tokens that are new in it.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import httpx2

from benchmarks.machine import write_result
from benchmarks.turn.proxy import RecordingProxy
from benchmarks.turn.team import team_of
from benchmarks.turn.work import AGENTS, diary, make_work
from repertory.engines.connect import connect
from repertory.engines.embedded import EmbeddedEngine, RunningEngine, keep_prefixes
from repertory.engines.model_store import ModelStore
from repertory.engines.profile import EngineKind
from repertory.engines.protocol import ChatMessage, Engine
from repertory.home import Home, locate_home
from repertory.runtime.cast import cast_on_one
from repertory.runtime.rules import TeamRules
from repertory.runtime.turn import TurnRunner
from repertory.storage.store import Store

_MOST = 1.15
_ROOM_TOKENS = 1500
NEXT = "Two mornings again, and one of them was good. What is the next small step?"


class Player:
    """Plays turns on one adapter and says what they cost.

    Args:
        engine: The adapter.
        store: Where turns are kept.
        proxy: Counts what the engine computes.
    """

    def __init__(self, engine: Engine, store: Store, proxy: RecordingProxy) -> None:
        team = team_of(make_work("", "", engine.model, case="all", sentences=1, turns=1))
        self.engine = engine
        self._runner = TurnRunner(team, TeamRules(), cast_on_one(team, engine), store)
        self._proxy = proxy

    async def say(self, user: str, text: str) -> dict[str, Any]:
        """One turn of a user's only session."""
        async with httpx2.AsyncClient(base_url=self._proxy.url, timeout=60, trust_env=False) as client:
            await client.post("/recorded/begin/1")
            result = await self._runner.run(text, user=user, session="s")
            await client.post("/recorded/end/1")
        if result.status != "complete":
            log(f"  a turn of {user} was {result.status}: {result.reason}")
        (recorded,) = self._proxy.take_turns()
        timing = result.timing
        return {
            "status": result.status,
            "first_token_s": timing["first_token_s"],
            "first_reply_s": timing["first_reply_s"],
            "reply_s": timing["reply_s"],
            "prefilled_tokens": recorded.prefilled,
            "unique_tokens": result.tokens.unique,
            "prefilled_to_unique": round(recorded.prefilled / max(result.tokens.unique, 1), 3),
        }


def log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def opening(user: str, sentences: int) -> str:
    """A first message that makes a long session; no two begin alike."""
    return f"I am {user}. This is my diary. {diary(sentences)}"


async def measure(running: RunningEngine, home: Home, options: argparse.Namespace) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        Store.open(Path(folder) / "bench.sqlite") as store,
        RecordingProxy(running.url, running.api_key, EngineKind.LLAMACPP).running() as proxy,
    ):
        kept = await asyncio.to_thread(keep_prefixes, running, options.slot_cache_gib, home)
        players = {
            "with": Player(await connect(proxy.url, api_key=running.api_key, kept_prefixes=kept), store, proxy),
            "without": Player(await connect(proxy.url, api_key=running.api_key), store, proxy),
        }
        per_sentence = await players["with"].engine.count_tokens([ChatMessage("user", diary(50))]) / 50
        sentences = max(1, round(options.context / per_sentence))
        for repeat in range(options.repeats):
            for name, player in players.items():
                await player.say(f"{name} {repeat}", opening(f"{name} {repeat}", sentences))
            for number in range(options.others):
                user = f"other {repeat} {number}"
                await players["with"].say(user, opening(user, sentences))
            for name in sorted(players, reverse=repeat % 2 == 0):
                row = await players[name].say(f"{name} {repeat}", NEXT)
                rows.append({"states": name, "repeat": repeat} | row)
                log(f"  {name} states: {row}")
        for player in players.values():
            await player.engine.aclose()
        states = [path.stat().st_size for path in home.prefixes.glob("*.state")]
    return {
        "model": running.model,
        "engine": running.version,
        "other_sessions": options.others,
        "context_tokens": options.context,
        "kept_states": len(states),
        "kept_mib": round(sum(states) / 2**20, 1),
        "summary": {name: summary([row for row in rows if row["states"] == name]) for name in ("with", "without")},
        "rows": rows,
    }


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Medians over the repeats."""
    fields = ("first_token_s", "first_reply_s", "reply_s", "prefilled_tokens", "unique_tokens", "prefilled_to_unique")
    known = {field: [row[field] for row in rows if row[field] is not None] for field in fields}
    return {field: round(statistics.median(values), 3) if values else None for field, values in known.items()}


async def run(options: argparse.Namespace) -> dict[str, Any]:
    models = locate_home()
    store = ModelStore(models)
    path = store.layout.blob(store.pull(options.model).sha256)
    with tempfile.TemporaryDirectory() as folder:
        home = Home(root=Path(folder), models=models.models)
        room = options.context + _ROOM_TOKENS
        async with EmbeddedEngine.start(
            path, slots=len(AGENTS), context_tokens=room, home=home, model_name=options.model
        ) as running:
            return await measure(running, home, options)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="3 others, 400 tokens, one repeat, smollm2-135m")
    parser.add_argument("--model")
    parser.add_argument("--others", type=int)
    parser.add_argument("--context", type=int, metavar="TOKENS")
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--slot-cache-gib", type=float, default=4.0)
    options = parser.parse_args()
    options.model = options.model or ("smollm2-135m" if options.quick else "qwen2.5-coder-0.5b")
    options.others = (3 if options.quick else 20) if options.others is None else options.others
    options.context = options.context or (400 if options.quick else 3000)
    options.repeats = options.repeats or (1 if options.quick else 3)
    result = asyncio.run(run(options))
    path = write_result(f"returning_sessions_{options.model}{'_quick' if options.quick else ''}", result)
    print(result["summary"])
    print(f"kept in {path}")
    if result["summary"]["with"]["prefilled_to_unique"] > _MOST:
        sys.exit(f"a session that came back computed more than {_MOST} times what was new in its turn")


if __name__ == "__main__":
    main()
