import json
import os
import shutil
import signal
import stat
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from repertory.home import Home
from repertory.serving.instances.commands import bring_down
from repertory.serving.instances.process_identity import end_processes, processes_of, started_at
from repertory.serving.instances.records import InstanceSpec, WantedInstances
from repertory.serving.instances.state_file import ServingFolder

FAKE = Path(__file__).with_name("fake_engine.py")


class FakeEngines:
    """Makes specs whose engine is `fake_engine.py`, and tells what the engines did."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.program = folder / "vllm"
        self.program.write_text(f"#!{sys.executable}\n{FAKE.read_text()}")
        self.program.chmod(self.program.stat().st_mode | stat.S_IXUSR)

    def spec(self, name: str, behaviour: dict[str, object] | None = None, **more: object) -> InstanceSpec:
        """An instance whose engine behaves so."""
        self.behave(name, behaviour or {})
        facts: dict[str, object] = {
            "id": name,
            "engine": "vllm",
            "model": "fake",
            "checkpoint": str(self.folder / name),
            "served_name": "fake",
            "devices": ("cpu",),
            "program": str(self.program),
        }
        return InstanceSpec.model_validate(facts | more)

    def behave(self, name: str, behaviour: dict[str, object]) -> None:
        """Change what an engine does from its next start on."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        (folder / "behaviour.json").write_text(json.dumps(behaviour))

    def events(self, name: str) -> list[dict[str, Any]]:
        """What an engine noted, over all its starts."""
        path = self.folder / name / "events.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def count(self, name: str, what: str) -> int:
        """How often an engine noted something."""
        return sum(1 for event in self.events(name) if event["what"] == what)


@pytest.fixture
def engines(tmp_path: Path) -> FakeEngines:
    return FakeEngines(tmp_path / "engines")


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A home whose supervisor and engines are gone at the end, whatever the test did."""
    home = Home(root=tmp_path / "home", models=tmp_path / "models")
    yield home
    anyio.run(bring_down, home)
    left = processes_of(ServingFolder.of(home).root)
    end_processes(left, grace_s=0.5)
    assert not left, "`down` left processes behind"
    shutil.rmtree(home.root, ignore_errors=True)


@pytest.fixture
def files(home: Home) -> ServingFolder:
    return ServingFolder.of(home)


def wanted(*specs: InstanceSpec) -> WantedInstances:
    return WantedInstances(team="test", instances=specs)


def wait_until(true: Callable[[], bool], what: str, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def kill(pid: int) -> None:
    """kill -9, and wait until the process is gone (or a zombie, when it is a child of ours)."""
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: started_at(pid) is None, f"{pid} was killed and lives on")
