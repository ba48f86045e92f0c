"""Which process carries a turn, and whether that process is still there."""

import os
import platform
from functools import cache
from pathlib import Path

import psutil

__all__ = ("current_owner", "owner_is_gone")

_START_TOLERANCE_S = 5.0
"""Where a start is a time of day, it moves when the clock is corrected."""
_TICKS = "t"
"""Marks a start that is counted from the boot."""
_START_FIELD = 18
"""`starttime` of proc(5), counted from the field behind the state."""
_ENDED = frozenset("ZX")


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
    return f"{_machine()} {pid} {_started(pid)}"


def owner_is_gone(owner: str) -> bool | None:
    """Whether the process has ended; None when it ran on another host, where that can not be seen."""
    try:
        host, boot, pid, started = owner.rsplit(" ", 3)
        number = int(pid)
    except ValueError:
        return None
    here, here_boot = _machine().rsplit(" ", 1)
    if host != here:
        return None
    if boot != here_boot:
        return True
    if started.startswith(_TICKS):
        return _started(number) != started
    return _started_at_other_time(number, started)


def _started(pid: int) -> str | None:
    """When a process started, in a form that setting the clock does not change; None when it has ended."""
    try:
        state, *rest = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        if Path("/proc/self/stat").exists():
            return None
        try:  # no Linux: the time of day has to do
            return f"{psutil.Process(pid).create_time():.1f}"
        except psutil.NoSuchProcess:
            return None
    # What is left of a process whose parent has not looked yet is nobody that carries a turn.
    return None if state in _ENDED else f"{_TICKS}{rest[_START_FIELD]}"


def _started_at_other_time(pid: int, started: str) -> bool | None:
    try:
        return abs(psutil.Process(pid).create_time() - float(started)) > _START_TOLERANCE_S
    except psutil.NoSuchProcess:
        return True
    except psutil.AccessDenied:
        return False
    except ValueError:
        return None
