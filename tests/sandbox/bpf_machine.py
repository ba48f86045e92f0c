"""A machine for the classic BPF programs that `repertory.sandbox.bpf` assembles: it judges as the kernel would."""

import struct

ALLOW, EPERM, ENOSYS, KILL = "allow", "EPERM", "ENOSYS", "kill"
_VERDICTS = {0x7FFF0000: ALLOW, 0x00050001: EPERM, 0x00050026: ENOSYS, 0x80000000: KILL}


def judge(code: bytes, number: int, arguments: list[int], arch: int) -> str:
    """The verdict of a program over one call."""
    data = struct.pack("<IIQ6Q", number, arch, 0, *[value & (2**64 - 1) for value in [*arguments, *[0] * 6][:6]])
    instructions = list(struct.iter_unpack("<HBBI", code))
    at = accumulator = 0
    while True:
        operation, if_true, if_false, value = instructions[at]
        at += 1
        match operation:
            case 0x20:
                assert value % 4 == 0
                (accumulator,) = struct.unpack_from("<I", data, value)
            case 0x54:
                accumulator &= value
            case 0x15:
                at += if_true if accumulator == value else if_false
            case 0x35:
                at += if_true if accumulator >= value else if_false
            case 0x06:
                return _VERDICTS[value]
            case _:
                raise AssertionError(operation)
