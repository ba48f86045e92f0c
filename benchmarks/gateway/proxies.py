"""The processes of a run: the scripted engine, our gateway, and LiteLLM's proxy in an environment of its own."""

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

LITELLM = "litellm[proxy]==1.108.7"
CACHE = Path(os.environ.get("REPERTORY_BENCH_CACHE", Path.home() / ".cache" / "repertory" / "bench"))


@dataclass
class Running:
    """One process that answers."""

    process: subprocess.Popen[bytes]
    url: str
    key: str = ""

    @property
    def cpu_s(self) -> float:
        """CPU time of the process and its children so far."""
        total = 0.0
        main = psutil.Process(self.process.pid)
        for process in (main, *main.children(recursive=True)):
            times = process.cpu_times()
            total += times.user + times.system
        return total

    @property
    def mib(self) -> float:
        """Memory of its own and its children, in MiB."""
        main = psutil.Process(self.process.pid)
        return sum(process.memory_info().rss for process in (main, *main.children(recursive=True))) / 2**20

    def kill(self) -> None:
        """End it as a crash does."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def running(command: Sequence[str], port: int, *, ready: str, environment: dict[str, str]) -> Generator[Running]:
    with tempfile.TemporaryDirectory(prefix="repertory-bench-") as folder:
        log = Path(folder) / "log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                command, stdout=output, stderr=output, start_new_session=True, env=os.environ | environment
            )
        with _ended(process):
            _wait(process, f"http://127.0.0.1:{port}{ready}", log)
            yield Running(process, f"http://127.0.0.1:{port}")


@contextmanager
def _ended(process: subprocess.Popen[bytes]) -> Generator[None]:
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    for _ in range(1500):
        if process.poll() is not None:
            break
        with contextlib.suppress(urllib.error.URLError, OSError), urllib.request.urlopen(url, timeout=2):  # noqa: S310
            return
        time.sleep(0.2)
    sys.exit(f"{url} does not answer:\n{log.read_text(errors='replace')[-3000:]}")


@contextmanager
def engine(*, port: int | None = None, tokens: int = 16, first_ms: float = 0, each_ms: float = 0) -> Generator[Running]:
    """The scripted engine."""
    port = port or free_port()
    command = [sys.executable, "-m", "benchmarks.gateway.scripted_server", "--port", str(port)]
    command += ["--tokens", str(tokens), "--first-ms", str(first_ms), "--each-ms", str(each_ms)]
    with running(command, port, ready="/v1/models", environment={}) as one:
        yield one


@contextmanager
def ours(engines: Sequence[str]) -> Generator[Running]:
    """`repertory serve` with a key, as LiteLLM's proxy needs one as well."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="repertory-bench-home-") as home:
        yield from _ours(port, home, engines)


def _ours(port: int, home: str, engines: Sequence[str]) -> Generator[Running]:
    command = [sys.executable, "-m", "repertory", "serve", "--keys", "--port", str(port), "--concurrency", "4096"]
    for url in engines:
        command += ["--engine-url", f"{url}/v1"]
    environment = {"REPERTORY_HOME": home}
    create = [sys.executable, "-m", "repertory", "keys", "create", "bench"]
    made = subprocess.run(create, env=os.environ | environment, check=True, capture_output=True, text=True)
    with running(command, port, ready="/healthz", environment=environment) as one:
        one.key = made.stdout.strip()
        yield one


def litellm_python() -> Path:
    """The environment with LiteLLM; made once, in the cache folder."""
    python = CACHE / "litellm" / "bin" / "python"
    if not python.exists():
        print(f"installing {LITELLM} into {python.parents[1]} ...", flush=True)
        subprocess.run([sys.executable, "-m", "uv", "venv", "--quiet", str(python.parents[1])], check=True)
        install = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", str(python), LITELLM]
        subprocess.run(install, check=True)
    return python


@contextmanager
def litellm(engine_url: str) -> Generator[Running]:
    """LiteLLM's proxy with one worker and no database, logging as little as it can."""
    with tempfile.TemporaryDirectory(prefix="repertory-bench-") as folder:
        yield from _litellm(Path(folder) / "config.yaml", engine_url)


def _litellm(config: Path, engine_url: str) -> Generator[Running]:
    python, port = litellm_python(), free_port()
    config.write_text(
        "model_list:\n- model_name: scripted\n  litellm_params:\n    model: openai/scripted\n"
        f"    api_base: {engine_url}/v1\n    api_key: none\n"
        "litellm_settings:\n  num_retries: 0\n  telemetry: false\n  set_verbose: false\n",
        encoding="utf-8",
    )
    command = [str(python.parent / "litellm"), "--config", str(config), "--port", str(port), "--host", "127.0.0.1"]
    key = f"sk-{secrets.token_hex(32)}"
    environment = {"LITELLM_MASTER_KEY": key, "LITELLM_LOG": "ERROR", "LITELLM_MODE": "PRODUCTION", "NO_DOCS": "True"}
    with running([*command, "--num_workers", "1"], port, ready="/health/liveliness", environment=environment) as one:
        one.key = key
        yield one
