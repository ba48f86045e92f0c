"""Which process carries a turn, and whether that process is still there."""

import os
import platform
from functools import cache
from pathlib import Path

import psutil

__all__ = ("current_owner", "owner_is_gone")

# psutil derives a start time from the boot time, which moves when the clock is corrected.
_START_TOLERANCE_S = 5.0


@cache
def _machine() -> str:
    """The host and, where the system tells, its boot."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        boot = ""
    return f"{platform.node()} {boot}"


def current_owner() -> str:
    """A text that names this process: host, boot, process id and start."""
    pid = os.getpid()
    return f"{_machine()} {pid} {psutil.Process(pid).create_time():.1f}"


def owner_is_gone(owner: str) -> bool | None:
    """Whether the process has ended; None when it ran on another host, where that can not be seen."""
    try:
        host, boot, pid, started = owner.rsplit(" ", 3)
        number, start = int(pid), float(started)
    except ValueError:
        return None
    here, here_boot = _machine().rsplit(" ", 1)
    if host != here:
        return None
    if boot != here_boot:
        return True
    try:
        return abs(psutil.Process(number).create_time() - start) > _START_TOLERANCE_S
    except psutil.NoSuchProcess:
        return True
    except psutil.AccessDenied:
        return False
