"""The walls that a process puts around itself: Landlock, limits, another user, and a system call filter.

None of them can be taken back, and all of them hold for whatever the process starts later.
"""

import ctypes
import os
import resource
import stat
import struct
from collections.abc import Mapping, Sequence

__all__ = ("become", "close_all_but", "landlock_abi", "restrict_files", "restrict_system_calls", "set_limits")

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long

_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_PATH_BENEATH = 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_MAKE_CHAR, _MAKE_SOCK, _MAKE_FIFO, _MAKE_BLOCK, _MAKE_SYM = 1 << 6, 1 << 9, 1 << 10, 1 << 11, 1 << 12
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_ALL_NET, _ALL_SCOPES = 0b11, 0b11
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2


def _call(number: int, *arguments: object) -> int:
    result = int(_libc.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def landlock_abi() -> int:
    """The version of Landlock that this kernel has; 0 when it has none."""
    try:
        return _call(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    except OSError:
        return 0


def _handled(abi: int) -> int:
    """All kinds of file access that this version can refuse."""
    access = (1 << 13) - 1
    for since, bit in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV)):
        if abi >= since:
            access |= bit
    return access


def restrict_files(read: Sequence[str], write: Sequence[str], devices: Sequence[str]) -> int:
    """Allow reading below `read`, reading and writing below `write`, and plain use of `devices`; nothing else.

    TCP and signals to processes outside are refused too where this kernel's Landlock can.

    Returns:
        The version of Landlock; 0 when this kernel has none and nothing was restricted.
    """
    abi = landlock_abi()
    if abi == 0:
        return 0
    handled = _handled(abi)
    attributes = struct.pack("=QQQ", handled, _ALL_NET if abi >= 4 else 0, _ALL_SCOPES if abi >= 6 else 0)
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    ruleset = _call(_LANDLOCK_CREATE, attributes, ctypes.c_size_t(size), ctypes.c_uint32(0))
    try:
        # No symbolic links either: somebody outside may look into a state folder.
        special = _EXECUTE | _MAKE_CHAR | _MAKE_SOCK | _MAKE_FIFO | _MAKE_BLOCK | _MAKE_SYM | _IOCTL_DEV
        for paths, access in (
            (read, _READ_FILE | _READ_DIR),
            (write, handled & ~special),
            (devices, _READ_FILE | _WRITE_FILE),
        ):
            for path in paths:
                _allow(ruleset, path, access)
        if _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
            message = "no_new_privs was refused"
            raise OSError(message)
        _call(_LANDLOCK_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)
    return abi


def _allow(ruleset: int, path: str, access: int) -> None:
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            access &= _READ_FILE | _WRITE_FILE  # a rule for a file must not speak of what only folders have
        rule = struct.pack("=Qi", access, place)
        _call(_LANDLOCK_ADD, ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH), rule, ctypes.c_uint32(0))
    finally:
        os.close(place)


def restrict_system_calls(code: bytes, pid_slots: Sequence[int]) -> None:
    """Install a filter; the constants at `pid_slots` become this process's id."""
    program = bytearray(code)
    for slot in pid_slots:
        struct.pack_into("=I", program, slot, os.getpid())
    instructions = ctypes.create_string_buffer(bytes(program), len(program))
    # struct sock_fprog: the number of instructions, and where they are
    header = struct.pack("@HP", len(program) // 8, ctypes.addressof(instructions))
    if _libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, header, 0, 0) != 0:
        code_number = ctypes.get_errno()
        raise OSError(code_number, f"the system call filter was refused: {os.strerror(code_number)}")


def set_limits(limits: Mapping[str, int]) -> None:
    """Set the process's limits, soft and hard alike; only more processor time is left for ending in order."""
    for name, value in limits.items():
        hard = value + 1 if name == "RLIMIT_CPU" else value
        resource.setrlimit(getattr(resource, name), (value, hard))


def become(user: int) -> None:
    """Give up root for good."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def close_all_but(keep: Sequence[int]) -> None:
    """Close every descriptor but 0, 1, 2 and `keep`."""
    start = 3
    for fd in sorted(keep):
        os.closerange(start, fd)
        start = fd + 1
    os.closerange(start, 1024 * 1024)
