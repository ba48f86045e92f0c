"""Which system calls the sandbox's processes may make. What is not listed is refused with `EPERM`.

There are two programs. `outer` holds from the first instruction in the sandbox: it is what the sandbox's own code needs
to set up a call. `inner` is added in the process of each call, before any foreign code: no new process, no new program,
no signal to any other process, no change of its own limits, no socket but an unnamed pair.
"""

import platform
import sys
from functools import cache

from repertory.errors import SandboxError
from repertory.sandbox.bpf import OWN_PID, Condition, Program, Rule, assemble
from repertory.sandbox.syscalls import AUDIT_ARCH, Machine

__all__ = ("inner_program", "machine", "outer_program")

_PLAIN = (
    # files that are open, and memory
    "read", "write", "close", "fstat", "lseek", "pread64", "pwrite64", "readv", "writev", "preadv", "pwritev",
    "preadv2", "pwritev2", "sendfile", "copy_file_range", "fsync", "fdatasync", "ftruncate", "fallocate", "fadvise64",
    "flock", "dup", "dup2", "dup3", "pipe", "pipe2", "close_range", "getdents", "getdents64", "fstatfs",
    "mmap", "mprotect", "munmap", "mremap", "brk", "msync", "mincore", "madvise", "membarrier",
    # files by name
    "stat", "lstat", "newfstatat", "statx", "access", "faccessat", "faccessat2", "readlink",
    "readlinkat", "getcwd", "chdir", "fchdir", "rmdir", "unlink", "unlinkat", "rename", "renameat",
    "renameat2", "link", "linkat", "symlink", "symlinkat", "truncate", "umask", "utime",
    "utimes", "utimensat", "statfs",
    # waiting, time and signals of its own
    "poll", "ppoll", "select", "pselect6", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2",
    "eventfd2", "futex", "set_robust_list", "get_robust_list", "set_tid_address", "rseq", "restart_syscall",
    "sched_yield", "pause", "nanosleep", "clock_nanosleep", "clock_gettime", "clock_getres", "gettimeofday", "time",
    "times", "alarm", "getitimer", "setitimer", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending",
    "rt_sigtimedwait", "rt_sigsuspend", "sigaltstack",
    # an unnamed pair of sockets, which event loops wake themselves with
    "sendto", "recvfrom", "shutdown", "getsockname", "getpeername", "getsockopt",
    # what it is
    "getpid", "gettid", "getppid", "getpgrp", "getpgid", "getsid", "getuid", "geteuid", "getgid", "getegid",
    "getgroups", "getresuid", "getresgid", "getrlimit", "getrusage", "getpriority", "getcpu", "sched_getaffinity",
    "sysinfo", "uname", "arch_prctl", "getrandom", "exit", "exit_group",
)  # fmt: skip

_MODE_ARGUMENT = {
    "open": 2, "openat": 3, "creat": 1, "mkdir": 1, "mkdirat": 2, "chmod": 1, "fchmod": 1, "fchmodat": 2,
}  # fmt: skip
_SET_ID_BITS = 0o6000
"""No file may carry them: a state folder is a folder of the host, where they would mean something."""

_AF_UNIX = 1
_TERMINAL_AND_FLAGS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
"""`ioctl`: TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX. Not TIOCSTI, not FIOASYNC (signals to others)."""
_DESCRIPTOR_COMMANDS = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030)
"""`fcntl`: duplicate, flags, record locks. Not F_SETOWN and F_SETSIG (signals to others), not F_SETPIPE_SZ."""
_CLONE_THREAD = 0x00010000
_CLONE_NAMESPACES = 0x7E020000

_SHARED = (
    *(Rule(name) for name in _PLAIN),
    *(Rule(name, [Condition(place, [0], mask=_SET_ID_BITS)]) for name, place in _MODE_ARGUMENT.items()),
    Rule("ioctl", [Condition(1, _TERMINAL_AND_FLAGS)]),
    Rule("fcntl", [Condition(1, _DESCRIPTOR_COMMANDS)]),
    Rule("socketpair", [Condition(0, [_AF_UNIX])]),
    Rule("clone3", absent=True),  # its flags are behind a pointer, where no filter can look; C libraries fall back
)

_OUTER = (
    *_SHARED,
    Rule("clone", [Condition(0, [0], mask=_CLONE_NAMESPACES)]),
    *(
        Rule(name)
        for name in (
            "execve", "wait4", "kill", "tgkill", "prctl", "seccomp", "setrlimit", "prlimit64", "setuid", "setgid",
            "setresuid", "setresgid", "setgroups", "landlock_create_ruleset", "landlock_add_rule",
            "landlock_restrict_self",
        )
    ),
)  # fmt: skip

_INNER = (
    *_SHARED,
    Rule("clone", [Condition(0, [_CLONE_THREAD], mask=_CLONE_NAMESPACES | _CLONE_THREAD)]),
    Rule("kill", [Condition(0, [OWN_PID])]),
    Rule("tgkill", [Condition(0, [OWN_PID])]),
    # Reading its own limits, not setting them.
    Rule("prlimit64", [Condition(0, [0, OWN_PID]), Condition(2, [0], whole=True)]),
)


def machine() -> Machine:
    """The type of this machine.

    Raises:
        SandboxError: The filters are not written for it.
    """
    if sys.platform != "linux":
        raise SandboxError("the sandbox needs Linux", hint="run generated agents on Linux, or in a Linux machine")
    found = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
    if found not in AUDIT_ARCH:
        message = f"the sandbox has no system call filter for {found or 'this machine type'}"
        raise SandboxError(message, hint=f"run generated agents on Linux on {' or '.join(AUDIT_ARCH)}")
    return found


@cache
def outer_program(machine: Machine) -> Program:
    """The program for the sandbox's own code."""
    return assemble(_OUTER, machine)


@cache
def inner_program(machine: Machine) -> Program:
    """The program for the process that runs foreign code."""
    return assemble(_INNER, machine)
