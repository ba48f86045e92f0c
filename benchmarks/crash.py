"""Kill -9 at random moments of a turn: of the process, of the engine, of both. Fails when anything is lost or doubled.

    python -m benchmarks.crash [--kills 200] [--seed 1]

Each round runs a turn of four agents in a process of its own against a scripted engine in another one, kills at a
random moment, takes the turn up again and checks that it is whole and that no finished call was made again.
"""

import argparse
import random
import shutil
import socket
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.runtime.durable import processes

from benchmarks.machine import write_result
from repertory.storage.store import Store

LONGEST_S = 0.8
"""Longer than the turn takes, so that some kills come after its end."""


def round_of(folder: Path, what: str, moment: float) -> tuple[str, list[str]]:
    """One kill: how far the turn was, and what was wrong afterwards."""
    database, calls, points = str(folder / "crash.sqlite"), folder / "calls", str(folder / "points")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}/v1"

    def begin(turn: str | None) -> processes.ForkServerProcess:
        return processes.start(processes.carry, database, url, turn, "", points)

    def listens() -> bool:
        with socket.socket() as caller:
            return caller.connect_ex(("127.0.0.1", port)) == 0

    engine = processes.start(processes.serve, port, str(calls), 0.01)
    try:
        processes.wait_until(listens)
        process = begin(None)
        if moment >= 0:  # counted from the turn's first step; before it, from the start of the process
            processes.wait_until(Path(points).exists, 120)
        time.sleep(abs(moment))
        if what != "engine":
            processes.kill(process)
        if what != "process":
            processes.kill(engine)
        process.join(60)
        before, durable = processes.calls_in(calls), processes.durable_calls(database)
        turn, status = processes.turn_of(database)
        if what != "process":
            engine = processes.start(processes.serve, port, str(calls), 0.0)
            processes.wait_until(listens)
        if status != "complete":
            begin(turn).join(60)
        found = processes.turn_of(database)[0]
        try:
            with Store.open(database) as store:
                processes.check_whole(store, found or "")
        except AssertionError as error:
            return status, [f"not whole: {error}"]
        again = processes.expected_again(before, durable, processes.calls_in(calls))
        return status, [f"asked again: {again}"] if turn is not None and status != "complete" and again else []
    finally:
        processes.kill(engine)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    stood: Counter[str] = Counter()
    wrong: list[dict[str, str | int | float]] = []
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as top:
        empty = Path(top) / "empty.sqlite"
        Store.open(empty).close()
        for number in range(options.kills):
            what = ("process", "engine", "both")[number % 3]
            moment = chance.uniform(-0.1 * LONGEST_S, LONGEST_S)
            folder = Path(top) / str(number)
            folder.mkdir()
            shutil.copy(empty, folder / "crash.sqlite")
            status, problems = round_of(folder, what, moment)
            stood[f"{what}: {status}"] += 1
            wrong += [
                {"round": number, "what": what, "moment_s": round(moment, 3), "problem": text} for text in problems
            ]
            shutil.rmtree(folder)
    result = {
        "kills": options.kills,
        "turn_when_killed": dict(sorted(stood.items())),
        "wrong": wrong,
        "seconds": round(time.monotonic() - began, 1),
    }
    print(write_result("crash", result))
    print(result)
    if wrong:
        sys.exit(f"{len(wrong)} of {options.kills} kills left something wrong")


if __name__ == "__main__":
    main()
