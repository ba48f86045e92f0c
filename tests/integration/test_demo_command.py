import json
import os
import subprocess
import sys
from typing import Any

from repertory.engines.profile import EngineKind
from repertory.testing import ScriptedEngine
from repertory.testing.obliging import obliging


def repertory(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "repertory", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=110, check=False, env=dict(os.environ))


def test_the_demo_runs_two_sessions_and_leaves_a_blackboard_to_look_at() -> None:
    reply = obliging("You took a rush job and did not write. What would make Sunday easier?")
    with ScriptedEngine(reply=reply, kind=EngineKind.VLLM).in_thread() as engine:
        done = repertory("demo", "--engine-url", engine.url, "--json")
        again = repertory("demo", "--engine-url", engine.url)
    assert done.returncode == 0, done.stderr
    turns: list[dict[str, Any]] = json.loads(done.stdout)["turns"]
    assert [turn["session"] for turn in turns] == ["demo-1", "demo-1", "demo-2"]
    assert all(turn["status"] != "failed" for turn in turns)
    # What the person promised in the first session is an open commitment that the second one knows.
    assert turns[0]["sections"]["commitments"]["value"]
    assert len(turns[2]["sections"]["commitments"]["value"]) > len(turns[0]["sections"]["commitments"]["value"])
    # A second demo starts with a blank page and shows words, agents and a timeline.
    assert again.returncode == 0
    assert "What would make Sunday easier?" in again.stdout
    assert "shared prefix" in again.stdout or "coach" in again.stdout
    shown = json.loads(repertory("blackboard", "show", "--user", "demo", "--json").stdout)
    assert "shadow" in json.dumps(shown)
    erased = repertory("blackboard", "erase", "--user", "demo", "--yes")
    assert erased.returncode == 0
    assert "shadow" not in repertory("blackboard", "export", "--user", "demo").stdout
