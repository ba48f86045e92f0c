"""`repertory agents chat`: a reply of a model with a tool, and calls that need no model."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.registry.packages import write
from tests.registry.temperature import temperature
from typer.testing import CliRunner, Result

from repertory.cli.agents import register
from repertory.errors import UsageError
from repertory.testing import ScriptedEngine, ScriptedRequest

Chat = Callable[..., Result]
CALL = '{"tool": "c_to_f", "arguments": {"celsius": 20}}'


@pytest.fixture
def chat(tmp_path: Path) -> Chat:
    app = typer.Typer()
    register(app)
    folder = write(temperature(), tmp_path / "temperature")
    made = CliRunner().invoke(app, ["agents", "import", str(folder), "--trust", "unsigned", "--promote"])
    assert made.exit_code == 0, made.output

    def command(*arguments: str, code: int = 0, stdin: str | None = None) -> Result:
        result = CliRunner().invoke(app, ["agents", "chat", *arguments], input=stdin)
        assert result.exit_code == code, result.output
        return result

    return command


def document(result: Result) -> dict[str, Any]:
    return json.loads(result.stdout)


def converts(request: ScriptedRequest) -> str:
    if request.json_schema is not None:
        names = str(request.json_schema)
        if "celsius" in names:
            return '{"celsius": 100}'
        return json.dumps({"tool": "none" if "returned this data" in request.text else "c_to_f"})
    return "It is 212 degrees.\x1b[31m"


def test_a_written_call_starts_no_engine(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("repertory.cli.agents_chat._engine", None)
    told = document(chat("temperature", "--message", CALL, "--json"))
    assert (told["reply"], told["status"], told["agent"]) == ("68.0", "complete", "temperature@1")
    assert told["tools"] == [{"tool": "c_to_f", "arguments": {"celsius": 20}, "result": 68.0}]
    assert chat("temperature@1", "--message", "-", stdin=CALL).stdout == "68.0\n"


def test_a_conversation_with_a_model(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPERTORY_PROBE", "0")
    with ScriptedEngine(converts).in_thread() as engine:
        told = document(chat("temperature", "--message", "100 C in F?", "--engine-url", engine.url, "--json"))
        assert (told["reply"], told["tools"][0]["result"]) == ("It is 212 degrees.\x1b[31m", 212.0)
        shown = chat("temperature", "--engine-url", engine.url, stdin=f"100 C in F?\n\n{CALL}\n/quit\nmore\n")
        assert "It is 212 degrees." in shown.stdout
        assert "\x1b[31m" not in shown.stdout
        assert "68.0" in shown.stdout
        both = document(chat("temperature", "--engine-url", engine.url, "--json", stdin=f"100 C?\n{CALL}\n"))
        assert [reply["status"] for reply in both["replies"]] == ["complete", "complete"]


def test_no_reply_is_exit_code_1_and_unknown_agents_are_usage(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPERTORY_PROBE", "0")
    with ScriptedEngine("").in_thread() as engine:
        told = document(chat("temperature", "-m", "Hello?", "--engine-url", engine.url, "--json", code=1))
    assert told["status"] == "failed"
    result = CliRunner().invoke(_app(), ["agents", "chat", "temperatur", "-m", "x"])
    assert isinstance(result.exception, UsageError)


def _app() -> typer.Typer:
    app = typer.Typer()
    register(app)
    return app
