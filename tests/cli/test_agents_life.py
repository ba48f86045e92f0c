"""The life of a deployed agent from the command line: canaries, what the watch saw, records."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.registry.packages import write
from tests.registry.temperature import CODE, temperature
from tests.registry.test_records import with_records
from typer.testing import CliRunner, Result

from repertory.cli.agents import register
from repertory.errors import UsageError

Run = Callable[..., Result]
BROKEN = CODE.replace("return round(celsius * 9 / 5 + 32, 2)", "return 1 / 0")


def _app() -> typer.Typer:
    app = typer.Typer()
    register(app)
    return app


@pytest.fixture
def run() -> Run:
    def command(*arguments: str, code: int = 0) -> Result:
        result = CliRunner().invoke(_app(), ["agents", *arguments])
        if isinstance(result.exception, UsageError):
            raise result.exception
        assert result.exit_code == code, result.output
        return result

    return command


def document(result: Result) -> dict[str, Any]:
    return json.loads(result.stdout)


def deploy(run: Run, folder: Path, files: dict[str, bytes]) -> str:
    return document(run("import", str(write(files, folder)), "--trust", "unsigned", "--json"))["agent"]


def test_a_canary_and_a_version_that_fails(run: Run, tmp_path: Path) -> None:
    run("promote", deploy(run, tmp_path / "one", temperature()))
    run("promote", deploy(run, tmp_path / "two", temperature(code=BROKEN)), "--canary", "--share", "0")
    with pytest.raises(UsageError, match="share"):
        run("promote", "temperature@1", "--share", "10")
    assert run("call", "temperature", "c_to_f", "--args", '{"celsius": 100}').stdout == "212.0\n"
    run("promote", "temperature@2")
    for _ in range(7):  # the call beside the live version, where there was time for it, was the first to fail
        run("call", "temperature", "c_to_f", "--args", '{"celsius": 100}', code=1)
    CliRunner().invoke(_app(), ["agents", "call", "temperature", "c_to_f", "--args", '{"celsius": 100}'])
    shown = document(run("show", "temperature", "--json"))
    assert (shown["agent"], shown["watch"]["versions"]["2"]["errors"]) == ("temperature@1", 8)
    [repair] = shown["watch"]["repairs"]
    assert (repair["agent"], repair["state"]) == ("temperature@2", "open")
    words = run("show", "temperature").stdout
    assert "version 2: 8 calls, 8 errors" in words
    assert "repair 1 of temperature@2 is open" in words
    assert run("call", "temperature", "c_to_f", "--args", '{"celsius": 100}').stdout == "212.0\n"


def test_records_are_shown_and_erased(run: Run, tmp_path: Path) -> None:
    run("promote", deploy(run, tmp_path / "one", with_records(per_user=True)))
    for user in ("ada", "bob"):
        run("call", "temperature", "c_to_f", "--args", '{"celsius": 0}', "--user", user)
    kept = document(run("records", "temperature"))
    assert kept["users"]["ada"]["entries"] == {"n": 1}
    with pytest.raises(UsageError, match="--user"):
        run("records", "temperature", "--erase")
    assert document(run("records", "temperature", "--user", "ada", "--erase", "--json"))["rows"] == 1
    assert list(document(run("records", "temperature"))["users"]) == ["bob"]
