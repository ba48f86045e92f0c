"""How much memory an instance really takes: of the machine by its processes' pages, of NVIDIA devices by the driver."""

import importlib
import json
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import psutil

from repertory.engines.devices import detect_devices
from repertory.engines.embedded.machine import available_memory_bytes
from repertory.serving.instances.records import InstanceSpec, MemoryUse
from repertory.serving.instances.state_file import read_json_object, write_privately

__all__ = ("free_gib", "host_memory_gib", "measure", "parse_compute_apps", "remember_measurement")

_GIB = 2**30
_TIMEOUT_S = 10.0
_KEPT = 200


def measure(spec: InstanceSpec, processes: Sequence[psutil.Process]) -> MemoryUse:
    """Predicted against measured. On a processor the host's memory is what the plan predicts; on a GPU the device's."""
    host, how = host_memory_gib(processes)
    predicted = spec.predicted_gib
    if all(name == "cpu" for name in spec.devices):
        return MemoryUse(predicted_gib=predicted, measured_gib=host, host_gib=host, how=how)
    device, told_by = _device_memory_gib({process.pid for process in processes})
    per_device = device / max(1, len(spec.devices)) if device is not None else None
    return MemoryUse(predicted_gib=predicted, measured_gib=per_device, host_gib=host, how=told_by)


def host_memory_gib(processes: Iterable[psutil.Process]) -> tuple[float | None, str]:
    """Main memory of processes, pages that they share counted once where the system tells."""
    total, how, any_found = 0, "pss", False
    for process in processes:
        try:
            # The proportional set size is only on Linux, and only of one's own processes.
            part = getattr(process.memory_full_info(), "pss", None)
            if part is None:
                part, how = process.memory_info().rss, "rss"
        except psutil.Error:
            continue
        total += part
        any_found = True
    return (round(total / _GIB, 3), how) if any_found else (None, how)


def free_gib(spec: InstanceSpec) -> float | None:
    """What is free for an instance before it starts, on its fullest device; None where nobody tells."""
    if all(name == "cpu" for name in spec.devices):
        return available_memory_bytes() / _GIB
    found = detect_devices()
    indexes = [int(name.removeprefix("gpu")) for name in spec.devices if name.removeprefix("gpu").isdecimal()]
    free = [found[index].free_gib for index in indexes if index < len(found)]
    known = [size for size in free if size is not None]
    return min(known) if known else None


def remember_measurement(path: Path, spec: InstanceSpec, memory: MemoryUse, when: str) -> None:
    """Keep a measurement by checkpoint and settings, so that predictions can be compared with it later."""
    if memory.measured_gib is None:
        return
    settings = " ".join(
        (spec.engine, spec.checkpoint, f"np={spec.slots}", f"c={spec.context_tokens}", *spec.arguments, *spec.devices)
    )
    rows = read_json_object(path)
    rows.pop(settings, None)
    rows[settings] = memory.model_dump() | {"model": spec.model, "when": when}
    kept = dict(list(rows.items())[-_KEPT:])
    write_privately(path, json.dumps(kept, ensure_ascii=False, indent=1))


def _device_memory_gib(pids: set[int]) -> tuple[float | None, str | None]:
    """Device memory of processes, over all devices."""
    told = _nvml(pids)
    if told is not None:
        return told, "nvml"
    program = shutil.which("nvidia-smi")
    if program is None:
        return None, None
    query = [program, "--query-compute-apps=pid,used_memory", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=_TIMEOUT_S, check=True)
    except (OSError, subprocess.SubprocessError):
        return None, None
    return parse_compute_apps(done.stdout, pids), "nvidia-smi"


def parse_compute_apps(text: str, pids: set[int]) -> float | None:
    """GiB of processes in `nvidia-smi`'s table of process and MiB; None when none of them is in it."""
    found: list[int] = []
    for line in text.splitlines():
        pid, _, used = (part.strip() for part in line.partition(","))
        if pid.isdecimal() and used.isdecimal() and int(pid) in pids:
            found.append(int(used))
    return round(sum(found) / 1024, 3) if found else None


def _nvml(pids: set[int]) -> float | None:
    try:
        nvml: Any = importlib.import_module("pynvml")
        nvml.nvmlInit()
    except Exception:  # noqa: BLE001 - any failure of a vendor's library means that it can not tell
        return None
    try:
        used = [
            entry.usedGpuMemory
            for index in range(nvml.nvmlDeviceGetCount())
            for entry in nvml.nvmlDeviceGetComputeRunningProcesses(nvml.nvmlDeviceGetHandleByIndex(index))
            if entry.pid in pids and entry.usedGpuMemory is not None
        ]
    except Exception:  # noqa: BLE001 - as above
        return None
    finally:
        nvml.nvmlShutdown()
    return round(sum(used) / _GIB, 3) if used else None
