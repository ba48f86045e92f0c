"""Facts of the machine a result was measured on, and where results are kept."""

import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil

__all__ = ("RESULTS", "machine_facts", "write_result")

RESULTS = Path(__file__).parent / "results"


def machine_facts() -> dict[str, Any]:
    """Processor, cores, memory, system and the versions that matter."""
    return {
        "cpu": _cpu_name(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 1024**3, 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "repertory": metadata.version("repertory"),
        "commit": _commit(),
        "xllamacpp": metadata.version("xllamacpp"),
        "load_average_1min": round(os.getloadavg()[0], 2),
    }


def write_result(name: str, data: dict[str, Any]) -> Path:
    """Keep a result as `benchmarks/results/NAME.json`, with the machine, the time and the command."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    program = Path(sys.argv[0])
    script = program.parent.name if program.stem == "__main__" else program.stem
    command = " ".join([f"python -m benchmarks.{script}", *sys.argv[1:]])
    document = {
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command,
        "machine": machine_facts(),
        "result": data,
    }
    part = path.with_suffix(".part")
    part.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    part.replace(path)
    return path


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def _commit() -> str:
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return done.stdout.strip()
