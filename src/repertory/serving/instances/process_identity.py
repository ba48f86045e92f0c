"""Which processes are ours, and how they are ended: never by a number alone, since numbers are given out again.

Every process of an instance carries, in its environment, the home folder it belongs to, the instance and the name of
the launch; its children inherit that. So whatever an engine started can be found again, also after we were killed.
"""

import contextlib
import os
import signal
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import psutil

__all__ = (
    "END_GRACE_S",
    "end_processes",
    "is_process",
    "launch_environment",
    "processes_of",
    "started_at",
    "wait_ended",
)

_HOME = "REPERTORY_SERVING_HOME"
_INSTANCE = "REPERTORY_SERVING_INSTANCE"
_LAUNCH = "REPERTORY_SERVING_LAUNCH"
_CLOCK_SLACK_S = 2.0
"""Start times are computed from the boot time, which moves a little when the clock is set."""
END_GRACE_S = 10.0
"""How long a process may take to end after SIGTERM, before SIGKILL."""
_POLL_S = 0.02


def launch_environment(folder: Path, instance: str, launch: str) -> dict[str, str]:
    """The marks that every process of one launch carries."""
    return {_HOME: str(folder.resolve()), _INSTANCE: instance, _LAUNCH: launch}


def started_at(pid: int) -> float | None:
    """When a living process started; None when there is none (or only its remains)."""
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    except psutil.Error:
        return None


def is_process(pid: int, started: float) -> bool:
    """Whether the process that started then under this number still lives."""
    now = started_at(pid)
    return now is not None and abs(now - started) <= _CLOCK_SLACK_S


def processes_of(folder: Path, instance: str | None = None, launch: str | None = None) -> list[psutil.Process]:
    """All living processes of a home's instances, of one instance, or of one launch."""
    wanted = {_HOME: str(folder.resolve())}
    wanted |= {_INSTANCE: instance} if instance is not None else {}
    wanted |= {_LAUNCH: launch} if launch is not None else {}
    own = os.getpid()
    return [item for item in psutil.process_iter() if item.pid != own and _carries(item, wanted)]


def _carries(process: psutil.Process, wanted: Mapping[str, str]) -> bool:
    try:
        if process.uids().real != os.getuid() or process.status() == psutil.STATUS_ZOMBIE:
            return False
        environment = process.environ()
    except (psutil.Error, OSError):
        return False
    return all(environment.get(name) == value for name, value in wanted.items())


def wait_ended(processes: Iterable[psutil.Process], timeout_s: float) -> list[psutil.Process]:
    """Wait for processes to end. Returns those that live on.

    The dead whose parent has gone stay until the first process collects them, which some containers do seldom: they
    count as ended.
    """
    end = time.monotonic() + timeout_s
    living = list(processes)
    while True:
        _, living = psutil.wait_procs(living, timeout=0)  # collects those that are our own children
        living = [process for process in living if _lives(process)]
        left_s = end - time.monotonic()
        if not living or left_s <= 0:
            return living
        time.sleep(min(_POLL_S, left_s))


def _lives(process: psutil.Process) -> bool:
    try:
        return process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.Error:
        return False


def end_processes(processes: Iterable[psutil.Process], *, grace_s: float = END_GRACE_S) -> list[psutil.Process]:
    """Ask processes to end, wait, then kill what is left. Returns those that live on (in a system call that hangs).

    A number that was given to another process meanwhile is not signalled: psutil compares start times first.
    """
    living = list(processes)
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process in living:
            with contextlib.suppress(psutil.Error):
                process.send_signal(number)
        living = wait_ended(living, grace_s if number == signal.SIGTERM else 5.0)
        if not living:
            break
    return living
