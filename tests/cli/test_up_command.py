"""`up`, `down`, `status`, `logs`, and that `run` plays on what is up."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.cli.pair_team import PAIR
from tests.serving.instances.conftest import FakeEngines
from typer.testing import CliRunner

from repertory.cli.app import build_app
from repertory.engines.profile import EngineKind
from repertory.errors import RepertoryError
from repertory.serving.instances.process_identity import processes_of
from repertory.serving.instances.records import ServingState
from repertory.serving.instances.state_file import ServingFolder
from repertory.testing import ScriptedEngine, ScriptedRequest

Command = Callable[..., "Done"]


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def repertory(monkeypatch: pytest.MonkeyPatch) -> Iterator[Command]:
    """Runs the command line; whatever is up at the end is ended."""
    monkeypatch.setenv("REPERTORY_PROBE", "0")
    app = build_app()

    def command(*arguments: str) -> Done:
        result = CliRunner().invoke(app, [*arguments])
        error = result.exception
        if isinstance(error, RepertoryError):
            return Done(error.exit_code, result.stdout, f"{result.stderr}{error}")
        assert error is None or isinstance(error, SystemExit), result.exc_info
        return Done(result.exit_code, result.stdout, result.stderr)

    yield command
    command("down")
    assert processes_of(ServingFolder.of().root) == []


@pytest.fixture
def plan_file(tmp_path: Path) -> tuple[Path, FakeEngines]:
    """A plan with two instances whose engine is a small program called vllm."""
    engines = FakeEngines(tmp_path / "engines")
    names = ["i1", "i2"]
    for name in names:
        engines.spec(name, {"prints": [f"hello from {name}"]})
    instances = [
        {"id": name, "model": "org/fake", "checkpoint": "x", "served_name": "fake", "engine": "vllm",
         "devices": ["cpu"], "agents": [agent], "memory": {"total_gib": 0.02},
         "command": ["vllm", "serve", str(engines.folder / name), "--port", "8101", "--max-model-len", "4096"]}
        for name, agent in zip(names, ("coach", "synth"), strict=True)
    ]  # fmt: skip
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({"team": "coaching", "status": "optimal", "instances": instances}))
    return path, engines


def test_a_plan_is_started_shown_read_and_ended(repertory: Command, plan_file: tuple[Path, FakeEngines]) -> None:
    path, engines = plan_file
    up = repertory("up", str(path), "--vllm", str(engines.program), "--json")
    assert up.returncode == 0, up.stderr
    assert "i1 ready after" in up.stderr
    document: dict[str, Any] = json.loads(up.stdout)
    assert [item["status"] for item in document["instances"]] == ["ready", "ready"]
    assert document["instances"][0]["memory"]["predicted_gib"] == 0.02

    status = repertory("status", "--json")
    assert json.loads(status.stdout)["supervisor"]["pid"] > 0
    assert "api_key" not in status.stdout
    assert "token" not in status.stdout
    words = repertory("status").stdout
    for part in ("i1 ready for", "plays coach", "(planned 0.02", "http://127.0.0.1:"):
        assert part in words

    logs = repertory("logs", "i1", "--lines", "5")
    assert "hello from i1" in logs.stdout
    lines = json.loads(repertory("logs", "i2", "--json").stdout)["lines"]
    assert "hello from i2" in lines

    down = repertory("down", "--json")
    assert json.loads(down.stdout) == {"ended": ["i1", "i2"]}
    assert json.loads(repertory("status", "--json").stdout)["supervisor"] is None


def test_one_that_can_not_start_ends_up_with_its_reason(
    repertory: Command, plan_file: tuple[Path, FakeEngines]
) -> None:
    path, engines = plan_file
    line = "ValueError: No available memory for the cache blocks."
    engines.behave("i2", {"prints": [line], "exit_code": 1})
    up = repertory("up", str(path), "--vllm", str(engines.program), "--json")
    assert up.returncode == 1
    assert "leave no room for the KV cache" in up.stderr
    assert "raise --gpu-memory-utilization" in up.stderr
    failed = json.loads(up.stdout)["instances"][1]
    assert (failed["status"], failed["failure"]) == ("failed", "out_of_memory")
    assert repertory("status").returncode == 1


def test_what_a_log_holds_can_not_command_the_terminal(repertory: Command, plan_file: tuple[Path, FakeEngines]) -> None:
    path, engines = plan_file
    engines.behave("i1", {"prints": ["\x1b]0;owned\x07\x1b[2Jred"]})
    repertory("up", str(path), "--vllm", str(engines.program))
    shown = repertory("logs", "i1").stdout
    assert "red" in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["up", "none.json"], "can not be read"),
        (["up", "--model", "x"], "name the team"),
        (["up", "chess"], "chess"),
        (["logs", "../../etc"], "no log of an instance"),
        (["logs", "-f", "--json"], "never ends"),
    ],
)
def test_bad_usage_is_said(repertory: Command, arguments: list[str], message: str) -> None:
    done = repertory(*arguments)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr


def test_without_anything_up(repertory: Command) -> None:
    assert "nothing is up" in repertory("status").stdout
    assert json.loads(repertory("down", "--json").stdout) == {"ended": []}
    again = repertory("up")
    assert again.returncode == 1
    assert "nothing was started before" in again.stderr


def test_run_plays_on_what_is_up_for_its_team_each_agent_on_its_instance(repertory: Command, tmp_path: Path) -> None:
    team = tmp_path / "pair.yaml"
    team.write_text(PAIR)

    def reply(request: ScriptedRequest) -> str:
        return "First words." if "Be the first" in str(request.fields) else "Second words."

    one = ScriptedEngine(reply, kind=EngineKind.VLLM, model="one")
    two = ScriptedEngine(reply, kind=EngineKind.VLLM, model="two")
    with one.in_thread(), two.in_thread():
        instances = [
            {"id": "i1", "engine": "url", "url": one.url, "model": "one", "agents": ["first"]},
            {"id": "i2", "engine": "url", "url": two.url, "model": "two", "agents": ["second"]},
        ]
        plan = tmp_path / "plan.json"
        plan.write_text(json.dumps({"team": "pair", "instances": instances}))
        up = repertory("up", str(plan))
        assert up.returncode == 0, up.stderr
        done = repertory("run", str(team), "-m", "Hello.", "--json")
        assert done.returncode == 0, done.stderr
        document = json.loads(done.stdout)
        assert (document["first_reply"], document["reply"]) == ("First words.", "Second words.")
        assert "playing on the running instances i1, i2" in done.stderr
        assert any("Be the first" in str(request.fields) for request in one.requests)
        assert not any("Be the first" in str(request.fields) for request in two.requests)
        named = repertory("run", str(team), "-m", "Hello.", "--engine-url", two.url, "--json")
        assert "running instances" not in named.stderr
        assert json.loads(named.stdout)["status"] == "complete"


def test_up_on_an_address_alone(repertory: Command) -> None:
    engine = ScriptedEngine("ok", kind=EngineKind.VLLM, model="theirs")
    with engine.in_thread():
        up = repertory("up", "coaching", "--engine-url", engine.url, "--json")
        assert up.returncode == 0, up.stderr
        (item,) = json.loads(up.stdout)["instances"]
        assert (item["status"], item["engine"], len(item["agents"])) == ("ready", "url", 6)
        assert item["served_name"] == "theirs"


def test_up_says_how_much_disk_computed_prompts_get_and_restarts_nothing_for_it(repertory: Command) -> None:
    engine = ScriptedEngine("ok", kind=EngineKind.VLLM, model="theirs")
    with engine.in_thread():
        assert repertory("up", "coaching", "--engine-url", engine.url, "--slot-cache-gib", "2").returncode == 0
        first = ServingFolder.of().read_state()
        assert first.slot_cache_gib == 2
        assert repertory("up", "--slot-cache-gib", "3").returncode == 0
        again = _told(lambda state: state.slot_cache_gib == 3)
        assert again.instances == first.instances
        assert repertory("up").returncode == 0
        assert _told(lambda state: state.slot_cache_gib == 3).instances == first.instances
    assert repertory("up", "--slot-cache-gib", "-1").returncode == 2


def _told(true: Callable[[ServingState], bool]) -> ServingState:
    """The state, when the supervisor has written it."""
    end = time.monotonic() + 20
    while not true(state := ServingFolder.of().read_state()):
        assert time.monotonic() < end, state
        time.sleep(0.05)
    return state
