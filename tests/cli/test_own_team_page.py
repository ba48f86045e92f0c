"""Every snippet of docs/how-to/own-team.md does what the page says."""

import re
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from ruamel.yaml import YAML
from typer.testing import CliRunner

from repertory.cli.team import register
from repertory.runtime.team import Read, Replies
from repertory.teams import find_team

PAGE = (Path(__file__).parents[2] / "docs/how-to/own-team.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that the page tells to save, in a folder of their own."""
    for _, title, text in BLOCKS:
        if title:
            (tmp_path / title).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return tmp_path


def test_the_page_has_the_blocks_that_are_tested_here() -> None:
    kinds = [(kind, title) for kind, title, _ in BLOCKS]
    assert kinds == [
        ("yaml", "my_team.yaml"), ("console", ""), ("console", ""), ("sh", ""), ("yaml", "broken.yaml"),
        ("console", ""), ("yaml", ""), ("yaml", ""), ("python", "my_team.py"), ("python", ""),
    ]  # fmt: skip


@pytest.mark.parametrize("block", [text for kind, _, text in BLOCKS if kind == "console"])
def test_commands_print_what_the_page_shows(folder: Path, block: str) -> None:
    command, _, shown = block.partition("\n")
    program, *arguments = command.removeprefix("$ ").split()
    assert program == "repertory"
    app = typer.Typer()
    register(app)
    result = CliRunner(env={"COLUMNS": "80"}).invoke(app, arguments)
    printed = [line.rstrip() for line in result.output.splitlines()]
    assert printed == shown.splitlines()
    assert result.exit_code == (2 if "error:" in shown else 0)


def test_the_run_command_names_the_file_of_the_page() -> None:
    (line,) = [text for kind, _, text in BLOCKS if kind == "sh"]
    assert line.startswith("repertory run my_team.yaml --message ")


def test_the_fragments_are_what_the_model_takes() -> None:
    reader: Any = YAML(typ="safe", pure=True)
    reads, replies = [reader.load(text) for kind, title, text in BLOCKS if kind == "yaml" and not title]
    assert reads["reads"].pop("memory") == "latest"
    Read.model_validate(reads["reads"]["critique"])
    Replies.model_validate(replies["replies"])


def test_the_python_team_is_the_yaml_team(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (script,) = [text for kind, title, text in BLOCKS if kind == "python" and not title]
    (folder / "script.py").write_text(script, encoding="utf-8")
    try:
        runpy.run_path(str(folder / "script.py"))
    finally:
        sys.modules.pop("my_team", None)


def test_the_python_file_is_found_with_its_rules(folder: Path) -> None:
    team, rules = find_team("my_team.py")
    assert team == find_team("my_team.yaml")[0]
    assert type(rules).__name__ == "Rules"
