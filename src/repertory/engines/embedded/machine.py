"""What this process may use of the machine: cores and memory, with the limits of its control groups."""

import math
import os
from pathlib import Path

import psutil

__all__ = ("available_memory_bytes", "total_memory_bytes", "usable_cores")

_CGROUP_ROOT = Path("/sys/fs/cgroup")
_UNLIMITED = 1 << 60


def usable_cores() -> int:
    """Physical cores this process may run on (at least 1).

    llama.cpp gains nothing from a second thread on one core. Counted are the distinct cores of the CPUs in the
    process's affinity, then capped by the control group's CPU quota.
    """
    try:
        cpus = os.sched_getaffinity(0)
    except AttributeError:  # macOS
        return psutil.cpu_count(logical=False) or 1
    cores = len({_core_of(cpu) for cpu in cpus})
    quota = _cpu_quota()
    return max(1, min(cores, math.ceil(quota)) if quota else cores)


def total_memory_bytes() -> int:
    """Memory of the machine, or the control group's limit where that is lower."""
    return min([psutil.virtual_memory().total, *(limit for limit, _ in _memory_limits())])


def available_memory_bytes() -> int:
    """Memory that can be had without swapping: what the machine has free, or what the control group still allows."""
    return max(0, min([psutil.virtual_memory().available, *(limit - used for limit, used in _memory_limits())]))


def _core_of(cpu: int) -> tuple[str, str]:
    folder = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology")
    try:
        return (folder / "physical_package_id").read_text().strip(), (folder / "core_id").read_text().strip()
    except OSError:
        return "cpu", str(cpu)


def _groups(controller: str) -> list[Path]:
    """Folders of the process's control group for a controller and of its parents: version 2, then version 1."""
    try:
        entries = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    except OSError:
        return []
    folders: list[Path] = []
    for _, controllers, group in (entry for entry in entries if len(entry) == 3):
        if controllers and controller not in controllers.split(","):
            continue
        root = _CGROUP_ROOT / controller if controllers else _CGROUP_ROOT
        folder = root / group.lstrip("/")
        folders += [level for level in (folder, *folder.parents) if level == root or root in level.parents]
    return folders


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text().split()[0])
    except (OSError, ValueError, IndexError):  # not there, or the word "max"
        return None


def _memory_limits() -> list[tuple[int, int]]:
    """Limit and use, in bytes, of every control group that limits memory. Page cache is not counted as used."""
    found: list[tuple[int, int]] = []
    for folder in _groups("memory"):
        for limit_name, used_name in (
            ("memory.max", "memory.current"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes"),
        ):
            limit, used = _number(folder / limit_name), _number(folder / used_name)
            if limit is not None and used is not None and limit < _UNLIMITED:
                found.append((limit, max(0, used - _reclaimable(folder))))
    return found


def _reclaimable(folder: Path) -> int:
    """Bytes of file pages that the kernel can drop (`inactive_file`, as container tools count it)."""
    try:
        lines = folder.joinpath("memory.stat").read_text().splitlines()
    except OSError:
        return 0
    values = dict(line.split() for line in lines if len(line.split()) == 2)
    return int(values.get("total_inactive_file", values.get("inactive_file", "0")))


def _cpu_quota() -> float | None:
    """CPUs' worth of time that the control groups allow, or None without a limit."""
    quotas: list[float] = []
    for folder in _groups("cpu"):
        quota, period = _number(folder / "cpu.cfs_quota_us"), _number(folder / "cpu.cfs_period_us")
        try:
            words = folder.joinpath("cpu.max").read_text().split()
            quota, period = int(words[0]), int(words[1])
        except (OSError, ValueError, IndexError):
            pass
        if quota and period and quota > 0:
            quotas.append(quota / period)
    return min(quotas, default=None)
