"""The system call filters, judged call by call, for both machine types whatever this machine is."""

import struct

import pytest
from tests.sandbox.bpf_machine import ALLOW, ENOSYS, EPERM, KILL, judge

from repertory.errors import SandboxError
from repertory.sandbox.bpf import Condition, Rule, assemble
from repertory.sandbox.seccomp import inner_program, machine, outer_program
from repertory.sandbox.syscalls import AUDIT_ARCH, Machine, number

MACHINES: tuple[Machine, ...] = ("x86_64", "aarch64")
OWN = 4321
THREAD = 0x003D0F00  # what pthread_create asks of clone
FORK = 0x01200011  # what fork asks of clone

# Calls that no program of ours names, with their numbers on x86_64 and aarch64.
REFUSED = {
    "ptrace": (101, 117), "socket": (41, 198), "connect": (42, 203), "bind": (49, 200), "sendmsg": (46, 211),
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "pivot_root": (155, 41), "chroot": (161, 51),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "memfd_create": (319, 279),
    "execveat": (322, 281), "pidfd_send_signal": (424, 424), "pidfd_open": (434, 434), "pidfd_getfd": (438, 438),
    "tkill": (200, 130), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240), "kexec_load": (246, 104),
    "init_module": (175, 105), "open_by_handle_at": (304, 265), "personality": (135, 92), "shmget": (29, 194),
    "mq_open": (240, 180), "inotify_init1": (294, 26), "fanotify_init": (300, 262), "reboot": (169, 142),
    "setpriority": (141, 140), "sched_setaffinity": (203, 122), "mlockall": (151, 230), "timer_create": (222, 107),
    "openat2": (437, 437), "mknodat": (259, 33), "fchownat": (260, 54), "capset": (126, 91), "acct": (163, 89),
    "syslog": (103, 116), "vmsplice": (278, 75), "splice": (275, 76), "seccomp_in_call": (317, 277),
    "prctl_in_call": (157, 167), "execve_in_call": (59, 221), "setuid_in_call": (105, 146), "a_new_one": (4000, 4000),
}  # fmt: skip


def inner(machine: Machine) -> bytes:
    program = inner_program(machine)
    code = bytearray(program.code)
    for slot in program.pid_slots:
        struct.pack_into("<I", code, slot, OWN)
    return bytes(code)


def verdict(machine: Machine, code: bytes, name: str, *arguments: int) -> str:
    call = number(name, machine)
    assert call is not None
    return judge(code, call, list(arguments), AUDIT_ARCH[machine])


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", REFUSED)
def test_a_call_that_is_not_listed_is_refused(machine: Machine, name: str) -> None:
    call = REFUSED[name][MACHINES.index(machine)]
    assert judge(inner(machine), call, [], AUDIT_ARCH[machine]) == EPERM


@pytest.mark.parametrize("machine", MACHINES)
def test_what_an_interpreter_needs_is_allowed(machine: Machine) -> None:
    for name in ("read", "write", "openat", "mmap", "futex", "getrandom", "clock_gettime", "exit_group", "newfstatat"):
        assert verdict(machine, inner(machine), name) == ALLOW, name


@pytest.mark.parametrize("machine", MACHINES)
def test_a_call_may_start_threads_and_no_processes(machine: Machine) -> None:
    code = inner(machine)
    assert verdict(machine, code, "clone", THREAD) == ALLOW
    assert verdict(machine, code, "clone", FORK) == EPERM
    assert verdict(machine, code, "clone", THREAD | 0x10000000) == EPERM
    assert verdict(machine, code, "clone3") == ENOSYS
    outer = outer_program(machine).code
    assert verdict(machine, outer, "clone", FORK) == ALLOW
    for namespace in (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000):
        assert verdict(machine, outer, "clone", FORK | namespace) == EPERM


@pytest.mark.parametrize("machine", MACHINES)
def test_signals_reach_nobody_else(machine: Machine) -> None:
    code = inner(machine)
    for name in ("kill", "tgkill"):
        assert verdict(machine, code, name, OWN, 9) == ALLOW
        for other in (0, 1, -1, OWN + 1, -OWN):
            assert verdict(machine, code, name, other, 9) == EPERM
    # Asking the kernel to send them instead: F_SETOWN, F_SETSIG, FIOASYNC, FIOSETOWN.
    assert [verdict(machine, code, "fcntl", 3, command) for command in (8, 10)] == [EPERM, EPERM]
    assert [verdict(machine, code, "ioctl", 0, command) for command in (0x5452, 0x8901)] == [EPERM, EPERM]


@pytest.mark.parametrize("machine", MACHINES)
def test_nothing_is_typed_into_a_terminal(machine: Machine) -> None:
    tiocsti, tioclinux = 0x5412, 0x541C
    for command in (tiocsti, tioclinux):
        # The kernel looks at the low half alone, so a high half must not hide the command.
        for high in (0, 1 << 32, 0xFFFFFFFF << 32):
            assert verdict(machine, inner(machine), "ioctl", 0, command | high) == EPERM
    assert verdict(machine, inner(machine), "ioctl", 0, 0x5401) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_limits_can_be_read_and_not_set(machine: Machine) -> None:
    code = inner(machine)
    assert verdict(machine, code, "prlimit64", 0, 7, 0, 0x7FFF00001000) == ALLOW
    for pointer in (0x7FFF00001000, 1 << 32):
        assert verdict(machine, code, "prlimit64", 0, 7, pointer, 0) == EPERM
    assert verdict(machine, code, "prlimit64", 1, 7, 0, 0) == EPERM


@pytest.mark.parametrize("machine", MACHINES)
def test_no_file_gets_the_rights_of_its_owner(machine: Machine) -> None:
    for name, arguments in (("openat", (3, 0, 0)), ("fchmod", (3,)), ("fchmodat", (3, 0)), ("mkdirat", (3, 0))):
        assert verdict(machine, inner(machine), name, *arguments, 0o755) == ALLOW
        for mode in (0o4755, 0o2755, 0o6000):
            assert verdict(machine, inner(machine), name, *arguments, mode) == EPERM


@pytest.mark.parametrize("machine", MACHINES)
def test_only_an_unnamed_pair_of_sockets_can_be_made(machine: Machine) -> None:
    assert verdict(machine, inner(machine), "socketpair", 1) == ALLOW
    for family in (2, 10, 16, 17, 40):
        assert verdict(machine, inner(machine), "socketpair", family) == EPERM


@pytest.mark.parametrize("machine", MACHINES)
def test_other_calling_conventions_end_the_process(machine: Machine) -> None:
    read = number("read", machine) or 0
    for arch in (0x40000003, 0x40000028, AUDIT_ARCH[MACHINES[1 - MACHINES.index(machine)]]):
        assert judge(inner(machine), read, [], arch) == KILL
    if machine == "x86_64":
        assert judge(inner(machine), 0x40000000 | read, [], AUDIT_ARCH[machine]) == KILL


def test_a_rule_with_several_values_takes_each_of_them_and_no_other() -> None:
    program = assemble([Rule("read", [Condition(0, [5, 6, 7]), Condition(1, [9])])], "x86_64")
    taken = [
        (first, second)
        for first in range(12)
        for second in range(12)
        if judge(program.code, 0, [first, second], AUDIT_ARCH["x86_64"]) == ALLOW
    ]
    assert taken == [(5, 9), (6, 9), (7, 9)]


def test_the_programs_are_short_enough_for_the_kernel() -> None:
    for name in MACHINES:
        for program in (inner_program(name), outer_program(name)):
            assert len(program.code) // 8 < 4096


def test_another_system_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(SandboxError, match="Linux"):
        machine()


def test_an_unknown_machine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(SandboxError, match="riscv64"):
        machine()
