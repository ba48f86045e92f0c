"""A real vLLM (CPU build) for the tests marked `vllm`; `make vllm` makes its environment."""

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

START_S = 600
MODEL = "qwen2.5-coder-0.5b"


@pytest.fixture(scope="session")
def vllm_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a vLLM server with the 0.5B model, priority scheduling and cache counts."""
    folder = Path(os.environ.get("REPERTORY_TEST_VLLM") or Path.home() / ".cache" / "repertory" / "vllm")
    if not (folder / MODEL / "config.json").exists():
        pytest.fail(f"no vLLM environment in {folder}; run `make vllm`, or leave these tests out: -m 'not vllm'")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path_factory.mktemp("vllm") / "server.log"
    command = [
        str(folder / "venv" / "bin" / "vllm"), "serve", str(folder / MODEL), "--host", "127.0.0.1", "--port", str(port),
        "--served-model-name", MODEL, "--max-model-len", "6144", "--dtype", "bfloat16", "--max-num-seqs", "8",
        "--scheduling-policy", "priority", "--enable-prompt-tokens-details", "--enforce-eager",
        "--structured-outputs-config.backend", "xgrammar",
        "--structured-outputs-config.disable_any_whitespace", "true",
    ]  # fmt: skip
    settings = {
        "VLLM_CPU_KVCACHE_SPACE": "2",
        "VLLM_CPU_OMP_THREADS_BIND": "0-1",
        "HF_HUB_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "PATH": f"{folder / 'venv' / 'bin'}:{os.environ['PATH']}",
    }
    with log.open("wb") as file:
        server = subprocess.Popen(
            command, stdout=file, stderr=subprocess.STDOUT, env=os.environ | settings, start_new_session=True
        )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until_ready(url, server, log)
        yield url
    finally:
        os.killpg(server.pid, 15)
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, 9)


def wait_until_ready(url: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        if server.poll() is not None:
            break
        try:
            if httpx2.get(f"{url}/health", timeout=2).is_success:
                return
        except httpx2.TransportError:
            pass
        time.sleep(1)
    tail = "\n".join(log.read_text(errors="replace").splitlines()[-20:])
    pytest.fail(f"vLLM did not start:\n{tail}")
