"""Ports for engines that must be told one, without races.

A port is taken from below the range that the system gives to outgoing connections, so that none of those gets in
between; it is reserved for one user's supervisors by a lock, and nothing may listen on it. Should a stranger take it in
the moment before the engine does, the engine says so and is started again on another port.
"""

import contextlib
import os
import random
import socket
import tempfile
from dataclasses import dataclass
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

from repertory.errors import RepertoryError

__all__ = ("PortLease", "lease_port")

_LOWEST = 20_000
_DEFAULT_EPHEMERAL = 32_768
_TRIES = 500


@dataclass
class PortLease:
    """A port that no other supervisor of this user takes until it is given back, or we end."""

    port: int
    _lock: BaseFileLock

    def release(self) -> None:
        """Give the port back."""
        self._lock.release()


def lease_port(wanted: int | None = None, *, avoid: frozenset[int] = frozenset()) -> PortLease:
    """Lease a free port of the loopback interface.

    Args:
        wanted: The port of an engine that already runs: leased again if possible, whether or not it is free.
        avoid: Ports that were found to be taken.

    Raises:
        RepertoryError: None is free.
    """
    folder = _folder()
    if wanted is not None:
        lease = _lock(folder, wanted)
        if lease is not None:
            return lease
    highest = max(_LOWEST + 1000, min(_first_ephemeral(), 60_000))
    chooser = random.SystemRandom()
    for _ in range(_TRIES):
        port = chooser.randrange(_LOWEST, highest)
        if port in avoid:
            continue
        lease = _lock(folder, port)
        if lease is None:
            continue
        if _is_free(port):
            return lease
        lease.release()
    raise RepertoryError("no free port was found on the loopback interface")


def _lock(folder: Path, port: int) -> PortLease | None:
    lock = FileLock(folder / f"{port}.lock", timeout=0, thread_local=False, mode=0o600)
    with contextlib.suppress(Timeout):
        lock.acquire()
        return PortLease(port, lock)
    return None


def _folder() -> Path:
    """One folder for all homes of this user. Made private; one that somebody else made first is not used."""
    folder = Path(tempfile.gettempdir()) / f"repertory-ports-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if status.st_uid != os.getuid() or folder.is_symlink():
        raise RepertoryError("the folder of port leases belongs to somebody else", where=str(folder))
    return folder


def _first_ephemeral() -> int:
    try:
        return int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return _DEFAULT_EPHEMERAL


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As servers do: connections of an earlier one that linger are no hindrance.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
