"""Whether this host isolates, found out by trying to get out."""

import os
from dataclasses import dataclass
from pathlib import Path

from repertory.errors import SandboxError
from repertory.sandbox.bubblewrap import find_bubblewrap
from repertory.sandbox.job import FunctionCall
from repertory.sandbox.limits import Limits
from repertory.sandbox.seccomp import machine
from repertory.sandbox.worker import Worker

__all__ = ("Isolation", "isolation_of_this_host")

_PROBE = Path(__file__).with_name("escape_probe.py")
_ON_EVERY_HOST = ("/etc", "/bin", "/sbin", "/usr", "/home", "/root", "/run", "/var", "/sys", "/proc", "/dev/shm")  # noqa: S108
_NOT_ISOLATED = (
    "generated code is not run on this host; allow user namespaces "
    "(sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns; "
    "in a container: --privileged or a seccomp profile that lets it unshare)"
)


@dataclass(frozen=True)
class Isolation:
    """What isolates foreign code on this host.

    Attributes:
        bubblewrap: The program that makes the namespaces.
        landlock: The version of Landlock; 0 when the kernel has none, and then each call gets a sandbox of its own.
        as_root: Whether we are root; foreign code then runs as another user.
        tried: What the self-test tried, all in vain.
    """

    bubblewrap: Path
    landlock: int
    as_root: bool
    tried: tuple[str, ...]


def isolation_of_this_host() -> Isolation:
    """Send a program into a sandbox that tries to get out.

    Raises:
        SandboxError: It got out, or the sandbox could not be made.
    """
    machine()
    program = find_bubblewrap()
    probe = FunctionCall("escape_probe", "attempts", {"host_files": [__file__, *_ON_EVERY_HOST]})
    limits = Limits(wall_s=20, cpu_s=10, memory_bytes=256 * 1024 * 1024)
    try:
        with Worker({"escape_probe.py": _PROBE.read_bytes()}, limits=limits, warm=False) as worker:
            outcome = worker.call(probe)
            landlock = worker.landlock
    except SandboxError as error:
        raise SandboxError(
            error.message, where=error.where, hint=error.hint and f"{error.hint}; {_NOT_ISOLATED}"
        ) from None
    if not outcome.ok:
        words = outcome.failure.message if outcome.failure else outcome.ended
        message = f"the sandbox's self-test did not end: {words}"
        raise SandboxError(message, hint=_NOT_ISOLATED)
    tried: dict[str, bool] = outcome.value
    escaped = [name for name, succeeded in tried.items() if succeeded is not False]
    if escaped or not tried:
        message = f"code in the sandbox could {'; '.join(escaped)}"
        raise SandboxError(message, hint=_NOT_ISOLATED)
    return Isolation(program, landlock, os.geteuid() == 0, tuple(tried))
