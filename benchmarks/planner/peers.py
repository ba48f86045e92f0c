"""What other tools say about the same start-up logs.

Packages that can be installed run in an environment of their own (made in the cache folder at the first run):
accelerate's estimator, hf-mem, hf-vram-calc, modelinfo-cli and ridgepoint. Two rules without a package are computed
here: GPUStack's for models that are not GGUF (weights times 1.2 plus 2 GiB), and the parameter count of web calculators
(parameters times bytes times 1.2). gguf-parser is a Go program without a carrier on the package indexes, and vLLM's and
llama.cpp's own fitting tools need the device itself: not run.
"""

import json
import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.planner.config_json import config_json
from benchmarks.planner.memory_rows import MemoryReading
from repertory.catalog.loader import Catalog
from repertory.errors import UsageError
from repertory.planning.instance import GIB
from repertory.planning.vllm_memory import default_utilization

__all__ = ("NOT_RUN", "ask_peers", "peer_environment")

PACKAGES = (
    "torch", "transformers==5.24.0", "accelerate==1.15.0", "hf-mem==0.5.6", "hf-vram-calc==1.0.9",
    "modelinfo-cli==1.4.4", "ridgepoint==0.1.2",
)  # fmt: skip
NOT_RUN = {
    "gguf-parser": "a Go program; no carrier on the Python, npm or Debian indexes",
    "llm-mem-planner": "reads only configurations with latent attention",
    "llmfit": "its binary needs a newer C library than this machine has",
    "llm-resource-planner": "asks the hub, and takes no local configuration",
    "vLLM's profile run, llama.cpp's -fit": "measure on the device itself",
}
Answer = dict[str, Any]


def peer_environment(torch: str = "torch") -> Path:
    """Python of the peers' environment, made where it is missing.

    Args:
        torch: What to install as PyTorch (a processor build is enough).
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "repertory" / "planner-peers"
    python = folder / "bin" / "python"
    done = folder / "installed.json"
    wanted = [torch, *PACKAGES[1:]]
    if not done.exists() or json.loads(done.read_text("utf-8")) != wanted:
        print("installing the peers", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *wanted], check=True)
        done.write_text(json.dumps(wanted), "utf-8")
    return python


def ask_peers(
    readings: Sequence[tuple[MemoryReading, float]], catalog: Catalog, python: Path | None
) -> dict[str, dict[str, Answer]]:
    """Answers by peer and case.

    Args:
        readings: The logs, with the memory of the device.
        catalog: For the names of devices.
        python: Python of the peers' environment; None asks only the two rules.
    """
    cases = [_case(reading, total, catalog) for reading, total in readings]
    answers = {name: {case["case"]: rule(case) for case in cases} for name, rule in _RULES.items()}
    if python is not None:
        runner = Path(__file__).with_name("peer_runner.py")
        done = subprocess.run([python, runner], input=json.dumps(cases), capture_output=True, text=True, check=True)
        answers = json.loads(done.stdout) | answers
    return answers


def _case(reading: MemoryReading, total: float, catalog: Catalog) -> Answer:
    instance = reading.instance
    arch, spec = instance.arch, instance.format
    try:
        device = catalog.find_device(reading.device_name.split(" + ")[0]).id
    except UsageError:
        device = ""
    bits = spec.experts if spec.experts is not None and arch.is_moe else spec.linear
    utilization = instance.utilization if instance.utilization is not None else default_utilization(instance.version)
    return {
        "case": reading.case,
        "config": config_json(arch, instance.max_context),
        "parameters": arch.parameters.total,
        "active": arch.active_matrix_parameters,
        "bytes": instance.weights.total,
        "bits": bits,
        "format": spec.name,
        "devices": instance.devices,
        "device_gib": total,
        "device_id": device,
        "context": instance.longest,
        "utilization": utilization,
        "kv_bits": 8 if "fp8" in instance.kv_dtype else 16,
    }


def _gpustack(case: Answer) -> Answer:
    weights = case["bytes"] / case["devices"] / GIB
    return {"weights_gib": weights, "fits": weights * 1.2 + 2.0 <= case["device_gib"]}


def _calculator(case: Answer) -> Answer:
    weights = case["parameters"] * round(case["bits"]) / 8 / case["devices"] / GIB
    return {"weights_gib": weights, "fits": weights * 1.2 <= case["device_gib"]}


_RULES = {"GPUStack's rule": _gpustack, "parameter count times 1.2": _calculator}
