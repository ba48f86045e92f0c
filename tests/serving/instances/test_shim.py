"""The process beside each engine, on its own: what it writes down, and that nothing of an engine outlives it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.serving.instances.conftest import kill, wait_until

from repertory.serving.instances.engine_process import ProcessRecord
from repertory.serving.instances.process_identity import started_at
from repertory.serving.instances.rotating_log import log_parts
from repertory.serving.instances.shim import ENGINE_LOG, ShimOrder

GRANDCHILD = """
import os, signal, subprocess, sys, time
sleeper = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
child = subprocess.Popen([sys.executable, "-c", sleeper], start_new_session=True)
print("grandchild", child.pid, flush=True)
time.sleep(600)
"""


def start(folder: Path, code: str, **more: object) -> "subprocess.Popen[bytes]":
    order = ShimOrder(
        launch="L",
        folder=str(folder),
        arguments=[sys.executable, "-c", code],
        environment=dict(os.environ),
        url="http://127.0.0.1:1",
        **more,  # pyright: ignore[reportArgumentType] - the test's own
    )
    shim = subprocess.Popen(
        [sys.executable, "-P", "-m", "repertory.serving.instances.shim"], stdin=subprocess.PIPE, start_new_session=True
    )
    assert shim.stdin is not None
    shim.stdin.write(order.to_line())
    shim.stdin.close()
    return shim


def record(folder: Path) -> ProcessRecord:
    wait_until(lambda: ProcessRecord.read(folder) is not None, "no record was written")
    found = ProcessRecord.read(folder)
    assert found is not None
    return found


def printed(folder: Path, word: str) -> list[str]:
    path = folder / ENGINE_LOG
    wait_until(lambda: path.exists() and word in path.read_text(), f"{word!r} was never printed")
    return path.read_text().splitlines()


def gone(pid: int) -> bool:
    return started_at(pid) is None


def test_every_line_of_an_engine_is_in_its_log_also_the_last(tmp_path: Path) -> None:
    code = "for i in range(20000): print('line', i)\nimport sys; sys.stderr.write('the end')"
    shim = start(tmp_path, code, log_part_bytes=50_000, log_parts=20)
    assert shim.wait(60) == 0
    lines = [line for part in log_parts(tmp_path / ENGINE_LOG) for line in part.read_text().splitlines()]
    assert lines[1:-1] == [f"line {i}" for i in range(20000)]
    assert lines[-1] == "the end"


@pytest.mark.parametrize(
    ("code", "expected"), [("raise SystemExit(7)", 7), ("import os; os.kill(os.getpid(), 11)", -signal.SIGSEGV)]
)
def test_how_an_engine_ended_is_written_down(tmp_path: Path, code: str, expected: int) -> None:
    start(tmp_path, code).wait(30)
    found = record(tmp_path)
    assert (found.ended, found.exit_code) == (True, expected)


def test_a_program_that_is_not_there_is_written_down(tmp_path: Path) -> None:
    order = ShimOrder(launch="L", folder=str(tmp_path), arguments=["/no/such/program"], environment={})
    subprocess.run(
        [sys.executable, "-P", "-m", "repertory.serving.instances.shim"], input=order.to_line(), check=True, timeout=30
    )
    assert "No such file" in record(tmp_path).error


def test_sigterm_ends_the_engine_and_what_it_started_elsewhere(tmp_path: Path) -> None:
    shim = start(tmp_path, GRANDCHILD)
    pid = int(printed(tmp_path, "grandchild")[-1].split()[1])
    shim.terminate()
    assert shim.wait(30) == 0
    assert gone(record(tmp_path).engine_pid)
    assert gone(pid)


def test_an_engine_that_does_not_end_by_itself_is_killed(tmp_path: Path) -> None:
    code = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(99)"
    )
    shim = start(tmp_path, code, grace_s=0.2)
    printed(tmp_path, "deaf")
    shim.terminate()
    assert shim.wait(30) == 0
    assert record(tmp_path).exit_code == -signal.SIGKILL


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel tells a child of its parent's end on Linux only")
def test_an_engine_does_not_outlive_a_shim_that_is_killed(tmp_path: Path) -> None:
    shim = start(tmp_path, "import time; print('up', flush=True); time.sleep(600)")
    printed(tmp_path, "up")
    engine = record(tmp_path).engine_pid
    kill(shim.pid)
    wait_until(lambda: gone(engine), "the engine outlived its shim")
    shim.wait()


def test_the_terminal_does_not_end_an_engine(tmp_path: Path) -> None:
    shim = start(tmp_path, "import time; print('up', flush=True); time.sleep(600)")
    printed(tmp_path, "up")
    for number in (signal.SIGINT, signal.SIGHUP):
        shim.send_signal(number)
    with pytest.raises(subprocess.TimeoutExpired):
        shim.wait(0.5)
    shim.terminate()
    shim.wait(30)


def test_the_record_is_never_half_written(tmp_path: Path) -> None:
    shim = start(tmp_path, "import time\nfor _ in range(30): print('x' * 1000, flush=True); time.sleep(0.05)")
    while shim.poll() is None:
        text = (tmp_path / "process.json").read_text() if (tmp_path / "process.json").exists() else "{}"
        assert isinstance(json.loads(text), dict)
