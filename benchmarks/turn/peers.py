"""The drivers, and the environment of those that are not ours."""

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

__all__ = ("DRIVERS", "peer_python", "run_driver", "set_up")

PACKAGES = (
    "httpx==0.28.1", "openai>=2,<4", "langgraph==1.2.24", "langchain-openai==1.7.4", "pydantic-ai-slim==2.68.0",
    "agno==3.1.10",
)  # fmt: skip
DRIVERS = {
    "repertory": "ours",
    "naive pipeline": "naive",
    "LangGraph": "with_langgraph",
    "Pydantic AI": "with_pydantic_ai",
    "Agno": "with_agno",
}
"""Names for people, and the script of each."""

_SCRIPTS = Path(__file__).parent / "drivers"


def _folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "repertory" / "turn-peers" / "venv"


def peer_python() -> Path | None:
    """Python of the peers' environment; None when it has not been made."""
    python = _folder() / "bin" / "python"
    done = _folder() / "installed.json"
    return python if done.exists() and json.loads(done.read_text("utf-8")) == list(PACKAGES) else None


def set_up() -> Path:
    """Make the peers' environment, where it is missing or another one."""
    python = peer_python()
    if python is not None:
        return python
    folder = _folder()
    print(f"installing the peers into {folder}", file=sys.stderr)
    venv.create(folder, with_pip=True, clear=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES], check=True)
    (folder / "installed.json").write_text(json.dumps(PACKAGES), "utf-8")
    return python


def run_driver(name: str, work: dict[str, Any], *, timeout_s: float) -> dict[str, Any]:
    """Let one driver do its work in a process of its own.

    Returns:
        What it reported; `error` with the end of what it printed when it failed.
    """
    script = DRIVERS[name]
    python = Path(sys.executable) if script == "ours" else peer_python()
    if python is None:
        return {"error": "the peers are not installed: python -m benchmarks.turn --setup"}
    with tempfile.TemporaryDirectory() as folder:
        given, report = Path(folder, "work.json"), Path(folder, "report.json")
        given.write_text(json.dumps(work), "utf-8")
        settings = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        settings |= {"REPERTORY_HOME": folder, "REPERTORY_PROBE": "0", "AGNO_TELEMETRY": "false"}
        if script == "ours":
            root = str(Path(__file__).parents[2])
            settings["PYTHONPATH"] = os.pathsep.join(filter(None, [root, settings.get("PYTHONPATH")]))
        else:
            settings.pop("PYTHONPATH", None)  # nothing of Repertory is in the peers' environment
        command = [str(python), str(_SCRIPTS / f"{script}.py"), str(given), str(report)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=timeout_s, env=settings, cwd=folder, check=False
            )
        except subprocess.TimeoutExpired:
            return {"error": f"not done within {timeout_s:.0f} s"}
        if not report.exists():
            return {"error": (done.stderr or done.stdout)[-1500:]}
        return json.loads(report.read_text("utf-8"))
