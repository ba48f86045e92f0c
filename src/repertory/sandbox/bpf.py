"""An assembler for the small programs with which the kernel judges system calls (seccomp, classic BPF).

A program is a list of rules tried in order. The first rule that names the call decides; what no rule names is refused.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from repertory.sandbox.syscalls import AUDIT_ARCH, Machine, number

__all__ = ("OWN_PID", "Condition", "Program", "Rule", "assemble")

# Instruction codes of `linux/bpf_common.h`, and where `struct seccomp_data` keeps what they load.
_LOAD, _AND, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_NUMBER_AT, _ARCH_AT, _ARGUMENTS_AT = 0, 4, 16

_ALLOW, _ERRNO, _KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000
_EPERM, _ENOSYS = 1, 38
_X32_BIT = 0x40000000

OWN_PID = -1
"""Stands for the id of the process that installs the program; it is filled in there."""


@dataclass(frozen=True)
class Condition:
    """What one argument of a call must be: its low 32 bits, masked, are one of `values`.

    The kernel reads the arguments used here as 32-bit numbers, so the high bits, which it ignores, are ignored too.
    `whole` is for a pointer: the high bits are compared as well, with zero.
    """

    argument: int
    values: Sequence[int]
    mask: int = 0xFFFFFFFF
    whole: bool = False


@dataclass(frozen=True)
class Rule:
    """A call that is allowed when all conditions hold; `absent` answers as if this kernel did not have it."""

    name: str
    conditions: Sequence[Condition] = ()
    absent: bool = False


@dataclass(frozen=True)
class Program:
    """An assembled program.

    Attributes:
        code: The instructions, as the kernel takes them.
        pid_slots: Byte offsets of the 32-bit constants that stand for `OWN_PID`.
    """

    code: bytes
    pid_slots: tuple[int, ...]


@dataclass
class _Code:
    """Instructions in the making."""

    parts: list[tuple[int, int, int, int]] = field(default_factory=list[tuple[int, int, int, int]])
    pid_slots: list[int] = field(default_factory=list[int])

    def add(self, code: int, value: int, if_true: int = 0, if_false: int = 0) -> None:
        if value == OWN_PID:
            self.pid_slots.append(len(self.parts) * 8 + 4)
            value = 0
        self.parts.append((code, if_true, if_false, value))


def assemble(rules: Sequence[Rule], machine: Machine) -> Program:
    """Make the program that allows what `rules` allow and refuses everything else with `EPERM`.

    A call that comes in by another calling convention (32-bit, x32) ends the process.
    """
    code = _Code()
    code.add(_LOAD, _ARCH_AT)
    code.add(_EQUAL, AUDIT_ARCH[machine], if_true=1)
    code.add(_RETURN, _KILL_PROCESS)
    code.add(_LOAD, _NUMBER_AT)
    if machine == "x86_64":
        code.add(_AT_LEAST, _X32_BIT, if_false=1)
        code.add(_RETURN, _KILL_PROCESS)
    for rule in rules:
        call = number(rule.name, machine)
        if call is None:
            continue
        body = _body(rule)
        code.add(_EQUAL, call, if_false=len(body.parts))
        start = len(code.parts) * 8
        code.parts.extend(body.parts)
        code.pid_slots.extend(start + slot for slot in body.pid_slots)
    code.add(_RETURN, _ERRNO | _EPERM)
    packed = b"".join(struct.pack("=HBBI", *part) for part in code.parts)
    return Program(packed, tuple(code.pid_slots))


def _body(rule: Rule) -> _Code:
    """The instructions after a call was recognised; they always end in a verdict."""
    code = _Code()
    for condition in rule.conditions:
        low = _ARGUMENTS_AT + 8 * condition.argument
        if condition.whole:
            code.add(_LOAD, low + 4)
            code.add(_EQUAL, 0, if_true=1)
            code.add(_RETURN, _ERRNO | _EPERM)
        code.add(_LOAD, low)
        if condition.mask != 0xFFFFFFFF:
            code.add(_AND, condition.mask)
        left = len(condition.values)
        for value in condition.values:
            code.add(_EQUAL, value, if_true=left)  # over the values that are left and the refusal
            left -= 1
        code.add(_RETURN, _ERRNO | _EPERM)
    code.add(_RETURN, _ERRNO | _ENOSYS if rule.absent else _ALLOW)
    return code
