"""The public corpus of escapes: every program is kept in, and the host is as it was."""

import contextlib
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest
from tests.sandbox.escape_corpus import CORPUS, NOTHING, Attack

from repertory.sandbox import FunctionCall, Job, Limits, Outcome, Sandbox
from repertory.sandbox.launch import SandboxProcess
from repertory.serving.instances.process_identity import wait_ended

LIMITS = Limits(wall_s=3, cpu_s=1, memory_bytes=256 * 1024 * 1024, output_bytes=10_000, result_bytes=100_000)
_OWN_MISTAKES = ("SyntaxError", "IndentationError", "NameError", "AttributeError", "UnboundLocalError")
"""A program that fails by these proves nothing."""


@dataclass
class Canaries:
    """What an escape would change, read or wake."""

    secret: str
    file: Path
    listeners: list[socket.socket]
    abstract: str
    process: "subprocess.Popen[bytes]"
    before: set[int] = field(default_factory=set[int])
    """Our own children before the attack; other tests of this process may have left some."""
    inside: list[psutil.Process] = field(default_factory=list[psutil.Process])
    """All processes that were in a sandbox when it was ended."""

    def told(self) -> dict[str, object]:
        """What a program is told there is to reach. Never the secret itself."""
        return {
            "file": str(self.file),
            "port": self.listeners[0].getsockname()[1],
            "socket": self.listeners[1].getsockname(),
            "abstract": self.abstract,
            "pid": self.process.pid,
            "secret_marker": self.secret[:8],
        }

    def check(self) -> None:
        """Nothing was changed, nobody was called, nothing died, nothing is left."""
        assert self.file.read_text() == self.secret
        assert [path.name for path in self.file.parent.iterdir() if path.is_file()] == [self.file.name]
        for listener in self.listeners:
            with pytest.raises(BlockingIOError):
                listener.accept()
        assert self.process.poll() is None
        alive = wait_ended(self.inside, 60)
        assert alive == []
        assert children() <= self.before


def children() -> set[int]:
    """The numbers of all processes below this one."""
    return {child.pid for child in psutil.Process().children(recursive=True)}


@pytest.fixture(scope="module")
def canaries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Canaries]:
    folder = tmp_path_factory.mktemp("host")
    folder.chmod(0o777)
    secret = f"key-{secrets.token_hex(16)}"
    file = folder / "secret.txt"
    file.write_text(secret)
    file.chmod(0o666)  # whoever sees it can read and change it
    os.environ["REPERTORY_CANARY"] = secret
    abstract = f"repertory-{secrets.token_hex(8)}"
    listeners = [socket.create_server(("127.0.0.1", 0)), *(socket.socket(socket.AF_UNIX) for _ in range(2))]
    listeners[1].bind(str(folder / "socket"))
    listeners[2].bind("\0" + abstract)
    for listener in listeners:
        listener.listen()
        listener.setblocking(False)
    process = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"])
    yield Canaries(secret, file, listeners, abstract, process)
    process.kill()
    process.wait()
    del os.environ["REPERTORY_CANARY"]
    for listener in listeners:
        listener.close()


@pytest.mark.parametrize("attack", CORPUS, ids=lambda attack: attack.name.replace(" ", "-"))
def test_an_escape_fails(attack: Attack, sandbox: Sandbox, canaries: Canaries, monkeypatch: pytest.MonkeyPatch) -> None:
    real_kill = SandboxProcess.kill

    def kill(process: SandboxProcess) -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            outside = psutil.Process(process._process.pid)
            canaries.inside.extend([outside, *outside.children(recursive=True)])
        real_kill(process)

    canaries.inside.clear()
    canaries.before = children()
    monkeypatch.setattr(SandboxProcess, "kill", kill)
    told = canaries.told()
    outcome = sandbox.run(
        Job(
            files={"attack.py": attack.source},
            entry=FunctionCall("attack", "attempt", {"host": told}),
            limits=LIMITS,
            host={"double": _double},
        )
    )
    assert outcome.ended in attack.ends, outcome
    if outcome.failure is not None and outcome.ended == "raised":
        assert outcome.failure.type not in _OWN_MISTAKES, outcome
    if outcome.ok:
        assert outcome.value == attack.gets or attack.gets is NOTHING
    assert not (outcome.ok and attack.gets is NOTHING), outcome
    _check_outcome(outcome, canaries.secret)
    assert canaries.inside
    canaries.check()


def _double(number: int) -> int:
    return number * 2


def _check_outcome(outcome: Outcome, secret: str) -> None:
    assert secret not in repr(outcome)
    assert outcome.ok == (outcome.failure is None)
    assert len(outcome.output.encode()) <= LIMITS.output_bytes
    if outcome.failure is not None:
        assert len(outcome.failure.message) <= 2_000


def test_the_corpus_has_no_two_of_a_name() -> None:
    assert len({attack.name for attack in CORPUS}) == len(CORPUS)
