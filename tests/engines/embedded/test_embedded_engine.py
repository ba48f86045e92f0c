"""The embedded engine for real: a child process with llama.cpp and a small model."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import anyio
import httpx2
import psutil
import pytest

from repertory.engines.embedded import EmbeddedEngine, RunningEngine
from repertory.errors import EngineRejectedError, EngineUnavailableError, ModelStoreError
from repertory.home import Home
from repertory.serving.instances.process_identity import started_at

PARENT = """
import sys, json, anyio
from pathlib import Path
from repertory.engines.embedded import EmbeddedEngine
from repertory.home import Home
async def main():
    home = Home(root=Path(sys.argv[2]), models=Path(sys.argv[2]))
    async with EmbeddedEngine.start(Path(sys.argv[1]), slots=2, context_tokens=512, home=home) as running:
        print(json.dumps({"pid": running.pid, "url": running.url}), flush=True)
        await anyio.sleep_forever()
anyio.run(main)
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(root=tmp_path / "engine-home", models=tmp_path)


def gone(pid: int) -> bool:
    return started_at(pid) is None


def wait_until(true: Callable[[], bool], what: str, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, what
        time.sleep(0.05)


async def ask(running: RunningEngine, path: str, body: dict[str, object] | None, key: str | None) -> httpx2.Response:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with httpx2.AsyncClient(base_url=running.url, headers=headers, timeout=60, trust_env=False) as client:
        return await (client.get(path) if body is None else client.post(path, json=body))


@pytest.mark.engine
async def test_it_answers_only_with_its_key_and_only_on_loopback(embedded_engine: RunningEngine) -> None:
    body: dict[str, object] = {"messages": [{"role": "user", "content": "Say hi."}], "max_tokens": 4}
    answer = await ask(embedded_engine, "/v1/chat/completions", body, embedded_engine.api_key)
    assert answer.json()["usage"]["completion_tokens"] >= 1
    assert answer.headers.get("access-control-allow-origin", "") == ""
    for key in (None, "guess"):
        assert (await ask(embedded_engine, "/v1/chat/completions", body, key)).status_code == 401
        assert (await ask(embedded_engine, "/slots", None, key)).status_code == 401
    listening = [c for c in psutil.Process(embedded_engine.pid).net_connections() if c.status == psutil.CONN_LISTEN]
    assert {connection.laddr.ip for connection in listening} == {"127.0.0.1"}
    assert embedded_engine.api_key not in repr(embedded_engine)
    assert embedded_engine.api_key not in " ".join(psutil.Process(embedded_engine.pid).cmdline())


@pytest.mark.engine
async def test_slots_and_context_are_what_it_says(embedded_engine: RunningEngine) -> None:
    slots = (await ask(embedded_engine, "/slots", None, embedded_engine.api_key)).json()
    assert len(slots) == embedded_engine.slots
    assert {slot["n_ctx"] for slot in slots} == {embedded_engine.context_tokens}
    models = (await ask(embedded_engine, "/v1/models", None, embedded_engine.api_key)).json()["data"]
    assert [model["id"] for model in models] == [embedded_engine.model]


@pytest.mark.engine
async def test_a_slot_state_is_copied_and_private(small_model: Path, home: Home) -> None:
    async with EmbeddedEngine.start(small_model, slots=2, context_tokens=512, home=home) as running:
        prompt = "The quick brown fox jumps over the lazy dog. " * 8
        body: dict[str, object] = {"prompt": prompt, "n_predict": 1, "cache_prompt": True, "temperature": 0}
        first = (await ask(running, "/completion", {**body, "id_slot": 0}, running.api_key)).json()
        await ask(running, "/slots/0?action=save", {"filename": "p.bin"}, running.api_key)
        (folder,) = [entry for entry in home.slots.iterdir() if entry.is_dir()]
        assert (folder / "p.bin").stat().st_mode & 0o077 == 0
        escape = await ask(running, "/slots/0?action=save", {"filename": "../p.bin"}, running.api_key)
        assert escape.status_code == 400
        await ask(running, "/slots/1?action=restore", {"filename": "p.bin"}, running.api_key)
        second = (await ask(running, "/completion", {**body, "id_slot": 1}, running.api_key)).json()
        assert second["timings"]["prompt_n"] < first["timings"]["prompt_n"] / 4
        assert second["content"] == first["content"]
    assert list(home.slots.iterdir()) == []
    assert gone(running.pid)
    with pytest.raises(EngineUnavailableError):
        running.check()


@pytest.mark.engine
async def test_a_crash_is_told_with_how_it_ended(small_model: Path, home: Home) -> None:
    async with EmbeddedEngine.start(small_model, context_tokens=512, home=home) as running:
        running.check()
        os.kill(running.pid, signal.SIGSEGV)
        with anyio.fail_after(20):
            await running._process.wait()
        with pytest.raises(EngineUnavailableError, match="SIGSEGV") as told:
            running.check()
        assert str(running.log_path) in str(told.value)
        await running.stop()


@pytest.mark.engine
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_it_ends_when_its_parent_is_killed(small_model: Path, tmp_path: Path, end: signal.Signals) -> None:
    command = [sys.executable, "-c", PARENT, str(small_model), str(tmp_path / "home")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = json.loads(parent.stdout.readline())
        assert not gone(child["pid"])
        parent.send_signal(end)
        parent.wait()
        wait_until(lambda: gone(child["pid"]), "the engine outlived its parent")
    left = [entry for entry in (tmp_path / "home" / "slots").iterdir() if entry.is_dir()]
    assert left == []


@pytest.mark.engine
def test_it_ends_when_its_parent_is_killed_while_it_loads(small_model: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", PARENT, str(small_model), str(tmp_path / "home")]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as parent:
        me = psutil.Process(parent.pid)
        wait_until(lambda: bool(me.children()), "no engine was started")
        child = me.children()[0].pid
        parent.kill()
        parent.wait()
        wait_until(lambda: gone(child), "the engine outlived its parent")


@pytest.mark.engine
async def test_end_of_input_alone_stops_it(small_model: Path, home: Home) -> None:
    """Where the kernel does not tell a child of its parent's end, the pipe does."""
    async with EmbeddedEngine.start(small_model, context_tokens=512, home=home) as running:
        assert running._process.stdin is not None
        await running._process.stdin.aclose()
        with anyio.fail_after(20):
            assert await running._process.wait() == 0


@pytest.mark.engine
async def test_giving_up_while_it_loads_leaves_no_process(small_model: Path, home: Home) -> None:
    with anyio.move_on_after(0.7):
        async with EmbeddedEngine.start(small_model, context_tokens=512, home=home):
            await anyio.sleep_forever()
    # Each engine holds its slot folder until its process has ended.
    assert list(home.slots.iterdir()) == []
    (log,) = home.logs.iterdir()
    assert not [child for child in psutil.Process().children() if _logs_to(child, log)]


def _logs_to(process: psutil.Process, log: Path) -> bool:
    try:
        return any(Path(file.path) == log for file in process.open_files())
    except psutil.Error:
        return False


@pytest.mark.engine
async def test_a_file_that_looks_right_but_is_not_is_told_with_the_engines_reason(
    tmp_path: Path, home: Home, make_gguf: Callable[..., bytes]
) -> None:
    path = tmp_path / "hollow.gguf"
    path.write_bytes(make_gguf(padding=1000))
    with pytest.raises(EngineUnavailableError, match="load") as told:
        async with EmbeddedEngine.start(path, context_tokens=512, home=home):
            pytest.fail("it started")
    assert ".log" in str(told.value)
    assert len(list(home.logs.iterdir())) == 1
    assert list(home.slots.iterdir()) == []


async def test_what_is_no_model_is_refused_before_a_process_starts(tmp_path: Path, home: Home) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"<html>not found</html>")
    with pytest.raises(ModelStoreError, match="GGUF"):
        async with EmbeddedEngine.start(path, home=home):
            pytest.fail("it started")
    assert not home.logs.exists()


async def test_too_little_memory_is_refused_before_a_process_starts(
    tmp_path: Path, home: Home, make_gguf: Callable[..., bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(make_gguf())
    monkeypatch.setattr("repertory.engines.embedded.launcher.available_memory_bytes", lambda: 100_000_000)
    with pytest.raises(EngineRejectedError, match="free memory"):
        async with EmbeddedEngine.start(path, home=home):
            pytest.fail("it started")
