"""A `repertory serve` process on the scripted engine, for a browser to look at."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.registry.packages import package
from tests.registry.temperature import temperature

from repertory.home import Home
from repertory.registry.registry import Registry
from repertory.storage.store import Store

__all__ = ("Stage", "deploy_counter", "deploy_talker", "open_stage")


@dataclass
class Stage:
    """A running server.

    Attributes:
        home: The folder of its state.
        arguments: What it was started with, beside its port.
        port: Where it listens; the same over a restart.
    """

    home: Path
    arguments: Sequence[str]
    port: int
    process: subprocess.Popen[str] | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        """The address of the dashboard."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        """What every process of this stage runs with."""
        return os.environ | {"REPERTORY_HOME": str(self.home), "REPERTORY_PROBE": "0", "PYTHONUNBUFFERED": "1"}

    def start(self) -> None:
        """Start it, and wait until it listens."""
        command = [sys.executable, "-m", "repertory", "serve", "--port", str(self.port), "--drain", "0", "--json"]
        with (self.home.parent / "serve.log").open("a") as log:
            self.process = subprocess.Popen(
                [*command, *self.arguments], stdout=subprocess.PIPE, stderr=log, text=True, env=self.environment
            )
        assert self.process.stdout is not None
        document = ""
        for line in self.process.stdout:
            document += line
            if line == "}\n":
                break
        if not document or "url" not in json.loads(document):  # an error is a document too
            pytest.fail(document + (self.home.parent / "serve.log").read_text())

    def stop(self) -> None:
        """End it as an operator does."""
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.communicate(timeout=30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.communicate()
            self.process = None

    def get(self, path: str) -> Any:
        """What the API answers."""
        return httpx2.get(self.url + path, trust_env=False, timeout=30).raise_for_status().json()

    def cli(self, *arguments: str) -> Any:
        """What the command line answers with `--json`."""
        done = subprocess.run(
            [sys.executable, "-m", "repertory", *arguments, "--json"],
            capture_output=True, text=True, check=False, timeout=100, env=self.environment,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@contextmanager
def open_stage(home: Path, *arguments: str) -> Generator[Stage]:
    """A server with its state in `home`, until the block ends."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    stage = Stage(home, arguments, port)
    stage.start()
    try:
        yield stage
    finally:
        stage.stop()


def deploy_counter(home: Path) -> None:
    """Deploy two versions of an agent that counts words; the first answers."""
    with _registry(home) as registry:
        registry.deploy(package())
        registry.promote("counter", 1)
        tools = package()["tools.py"].decode().replace("return sum(", "return 0 + sum(")
        registry.deploy(package(tools_py=tools))


def deploy_talker(home: Path) -> None:
    """Deploy an agent that people can talk to."""
    with _registry(home) as registry:
        registry.deploy(temperature("thermometer", instructions="Help with temperatures."))
        registry.promote("thermometer", 1)


@contextmanager
def _registry(home: Path) -> Generator[Registry]:
    place = Home(root=home, models=home / "models")
    place.root.mkdir(parents=True, exist_ok=True)
    with Store.open(place.database) as store:
        yield Registry(store, place)
