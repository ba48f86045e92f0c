"""The README's tour is run as it stands, on a real small model."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from repertory.engines.embedded import RunningEngine

README = Path(__file__).parents[2] / "README.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(kind: str) -> list[str]:
    return [body for found, body in BLOCK.findall(README.read_text(encoding="utf-8")) if found == kind]


def commands() -> list[str]:
    return [line.removeprefix("$ ") for body in blocks("console") for line in body.splitlines()]


def test_the_tour_has_commands_and_one_team() -> None:
    assert len(commands()) >= 8
    assert len(blocks("yaml")) == 1


@pytest.mark.engine
@pytest.mark.timeout(900)
def test_every_command_of_the_tour_works(embedded_engine: RunningEngine, tmp_path: Path) -> None:
    (tmp_path / "feedback.yaml").write_text(blocks("yaml")[0], encoding="utf-8")
    engine = {"REPERTORY_ENGINE_URL": embedded_engine.url, "REPERTORY_ENGINE_KEY": embedded_engine.api_key}
    for command in commands():
        name, *arguments = shlex.split(command)
        assert name == "repertory"
        done = subprocess.run(
            [sys.executable, "-m", "repertory", *arguments],
            input="I want to read more.\n",
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
            cwd=tmp_path,
            env=dict(os.environ) | engine,
        )
        assert done.returncode == 0, f"{command}: {done.stdout} {done.stderr}"
        assert done.stdout.strip(), command
