"""The engine that everybody is measured on: the embedded llama.cpp, vLLM's CPU build, or one at an address."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
from anyio.from_thread import start_blocking_portal

from repertory.engines.embedded import EmbeddedEngine
from repertory.engines.model_store import ModelStore
from repertory.engines.profile import EngineKind
from repertory.home import Home, locate_home

__all__ = ("MeasuredEngine", "embedded", "vllm_environment", "vllm_on_processor")

_START_S = 900.0


@dataclass(frozen=True)
class MeasuredEngine:
    """Where it answers."""

    url: str
    api_key: str
    model: str
    kind: EngineKind
    version: str


@contextmanager
def embedded(model: str, *, slots: int, context_tokens: int) -> Generator[MeasuredEngine]:
    """The embedded llama.cpp with a model of the catalog, a slot for each agent."""
    home = locate_home()
    store = ModelStore(home)
    path = store.layout.blob(store.pull(model).sha256)
    with tempfile.TemporaryDirectory() as folder, start_blocking_portal() as portal:
        start = EmbeddedEngine.start(
            path,
            slots=slots,
            context_tokens=context_tokens,
            model_name=model,
            home=Home(root=Path(folder), models=home.models),
        )
        with portal.wrap_async_context_manager(start) as running:
            if running.notes:
                sys.exit(f"the engine is smaller than it should be: {'; '.join(running.notes)}")
            yield MeasuredEngine(running.url, running.api_key, model, EngineKind.LLAMACPP, running.version)


def vllm_environment() -> Path | None:
    """The folder that `make vllm` has filled; None when it has not."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = Path(os.environ.get("REPERTORY_TEST_VLLM") or cache / "repertory" / "vllm")
    ready = (folder / "venv" / "bin" / "vllm").exists() and any(folder.glob("*/config.json"))
    return folder if ready else None


@contextmanager
def vllm_on_processor(folder: Path, model: str, *, context_tokens: int) -> Generator[MeasuredEngine]:
    """The CPU build of vLLM, with prefix caching and scheduling by priority."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    key = secrets.token_urlsafe(24)
    command = [
        str(folder / "venv" / "bin" / "vllm"), "serve", str(folder / model), "--host", "127.0.0.1", "--port", str(port),
        "--served-model-name", model, "--max-model-len", str(context_tokens), "--dtype", "bfloat16",
        "--max-num-seqs", "8", "--scheduling-policy", "priority", "--enable-prompt-tokens-details", "--enforce-eager",
        "--structured-outputs-config.backend", "xgrammar",
        "--structured-outputs-config.disable_any_whitespace", "true",
    ]  # fmt: skip
    environment = os.environ | {
        "VLLM_API_KEY": key,
        "VLLM_CPU_KVCACHE_SPACE": "3",
        "HF_HUB_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "PATH": f"{folder / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}",
    }
    environment.pop("PYTHONPATH", None)
    url = f"http://127.0.0.1:{port}"
    with tempfile.NamedTemporaryFile(suffix=".log") as log:
        server = subprocess.Popen(
            command, stdout=log, stderr=subprocess.STDOUT, env=environment, start_new_session=True
        )
        try:
            _wait_until_ready(url, server, Path(log.name))
            version = httpx2.get(f"{url}/version", trust_env=False).json().get("version", "")
            yield MeasuredEngine(url, key, model, EngineKind.VLLM, f"vllm {version}")
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            try:
                server.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(server.pid, signal.SIGKILL)


def _wait_until_ready(url: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    until = time.monotonic() + _START_S
    while time.monotonic() < until and server.poll() is None:
        try:
            if httpx2.get(f"{url}/health", timeout=2, trust_env=False).is_success:
                return
        except httpx2.TransportError:
            pass
        time.sleep(1)
    tail = "\n".join(log.read_text(errors="replace").splitlines()[-20:])
    sys.exit(f"vLLM did not start:\n{tail}")
