"""A program that tries to get out. It is sent into the sandbox by `self_test`, never run on the host.

Each attempt gives True when it succeeded, which it must not.
"""

import ctypes
import mmap
import os
import resource
import socket
import sys
from collections.abc import Callable
from pathlib import Path

__all__ = ("attempts",)

_libc = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWUSER = 0x10000000


def attempts(host_files: list[str]) -> dict[str, bool]:
    """Try to get out in every way that the walls are for.

    Args:
        host_files: Files that are on the host.
    """
    tries: dict[str, Callable[[], object]] = {
        "see files of the host": lambda: any(map(os.path.exists, host_files)),
        "see the environment of the host": lambda: bool(os.environ),
        "see processes": lambda: os.path.exists("/proc/self"),  # noqa: PTH110
        "be root": lambda: os.geteuid() == 0,
        "start a process": _start_process,
        "start a program": lambda: os.execv(sys.executable, [sys.executable, "-c", ""]),  # noqa: S606
        "open a socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM),
        "make a user namespace": lambda: _libc.unshare(_CLONE_NEWUSER) == 0,
        "trace a process": lambda: _libc.ptrace(0, 0, None, None) == 0,
        "send a signal to the sandbox": lambda: os.kill(os.getppid(), 0) is None,
        "send a signal to everybody": lambda: os.kill(-1, 0) is None,
        "write into the package": lambda: _write("/package/new"),
        "write into the runtime": lambda: _write("/python/new"),
        "write into the root": lambda: _write("/new"),
        "take more memory": lambda: mmap.mmap(-1, resource.getrlimit(resource.RLIMIT_AS)[1]),
        "lift its limits": _lift_limits,
    }
    return {name: _succeeds(attempt) for name, attempt in tries.items()}


def _succeeds(attempt: Callable[[], object]) -> bool:
    try:
        return attempt() not in (False, None)
    except (OSError, ValueError, MemoryError):
        return False


def _write(path: str) -> bool:
    return Path(path).write_bytes(b"x") == 1


def _start_process() -> bool:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    return True


def _lift_limits() -> bool:
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (hard, hard))
    return True
