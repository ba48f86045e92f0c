"""Which devices this machine has: NVIDIA by NVML, AMD by sysfs, Apple by its chip, else the processor and main memory.

Nothing is installed for it: NVML is asked through `nvidia-ml-py` where that is there, else through `nvidia-smi`.
"""

import importlib
import platform
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from repertory.catalog.loader import Catalog
from repertory.catalog.profiles import DeviceProfile, Slot, processor_device
from repertory.catalog.records import Device, Fact
from repertory.errors import UsageError

__all__ = ("Found", "detect_devices", "detected_profile")

_GIB = 2**30
_TIMEOUT_S = 10.0


@dataclass(frozen=True)
class Found:
    """One device as the machine reports it.

    Attributes:
        how: What told of it: `nvml`, `nvidia-smi`, `sysfs`, `system`.
        free_gib: What is free now; None where it is not told.
    """

    name: str
    vendor: str
    memory_gib: float
    how: str
    free_gib: float | None = None


def detect_devices() -> list[Found]:
    """The accelerators of this machine, or its processor where there are none."""
    return _nvml() or _nvidia_smi() or _amd(Path("/sys/class/drm")) or _apple() or [_processor()]


def detected_profile(catalog: Catalog, found: list[Found] | None = None) -> DeviceProfile:
    """This machine as a profile. A device that the catalog does not know keeps its memory and gets no speed facts."""
    slots: list[Slot] = []
    for index, item in enumerate(detect_devices() if found is None else found):
        fact = Fact(value=item.memory_gib, source=item.how)
        try:
            device = catalog.find_device(item.name)
        except UsageError:
            device = (
                Device.model_validate(
                    {"id": item.name.lower(), "name": item.name, "vendor": item.vendor, "memory_gib": fact}
                )
                if item.vendor in ("nvidia", "amd", "apple")
                else processor_device(item.name.lower(), item.name, fact, cores=psutil.cpu_count(logical=False) or 1)
            )
        memory = item.memory_gib
        slots.append(
            Slot(
                name=f"gpu{index}" if device.vendor != "cpu" else "cpu",
                device=device,
                memory_gib=memory,
                budget_gib=memory * device.usable_share,
            )
        )
    return DeviceProfile(name="detected", slots=tuple(slots), host_memory_gib=psutil.virtual_memory().total / _GIB)


def _nvml() -> list[Found]:
    try:
        nvml: Any = importlib.import_module("pynvml")
    except ImportError:
        return []
    try:
        nvml.nvmlInit()
    except Exception:  # noqa: BLE001 - any failure of a vendor's library means: no NVIDIA device to use
        return []
    found: list[Found] = []
    try:
        for index in range(nvml.nvmlDeviceGetCount()):
            handle = nvml.nvmlDeviceGetHandleByIndex(index)
            name = nvml.nvmlDeviceGetName(handle)
            memory = nvml.nvmlDeviceGetMemoryInfo(handle)
            text = name.decode() if isinstance(name, bytes) else str(name)
            found.append(Found(text, "nvidia", memory.total / _GIB, "nvml", memory.free / _GIB))
    except Exception:  # noqa: BLE001 - as above
        return []
    finally:
        nvml.nvmlShutdown()
    return found


def _nvidia_smi() -> list[Found]:
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    query = [program, "--query-gpu=name,memory.total,memory.free", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=_TIMEOUT_S, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    return parse_nvidia_smi(done.stdout)


def parse_nvidia_smi(text: str) -> list[Found]:
    """Devices in `nvidia-smi`'s table of name, total and free MiB; rows that are not that are left out."""
    found: list[Found] = []
    for line in text.splitlines():
        parts = [part.strip() for part in line.rsplit(",", 2)]
        if len(parts) == 3 and parts[1].isdecimal() and parts[2].isdecimal():
            found.append(Found(parts[0], "nvidia", int(parts[1]) / 1024, "nvidia-smi", int(parts[2]) / 1024))
    return found


def _amd(drm: Path) -> list[Found]:
    found: list[Found] = []
    for total in sorted(drm.glob("card*/device/mem_info_vram_total")):
        try:
            size = int(total.read_text())
            used = int((total.parent / "mem_info_vram_used").read_text())
            product = total.parent / "product_name"
            name = product.read_text().strip() if product.exists() else ""
        except (OSError, ValueError):
            continue
        if size > 2 * _GIB:
            found.append(Found(name or "AMD GPU", "amd", size / _GIB, "sysfs", (size - used) / _GIB))
    return found


def _apple() -> list[Found]:
    if platform.system() != "Darwin" or platform.machine() != "arm64":
        return []
    try:
        done = subprocess.run(
            ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"],
            capture_output=True, text=True, timeout=_TIMEOUT_S, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return []
    return [Found(done.stdout.strip(), "apple", psutil.virtual_memory().total / _GIB, "system")]


def _processor() -> Found:
    memory = psutil.virtual_memory()
    cores = psutil.cpu_count(logical=False) or psutil.cpu_count() or 1
    name = f"{cores}-core processor"
    return Found(name, "cpu", memory.total / _GIB, "system", memory.available / _GIB)
