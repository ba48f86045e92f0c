"""`repertory build`: what an agent serves already, better versions, and requests for repair."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import typer
from tests.teams.engineering.test_runner import CODE, CONTRACT, Maker
from typer.testing import CliRunner, Result

from repertory.cli.build import register
from repertory.cli.build_wish import improvement_of
from repertory.errors import UsageError
from repertory.home import locate_home
from repertory.registry.registry import Registry
from repertory.storage.store import Store
from repertory.teams.engineering.runner import BuildRunner

Run = Callable[..., Result]
OTHER = CODE.replace("return n * 2", "return n + n")
REQUEST = "Double a whole number between zero and one hundred."


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open() as opened:
        yield opened


@pytest.fixture
def run(store: Store, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `repertory build`, where a double is deployed and the team's model writes another one."""
    asyncio.run(Maker(store, locate_home()).build(REQUEST))

    @asynccontextmanager
    async def open_scripted(_: object) -> AsyncGenerator[BuildRunner]:
        runner = Maker(store, locate_home(), {"builder": OTHER}).runner
        runner.improvement_of = improvement_of
        yield runner

    monkeypatch.setattr("repertory.cli.build.open_build_runner", open_scripted)
    app = typer.Typer()
    register(app)

    @app.command("other")
    def other() -> None:
        """Keeps `build` a command of its own name."""

    def command(*arguments: str, code: int = 0) -> Result:
        result = CliRunner().invoke(app, ["build", *arguments])
        if isinstance(result.exception, UsageError):
            raise result.exception
        assert result.exit_code == code, result.output
        return result

    return command


def document(result: Result) -> dict[str, Any]:
    return json.loads(result.stdout)


def test_a_request_that_an_agent_serves_is_told_so(run: Run, store: Store) -> None:
    told = document(run(REQUEST, "--contract", CONTRACT, "--json"))
    assert (told["status"], told["agent"], told["tokens"]) == ("built", "double@1", 0)
    assert "serves this already" in told["why"]
    anew = document(run(REQUEST, "--contract", CONTRACT, "--anew", "--json"))
    assert anew["agent"] == "double-2@1"
    assert Registry(store).names() == ["double", "double-2"]


def test_improve_builds_the_next_version(run: Run) -> None:
    told = document(run("Use addition.", "--improve", "double", "--json"))
    assert (told["status"], told["agent"]) == ("built", "double@2")
    with pytest.raises(UsageError, match="contract stays"):
        run("Use addition.", "--improve", "double", "--contract", CONTRACT)
    with pytest.raises(UsageError):
        run("Use addition.", "--improve", "nobody")


def test_a_repair_is_carried_out_once(run: Run, store: Store) -> None:
    with pytest.raises(UsageError, match="no repair"):
        run("--repair")
    store.agents.take_out("double", 1, "4 of the last 4 calls of double@1 failed", {"kinds": {"tool double: X": 4}})
    told = document(run("--repair", "--json"))
    assert told["agent"] == "double@2"
    [repair] = store.agent_watch.repairs("double")
    assert (repair.state, repair.detail["outcome"]["agent"]) == ("built", "double@2")
    with pytest.raises(UsageError, match="no repair"):
        run("--repair")


def test_a_repair_that_is_cut_off_is_given_back(run: Run, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.agents.take_out("double", 1, "it failed", {})

    @asynccontextmanager
    async def cut_off(_: object) -> AsyncGenerator[BuildRunner]:
        raise UsageError("no engine")
        yield

    monkeypatch.setattr("repertory.cli.build.open_build_runner", cut_off)
    with pytest.raises(UsageError, match="no engine"):
        run("--repair")
    assert store.agent_watch.repairs("double")[0].state == "open"


def test_what_can_not_go_together_is_refused(run: Run) -> None:
    for arguments in (("--repair", "x"), ("--repair", "--improve", "double"), (), (" ",)):
        with pytest.raises(UsageError):
            run(*arguments)
