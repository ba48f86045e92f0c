"""`--harness`: what is missing is said before an engine is started."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
import typer
from tests.cli.test_serve_command import serve as serve_process
from tests.runtime.harness.place import PROGRAM
from typer.testing import CliRunner

from repertory.cli import chat, run, serve
from repertory.cli.doctor_checks import check_harnesses
from repertory.errors import UsageError
from repertory.home import locate_home
from repertory.testing import ScriptedEngine

RUNNER = CliRunner()


def app_of(register: Callable[[typer.Typer], None]) -> typer.Typer:
    app = typer.Typer()
    app.callback()(lambda: None)
    register(app)
    return app


@pytest.fixture(autouse=True)
def nothing_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.mark.parametrize(
    "words",
    [
        ["run", "coaching", "-m", "Hello.", "--harness", "claude-code"],
        ["chat", "coaching", "--harness", "claude-code"],
        ["serve", "--harness", "claude-code", "--port", "0"],
    ],
)
def test_a_program_that_is_not_there_is_named_with_how_to_install_it(words: list[str]) -> None:
    app = app_of({"run": run, "chat": chat, "serve": serve}[words[0]].register)
    result = RUNNER.invoke(app, words, input="")
    assert isinstance(result.exception, UsageError)
    assert "no program 'claude'" in result.exception.message
    assert result.exception.hint == "npm install -g @anthropic-ai/claude-code"
    assert not locate_home().logs.exists()  # no engine was started


def test_a_command_is_not_named_on_the_command_line() -> None:
    result = RUNNER.invoke(app_of(run.register), ["run", "coaching", "-m", "Hi.", "--harness", "command"])
    assert isinstance(result.exception, UsageError)
    assert "team file" in (result.exception.hint or "")


def test_a_harness_that_there_is_not() -> None:
    result = RUNNER.invoke(app_of(run.register), ["run", "coaching", "-m", "Hi.", "--harness", "claude"])
    assert result.exit_code == 2


async def test_doctor_says_what_is_there(tmp_path: Path) -> None:
    program = tmp_path / "opencode"
    program.write_text("#!/bin/sh\necho 1.18.33\n")
    program.chmod(0o755)
    found = {finding.name: finding for finding in await check_harnesses(locate_home())}
    assert found["harness opencode"].detail == f"1.18.33 at {program}"
    assert found["harness claude-code"].fix == "npm install -g @anthropic-ai/claude-code"
    assert {finding.status for finding in found.values()} == {"ok"}


TEAM = """
name: pair
preamble: You are a pair.
reply: words
sections:
  words: {{text: true}}
agents:
  speaker:
    instructions: Speak.
    writes: words
    harness:
      kind: command
      command: [{python}, {program}, answer]
"""


def write_team(folder: Path) -> Path:
    path = folder / "pair.yaml"
    path.write_text(TEAM.format(python=sys.executable, program=PROGRAM))
    return path


def test_run_lets_a_program_of_the_team_file_speak(tmp_path: Path) -> None:
    scripted = ScriptedEngine("Good day.")
    with scripted.in_thread():
        words = ["run", str(write_team(tmp_path)), "-m", "Hello.", "--engine-url", scripted.url, "--json"]
        result = RUNNER.invoke(app_of(run.register), words)
    document = json.loads(result.stdout)
    assert (result.exit_code, document["status"], document["reply"]) == (0, "complete", "Good day.")
    [call] = [event for event in document["events"] if event["type"] == "harness_finished"]
    assert (call["harness"], call["status"], call["requests"]) == ("command", "answered", 1)


def test_serve_lets_programs_run_the_agents_of_its_teams(tmp_path: Path) -> None:
    scripted = ScriptedEngine("Good day.")
    team = write_team(tmp_path)
    with scripted.in_thread(), serve_process("--engine-url", scripted.url, "--team", str(team)) as (_, document):
        ask = {"model": "pair", "messages": [{"role": "user", "content": "Hello."}]}
        answer = httpx2.post(f"{document['url']}/v1/chat/completions", json=ask, trust_env=False, timeout=60)
    assert answer.json()["choices"][0]["message"]["content"].strip() == "Good day."
    assert scripted.requests[0].messages[0]["content"] == "You are a pair."
    assert "FakeAgent" not in scripted.requests[0].text
