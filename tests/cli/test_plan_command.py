import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from repertory.cli.plan import register
from repertory.errors import UsageError
from repertory.planning.solver import solver_module

pytest.importorskip("ortools")

Run = Callable[..., Result]


@pytest.fixture
def run() -> Run:
    app = typer.Typer()
    register(app)

    def command(*arguments: str) -> Result:
        return CliRunner().invoke(app, ["plan", *arguments])

    return command


def test_the_document_has_the_promised_shape(run: Run) -> None:
    result = run("engineering", "--devices", "rtx4090", "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    assert {"team", "devices", "status", "gap", "solve_s", "instances", "agents", "turn", "notes"} <= set(found)
    assert (found["team"], found["devices"], found["status"], found["gap"]) == ("engineering", "rtx4090", "optimal", 0)
    instance = found["instances"][0]
    keys = {
        "id",
        "model",
        "checkpoint",
        "engine",
        "devices",
        "tensor_parallel",
        "agents",
        "memory",
        "speed",
        "resident",
    }
    assert {*keys, "command"} <= set(instance)
    assert {"weights_gib", "kv_gib", "activation_gib", "graphs_gib", "overhead_gib", "total_gib"} <= set(
        instance["memory"]
    )
    assert {"prefill_tok_s", "decode_tok_s", "first_token_s"} <= set(instance["speed"])
    assert len(found["agents"]) == 9
    ids = {row["id"] for row in found["instances"]}
    for agent in found["agents"].values():
        assert {"instance", "score", "benchmark", "why", "next_best"} <= set(agent)
        assert agent["instance"] in ids
    assert {"first_reply_s", "reply_s"} <= set(found["turn"])


def test_progress_goes_to_stderr_and_a_plan_file_is_written(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    result = run("coaching", "--devices", "rtx4090", "--output", str(path), "--json")
    assert "solving" in result.stderr
    assert json.loads(path.read_text("utf-8")) == json.loads(result.stdout)


def test_explanations_in_words(run: Run) -> None:
    result = run("engineering", "--devices", "rtx4090", "--explain")
    assert result.exit_code == 0, result.output
    for words in ("proven best", "next best", "one instance per agent", "counts 211 GB", "to start it by hand"):
        assert words in result.stdout


def test_no_plan_is_a_failure_that_says_why(run: Run) -> None:
    result = run("coaching", "--devices", "0.5GiB", "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert found["status"] == "infeasible"
    assert any("coach" in note for note in found["notes"])


def test_a_team_file_whose_agents_state_needs(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "pair.yaml"
    agent = (
        "instructions: Do it.\n    writes: {}\n    needs: {{benchmarks: {{ifeval: {{weight: 1}}}}, thinking: false}}"
    )
    path.write_text(
        "name: pair\npreamble: You are a pair.\nsections:\n  one: {text: true}\n  two: {text: true}\nagents:\n"
        f"  first:\n    {agent.format('one')}\n  second:\n    {agent.format('two')}\n"
        "    reads: {one: {mode: fresh}}\n"
        "replies: {first: one, full: two}\n",
        "utf-8",
    )
    result = run(str(path), "--devices", "rtx4090", "--json")
    assert result.exit_code == 0, (result.output, result.exception)
    assert set(json.loads(result.stdout)["agents"]) == {"first", "second"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["chess", "--devices", "rtx4090"], "coaching"),
        (["coaching", "--devices", "rtx4091"], "rtx4090"),
        (["coaching", "--devices", "rtx4090", "--instances", "7"], "6 agents"),
    ],
)
def test_impossible_questions_are_refused_with_a_hint(run: Run, arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert isinstance(result.exception, UsageError)
    assert message in str(result.exception)


def test_without_the_solver_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ortools.sat.python.cp_model", None)
    with pytest.raises(UsageError, match=r"pip install 'repertory\[plan\]'"):
        solver_module()


def test_the_solver_is_only_loaded_for_plans() -> None:
    code = "import sys, repertory.cli.plan, repertory.planning.estimate; assert 'ortools' not in sys.modules"
    subprocess = importlib.import_module("subprocess")
    subprocess.run([sys.executable, "-c", code], check=True)
