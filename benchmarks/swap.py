"""Two instances that do not fit together: what a swap costs, and whether requests are grouped so that few are needed.

    python -m benchmarks.swap                      # 3 rounds, smollm2-135m and qwen2.5-coder-0.5b
    python -m benchmarks.swap --quick              # 1 round

Both models are llama.cpp instances of one plan that take turns on the processor, started by the supervisor of `up` and
asked through its directory, as agents' requests are. Measured are: falling asleep (the engine is stopped) and waking
(it is started and has generated a token), with the weights in the page cache and with the weights dropped from it; a
request that needs a wake against the next one, which does not; and how many swaps the same requests cost when they come
one after another, all at once, and from agents that each send their next request when the last is answered.

Claims: requests that come at once cost one swap; agents that keep asking cost no more than the eight requests that may
overtake make necessary; the planner's prediction of a wake is at most a factor of two off.
"""

import argparse
import asyncio
import ctypes
import math
import mmap
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.machine import write_result
from repertory.catalog.loader import load_catalog
from repertory.catalog.own_gguf import read_gguf
from repertory.engines.devices import detected_profile
from repertory.engines.model_store import ModelStore
from repertory.engines.protocol import Engine
from repertory.home import Home, locate_home
from repertory.planning.instance import instance_of
from repertory.planning.turn_time import wake_seconds
from repertory.serving.instances.commands import bring_down, bring_up, watch_until_settled
from repertory.serving.instances.directory import InstanceDirectory
from repertory.serving.instances.plan_file import PlanDocument, instances_of_plan
from repertory.serving.instances.records import InstanceState
from repertory.serving.instances.resolve import Programs, resolve_instances
from repertory.serving.instances.state_file import ServingFolder
from repertory.serving.instances.turn_engine import connect_instance
from repertory.testing import ask

MODELS = ("smollm2-135m", "qwen2.5-coder-0.5b")
_TOKENS = 8
_DEADLINE_S = 300.0
_WRITTEN_S = 0.5
"""The supervisor has written its state file by then."""
_MOST_JOINS = 8
"""Requests that may overtake in one turn (see `TurnTaking`)."""
_AT_ONCE = 5
"""Requests for each model that come one after another, or at once."""
_AGENTS, _ASKS = 2, 6
"""Agents on each model that keep asking, and the requests of each."""
_MOST_OFF = 2.0


@dataclass
class Pair:
    """The two instances, and who answered when.

    Attributes:
        files: Model files by name.
        engines: Adapters by model.
        answered: The models of the requests so far, in the order of their answers.
    """

    home: Home
    files: Mapping[str, Path]
    engines: dict[str, Engine] = field(default_factory=dict[str, Engine])
    answered: list[str] = field(default_factory=list[str])

    async def request(self, model: str) -> float:
        """Seconds of one short request."""
        began = time.monotonic()
        await ask(self.engines[model], "Say hello.", max_output_tokens=_TOKENS, deadline_s=_DEADLINE_S)
        self.answered.append(model)
        return time.monotonic() - began

    async def state(self, model: str) -> InstanceState:
        """What the supervisor says of an instance."""
        await asyncio.sleep(_WRITTEN_S)
        states = ServingFolder.of(self.home).read_state().instances
        return next(item for item in states if item.spec.model == model)

    def swaps(self) -> int:
        """Swaps among the requests answered since the last call, the one before the first of them included.

        A turn ends only when all its requests are answered, so their order shows where turns changed.
        """
        found = sum(one != other for one, other in zip(self.answered, self.answered[1:], strict=False))
        del self.answered[:-1]
        return found


def plan(files: Mapping[str, Path]) -> PlanDocument:
    """What `repertory plan --swap` writes for two models that take turns."""
    instances = [
        {
            "id": f"i{number}", "engine": "llama.cpp", "model": model, "checkpoint": model, "file": str(path),
            "devices": ["cpu"], "served_name": model, "agents": [f"agent{number}"], "resident": False,
            "command": ["llama-server", "-hf", "x/y:Q4_K_M", "-c", "4096", "-np", "2"],
        }
        for number, (model, path) in enumerate(files.items(), start=1)
    ]  # fmt: skip
    return PlanDocument.model_validate({"team": "swap", "status": "optimal", "instances": instances})


def drop_from_page_cache(path: Path) -> float | None:
    """Ask the system to forget a file that nobody maps; the share that stays, None where it can not be asked."""
    if not hasattr(os, "posix_fadvise"):
        return None
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        # Private, because only a map that could be written tells its address.
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) as mapped:
            pages = (len(mapped) + mmap.PAGESIZE - 1) // mmap.PAGESIZE
            present = (ctypes.c_ubyte * pages)()
            first = ctypes.c_char.from_buffer(mapped)
            address, length = ctypes.c_void_p(ctypes.addressof(first)), ctypes.c_size_t(len(mapped))
            failed = ctypes.CDLL(None).mincore(address, length, present)
            del first
    return None if failed else sum(page & 1 for page in present) / pages


def predicted_wake_s(path: Path) -> float:
    """What the planner says that waking takes."""
    choice, header = read_gguf(path)
    instance = instance_of(choice, "llama.cpp").with_settings(weights=header.weights, weights_known=True)
    return wake_seconds(instance, detected_profile(load_catalog()).slots[0].device)


async def measure_wakes(pair: Pair, rounds: int, *, cold: bool) -> list[dict[str, Any]]:
    """Each round wakes each model once, and asks it again while it is awake."""
    rows: list[dict[str, Any]] = []
    await pair.request(MODELS[-1])
    for _ in range(rounds):
        for model, other in zip(MODELS, reversed(MODELS), strict=True):
            kept = drop_from_page_cache(pair.files[model]) if cold else None
            if cold and (kept is None or kept > 0.01):
                log(f"  {model} is not dropped from the page cache: {kept}")
                return rows
            asleep = await pair.request(model)
            awake = await pair.request(model)
            row = {
                "model": model,
                "cold": cold,
                "sleep_of_the_other_s": (await pair.state(other)).sleep_s,
                "wake_s": (await pair.state(model)).wake_s,
                "request_that_wakes_s": round(asleep, 3),
                "request_while_awake_s": round(awake, 3),
            }
            rows.append(row)
            log(f"  {row}")
    return rows


async def measure_grouping(pair: Pair) -> dict[str, Any]:
    """Requests for both models in three orders of coming."""

    async def one_after_another() -> None:
        for model in MODELS * _AT_ONCE:
            await pair.request(model)

    async def all_at_once() -> None:
        await asyncio.gather(*(pair.request(model) for model in MODELS * _AT_ONCE))

    async def agents_that_keep_asking() -> None:
        async def agent(model: str) -> None:
            for _ in range(_ASKS):
                await pair.request(model)

        await asyncio.gather(*(agent(model) for model in MODELS * _AGENTS))

    result: dict[str, Any] = {}
    for arrive in (one_after_another, all_at_once, agents_that_keep_asking):
        await pair.request(MODELS[0])
        pair.swaps()
        began = time.monotonic()
        await arrive()
        seconds = round(time.monotonic() - began, 2)
        result[arrive.__name__] = {"requests": len(pair.answered) - 1, "seconds": seconds, "swaps": pair.swaps()}
        log(f"  {arrive.__name__}: {result[arrive.__name__]}")
    return result


def summary(rows: Sequence[Mapping[str, Any]], files: Mapping[str, Path]) -> dict[str, Any]:
    """Medians by model, beside the planner's prediction, which is for a machine that does nothing else.

    So it is held against the quickest wake: on a machine that others use the median tells of them.
    """
    found: dict[str, Any] = {}
    for model in MODELS:
        mine = [row for row in rows if row["model"] == model]
        other = [row for row in rows if row["model"] != model]
        warm = [row for row in mine if not row["cold"]]
        predicted = predicted_wake_s(files[model])
        quickest = min((row["wake_s"] for row in warm if row["wake_s"] is not None), default=None)
        found[model] = {
            "file_mb": round(files[model].stat().st_size / 1e6),
            "sleep_s": _median(other, "sleep_of_the_other_s"),
            "wake_s": _median(warm, "wake_s"),
            "wake_quickest_s": quickest,
            "wake_cold_s": _median([row for row in mine if row["cold"]], "wake_s"),
            "request_that_wakes_s": _median(warm, "request_that_wakes_s"),
            "request_while_awake_s": _median(warm, "request_while_awake_s"),
            "predicted_wake_s": round(predicted, 2),
            "predicted_to_measured": round(predicted / quickest, 2) if quickest else None,
        }
    return found


def _median(rows: Sequence[Mapping[str, Any]], name: str) -> float | None:
    values = [row[name] for row in rows if row[name] is not None]
    return round(statistics.median(values), 3) if values else None


def log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


async def run(options: argparse.Namespace) -> dict[str, Any]:
    if (task := asyncio.current_task()) is not None:  # ended from outside, it leaves no supervisor and no engine
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    store = ModelStore(locate_home())
    files = {model: store.layout.blob(store.pull(model).sha256) for model in MODELS}
    with tempfile.TemporaryDirectory() as folder:
        pair = Pair(Home(root=Path(folder), models=locate_home().models), files)
        try:
            wanted = instances_of_plan(plan(files), "plan")
            await bring_up(resolve_instances(wanted, Programs(), Path, "plan"), pair.home)
            await watch_until_settled(pair.home, lambda _: None)
            directory = InstanceDirectory(pair.home)
            for item in directory.instances():
                pair.engines[item.catalog_model] = await connect_instance(directory, item)
            rows = await measure_wakes(pair, options.rounds, cold=False)
            rows += await measure_wakes(pair, options.rounds, cold=True)
            grouping = await measure_grouping(pair)
        finally:
            await bring_down(pair.home)
    return {"summary": summary(rows, files), "grouping": grouping, "rows": rows}


def broken_claims(result: Mapping[str, Any]) -> list[str]:
    """Which claims do not hold."""
    broken: list[str] = []
    grouping = result["grouping"]
    if grouping["all_at_once"]["swaps"] > 1:
        broken.append("requests that came at once cost more than one swap")
    # While others wait, a turn serves at least as many requests as may overtake: each model needs that many turns.
    turns = 2 * math.ceil(_AGENTS * _ASKS / _MOST_JOINS)
    if grouping["agents_that_keep_asking"]["swaps"] > turns:
        broken.append("agents that keep asking cost more swaps than they must")
    for model, row in result["summary"].items():
        ratio = row["predicted_to_measured"]
        if ratio is None or not 1 / _MOST_OFF <= ratio <= _MOST_OFF:
            broken.append(f"the planner's prediction for {model} is {ratio} of what was measured")
    return broken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one round; the result is kept beside the whole one")
    parser.add_argument("--rounds", type=int, help="wakes of each model, with and without the page cache")
    options = parser.parse_args()
    options.rounds = options.rounds or (1 if options.quick else 3)
    result = asyncio.run(run(options))
    path = write_result("swap_quick" if options.quick else "swap", result)
    print(result["summary"], result["grouping"], sep="\n")
    print(f"kept in {path}")
    if broken := broken_claims(result):
        sys.exit("; ".join(broken))


if __name__ == "__main__":
    main()
