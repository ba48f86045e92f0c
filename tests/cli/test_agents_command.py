import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.registry.packages import edition, package, write
from typer.testing import CliRunner, Result

from repertory.cli.agents import register
from repertory.errors import UsageError

Run = Callable[..., Result]


@pytest.fixture
def run() -> Run:
    """Runs `repertory agents ...` in the home of this test."""
    app = typer.Typer()
    register(app)

    def command(*arguments: str, code: int = 0, stdin: str | None = None) -> Result:
        result = CliRunner().invoke(app, ["agents", *arguments], input=stdin)
        assert result.exit_code == code, result.output
        return result

    return command


def document(result: Result) -> dict[str, Any]:
    return json.loads(result.stdout)


@pytest.fixture
def deployed(run: Run, tmp_path: Path) -> None:
    folder = write(package(), tmp_path / "counter")
    run("import", str(folder), "--trust", "unsigned", "--promote")


@pytest.mark.usefixtures("deployed")
def test_an_agent_is_shown_called_and_removed(run: Run) -> None:
    (row,) = document(run("list", "--json"))["agents"]
    assert (row["live"], row["canary"], row["tools"]) == ("counter@1", None, ["count", "misbehave", "remember"])
    shown = document(run("show", "counter", "--json"))
    assert shown["tools"][0]["output_schema"] == {"type": "integer"}
    assert shown["evidence"]["built_by"] == "a test"
    assert "count(text, at_least)" in run("show", "counter@1").stdout
    called = run("call", "counter", "count", "--args", '{"text": "a b"}', "--json")
    assert document(called) == {"result": 2}
    assert run("call", "counter", "count", "--args", "-", stdin='{"text": "a b c"}').stdout == "3\n"
    assert document(run("remove", "counter", "--json")) == {"removed": "counter", "versions": [1]}
    assert document(run("list", "--json")) == {"agents": []}
    assert [event["what"] for event in document(run("history", "counter", "--json"))["events"]][-1] == "removed"


@pytest.mark.usefixtures("deployed")
def test_an_error_of_a_tool_is_a_document_and_exit_code_1(run: Run) -> None:
    failed = document(run("call", "counter", "misbehave", "--args", '{"how": "raise"}', "--json", code=1))
    assert failed["error"]["type"] == "ValueError"
    assert failed["error"]["message"] == "no such thing"
    wrong = document(run("call", "counter", "count", "--json", code=1))
    assert wrong["error"]["type"] == "InvalidArguments"
    assert "error: InvalidArguments" in run("call", "counter", "count", code=1).stderr


@pytest.mark.usefixtures("deployed")
@pytest.mark.parametrize("args", ["{", "[]", '{"text": NaN}', "1"])
def test_arguments_that_are_no_object_are_bad_usage(run: Run, args: str) -> None:
    assert isinstance(run("call", "counter", "count", "--args", args, code=1).exception, UsageError)


@pytest.mark.usefixtures("deployed")
def test_versions_are_promoted_and_rolled_back(run: Run, tmp_path: Path) -> None:
    folder = write(edition(5), tmp_path / "second")
    assert document(run("import", str(folder), "--trust", "unsigned", "--json"))["state"] == "draft"
    assert document(run("promote", "counter@2", "--canary", "--json")) == {"agent": "counter@2", "state": "canary"}
    assert "counter@2 is live" in run("promote", "counter@2").stdout
    assert document(run("rollback", "counter", "--json")) == {"agent": "counter@1", "state": "live"}
    assert isinstance(run("promote", "counter", code=1).exception, UsageError)
    assert document(run("retire", "counter", "--json")) == {"agent": "counter@1", "state": "retired"}
    assert "rolled_back" in run("history", "counter").stdout


@pytest.mark.usefixtures("deployed")
def test_an_agent_is_exported_and_comes_back(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "out.zip"
    exported = document(run("export", "counter", "--to", str(target), "--json"))
    assert exported["path"] == str(target)
    run("remove", "counter")
    imported = document(run("import", str(target), "--json"))
    assert (imported["agent"], imported["digest"]) == ("counter@2", exported["digest"])
