import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from repertory.catalog.checkpoint_files import checkpoint_files
from repertory.cli.models import register
from repertory.errors import UsageError

Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `repertory models ...` against the empty store of this test."""
    monkeypatch.delenv("REPERTORY_MODELS", raising=False)
    app = typer.Typer()
    register(app)

    def command(*arguments: str, code: int = 0) -> Result:
        result = CliRunner().invoke(app, ["models", *arguments])
        assert result.exit_code == code, result.output
        return result

    return command


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    path = tmp_path / "own.gguf"
    path.write_bytes(b"GGUF" + (3).to_bytes(4, "little") + bytes(16))
    return path


def models(result: Result) -> list[dict[str, Any]]:
    return json.loads(result.stdout)["models"]


def test_the_list_shows_what_can_be_had(run: Run) -> None:
    listed = models(run("list", "--json"))
    assert [model["name"] for model in listed] == [entry.name for entry in checkpoint_files()]
    assert {model["state"] for model in listed} == {"available"}
    assert all(model["path"] is None and len(model["sha256"]) == 64 and model["bytes"] > 0 for model in listed)
    assert "smollm2-135m" in run("list").stdout


def test_a_model_comes_is_verified_and_goes(run: Run, gguf: Path) -> None:
    (pulled,) = models(run("pull", str(gguf), "--as", "mine", "--json"))
    assert Path(pulled["path"]).read_bytes() == gguf.read_bytes()
    assert pulled["path"].endswith(f"sha256-{pulled['sha256']}")
    assert [(model["state"], model["file"]) for model in models(run("list", "--json")) if model["name"] == "mine"] == [
        ("present", "own.gguf")
    ]
    assert models(run("verify", "--json"))[0]["ok"] is True
    assert "mine: right" in run("verify", "mine").stdout
    assert json.loads(run("remove", "mine", "--json").stdout)["removed"] == "mine"
    assert "no models" in run("verify").stdout


def test_a_broken_model_makes_verify_fail(run: Run, gguf: Path) -> None:
    run("pull", str(gguf))
    gguf.write_bytes(b"changed")
    result = run("verify", "--json", code=1)
    (broken,) = models(result)
    assert (broken["ok"], len(broken["found"])) == (False, 64)
    assert broken["expected"] in result.stderr


@pytest.mark.parametrize("command", [("pull", "smolm2-135m"), ("verify", "smolm2-135m"), ("remove", "smolm2-135m")])
def test_an_unknown_name_is_bad_usage_with_the_nearest(run: Run, command: tuple[str, str]) -> None:
    result = run(*command, code=1)  # outside of `main` the error itself comes through
    assert isinstance(result.exception, UsageError)
    assert "Did you mean smollm2-135m?" in str(result.exception)


def test_as_names_one_model(run: Run, gguf: Path) -> None:
    assert isinstance(run("pull", str(gguf), str(gguf), "--as", "x", code=1).exception, UsageError)
