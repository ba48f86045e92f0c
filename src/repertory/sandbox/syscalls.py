"""Numbers of the system calls that the sandbox's filters name, on the two machine types it supports."""

from typing import Literal, NamedTuple

__all__ = ("AUDIT_ARCH", "Machine", "number")

Machine = Literal["x86_64", "aarch64"]

AUDIT_ARCH: dict[Machine, int] = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""How the kernel names the calling convention in a filter's data (`linux/audit.h`)."""


class _Numbers(NamedTuple):
    x86_64: int | None
    aarch64: int | None


# From the kernel's `syscall_64.tbl` and `asm-generic/unistd.h`. These numbers never change.
_TABLE: dict[str, _Numbers] = {
    name: _Numbers(*numbers)
    for name, numbers in {
        "read": (0, 63), "write": (1, 64), "open": (2, None), "close": (3, 57), "stat": (4, None), "fstat": (5, 80),
        "lstat": (6, None), "poll": (7, None), "lseek": (8, 62), "mmap": (9, 222), "mprotect": (10, 226),
        "munmap": (11, 215), "brk": (12, 214), "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135),
        "rt_sigreturn": (15, 139), "ioctl": (16, 29), "pread64": (17, 67), "pwrite64": (18, 68), "readv": (19, 65),
        "writev": (20, 66), "access": (21, None), "pipe": (22, None), "select": (23, None), "sched_yield": (24, 124),
        "mremap": (25, 216), "msync": (26, 227), "mincore": (27, 232), "madvise": (28, 233), "dup": (32, 23),
        "dup2": (33, None), "pause": (34, None), "nanosleep": (35, 101), "getitimer": (36, 102), "alarm": (37, None),
        "setitimer": (38, 103), "getpid": (39, 172), "sendfile": (40, 71), "sendto": (44, 206), "recvfrom": (45, 207),
        "shutdown": (48, 210), "getsockname": (51, 204), "getpeername": (52, 205), "socketpair": (53, 199),
        "getsockopt": (55, 209), "clone": (56, 220), "execve": (59, 221), "exit": (60, 93), "wait4": (61, 260),
        "kill": (62, 129), "uname": (63, 160), "fcntl": (72, 25), "flock": (73, 32), "fsync": (74, 82),
        "fdatasync": (75, 83), "truncate": (76, 45), "ftruncate": (77, 46), "getdents": (78, None), "getcwd": (79, 17),
        "chdir": (80, 49), "fchdir": (81, 50), "rename": (82, None), "mkdir": (83, None), "rmdir": (84, None),
        "creat": (85, None), "link": (86, None), "unlink": (87, None), "symlink": (88, None), "readlink": (89, None),
        "chmod": (90, None), "fchmod": (91, 52), "umask": (95, 166), "gettimeofday": (96, 169), "getrlimit": (97, 163),
        "getrusage": (98, 165), "sysinfo": (99, 179), "times": (100, 153), "getuid": (102, 174), "getgid": (104, 176),
        "setuid": (105, 146), "setgid": (106, 144), "geteuid": (107, 175), "getegid": (108, 177),
        "getppid": (110, 173), "getpgrp": (111, None), "getgroups": (115, 158), "setgroups": (116, 159),
        "setresuid": (117, 147), "getresuid": (118, 148), "setresgid": (119, 149), "getresgid": (120, 150),
        "getpgid": (121, 155), "getsid": (124, 156), "rt_sigpending": (127, 136), "rt_sigtimedwait": (128, 137),
        "rt_sigsuspend": (130, 133), "sigaltstack": (131, 132), "utime": (132, None), "statfs": (137, 43),
        "fstatfs": (138, 44), "getpriority": (140, 141), "prctl": (157, 167), "arch_prctl": (158, None),
        "setrlimit": (160, 164), "gettid": (186, 178), "time": (201, None), "futex": (202, 98),
        "sched_getaffinity": (204, 123), "getdents64": (217, 61), "set_tid_address": (218, 96),
        "restart_syscall": (219, 128), "fadvise64": (221, 223), "clock_gettime": (228, 113),
        "clock_getres": (229, 114), "clock_nanosleep": (230, 115), "exit_group": (231, 94), "epoll_wait": (232, None),
        "epoll_ctl": (233, 21), "tgkill": (234, 131), "utimes": (235, None), "openat": (257, 56), "mkdirat": (258, 34),
        "newfstatat": (262, 79), "unlinkat": (263, 35), "renameat": (264, 38), "linkat": (265, 37),
        "symlinkat": (266, 36), "readlinkat": (267, 78), "fchmodat": (268, 53), "faccessat": (269, 48),
        "pselect6": (270, 72), "ppoll": (271, 73), "set_robust_list": (273, 99), "get_robust_list": (274, 100),
        "utimensat": (280, 88), "epoll_pwait": (281, 22), "fallocate": (285, 47), "eventfd2": (290, 19),
        "epoll_create1": (291, 20), "dup3": (292, 24), "pipe2": (293, 59), "preadv": (295, 69), "pwritev": (296, 70),
        "prlimit64": (302, 261), "getcpu": (309, 168), "renameat2": (316, 276), "seccomp": (317, 277),
        "getrandom": (318, 278), "membarrier": (324, 283), "copy_file_range": (326, 285), "preadv2": (327, 286),
        "pwritev2": (328, 287), "statx": (332, 291), "rseq": (334, 293), "clone3": (435, 435),
        "close_range": (436, 436), "faccessat2": (439, 439), "epoll_pwait2": (441, 441),
        "landlock_create_ruleset": (444, 444), "landlock_add_rule": (445, 445), "landlock_restrict_self": (446, 446),
    }.items()
}  # fmt: skip


def number(name: str, machine: Machine) -> int | None:
    """The number of a system call; None where the machine type does not have it.

    Raises:
        KeyError: The table does not know the name.
    """
    return getattr(_TABLE[name], machine)
