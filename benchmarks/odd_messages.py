"""Claim: `repertory run --json` makes of every odd message a turn with a clear status and reason, on a real model.

Run: `python -m benchmarks.odd_messages --model qwen2.5-coder-0.5b` (embedded engine; about half an hour on one core).
Each message is one process, as a user starts it; after each the blackboard must still be readable.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from typing import Any

from tests.integration.odd_messages import ODD

from benchmarks.machine import write_result
from repertory.home import locate_home

SECTIONS = {"shadow", "persona", "plasticity", "stability", "commitments"}
LIMIT_S = 900.0


def repertory(*arguments: str, home: str, stdin: str = "") -> "subprocess.CompletedProcess[bytes]":
    environment = {**os.environ, "REPERTORY_HOME": home, "REPERTORY_MODELS": str(locate_home().models)}
    return subprocess.run(
        [sys.executable, "-m", "repertory", *arguments],
        input=stdin.encode("utf-8", "surrogatepass"),
        capture_output=True,
        timeout=LIMIT_S,
        check=False,
        env=environment,
    )


def faults(done: "subprocess.CompletedProcess[bytes]", shown: "subprocess.CompletedProcess[bytes]") -> list[str]:
    """What is wrong with the end of one run."""
    found: list[str] = []
    if b"Traceback" in done.stderr + shown.stderr:
        found.append("traceback")
    try:
        turn: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        return [*found, "stdout is no JSON document"]
    status = turn.get("status")
    if status not in ("complete", "partial", "failed"):
        found.append(f"status {status!r}")
    if done.returncode != (1 if status == "failed" else 0):
        found.append(f"exit code {done.returncode} with status {status}")
    if status != "complete" and not turn.get("reason"):
        found.append("no reason")
    if set(turn.get("sections", ())) != SECTIONS:
        found.append("sections are missing")
    try:
        readable = shown.returncode == 0 and isinstance(json.loads(shown.stdout), dict)
    except ValueError:
        readable = False
    return found if readable else [*found, "the blackboard can not be read"]


def measure(model: str, user: str) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as home:
        for name, text in ODD.items():
            begun = time.monotonic()
            done = repertory(
                "run", "coaching", "-m", "-", "--user", user, "--model", model, "--json", home=home, stdin=text
            )
            seconds = time.monotonic() - begun
            shown = repertory("blackboard", "show", "--user", user, "--json", home=home)
            found = faults(done, shown)
            turn: dict[str, Any] = json.loads(done.stdout) if not found else {}
            rows.append({
                "message": name, "status": turn.get("status"), "reason": turn.get("reason"), "faults": found,
                "written": sorted(n for n, s in turn.get("sections", {}).items() if s["status"] == "written"),
                "seconds": round(seconds, 1),
            })  # fmt: skip
            print(f"{len(rows)}/{len(ODD)} {name}: {rows[-1]}", file=sys.stderr)
    return {
        "model": model,
        "messages": len(rows),
        "with_faults": sum(bool(row["faults"]) for row in rows),
        "status": dict(Counter(str(row["status"]) for row in rows)),
        "runs": rows,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="qwen2.5-coder-0.5b")
    options = parser.parse_args()
    result = measure(options.model, "odd")
    print(f"written to {write_result('odd_messages', result)}")
    if result["with_faults"]:
        sys.exit(f"{result['with_faults']} of {result['messages']} messages ended wrongly")


if __name__ == "__main__":
    main()
