"""What a call in the sandbox may use."""

from dataclasses import dataclass

__all__ = ("Limits",)

_MIB = 1024 * 1024


@dataclass(frozen=True)
class Limits:
    """Bounds of one call. All hold at once, whatever the code does.

    Attributes:
        wall_s: Real time of a call, in seconds.
        cpu_s: Processor time of a call, in whole seconds.
        memory_bytes: Address space of the process, the interpreter (about 40 MiB) included.
        threads: Threads besides the first. Other processes can not be started at all.
        file_bytes: Size of one file that is written.
        scratch_bytes: Size of the temporary folder.
        scratch_files: Files in it.
        state_bytes: Size of the state folder, where there is one.
        state_files: Files in it.
        open_files: Files and pipes open at once.
        output_bytes: What is kept of what is printed; the rest is thrown away.
        result_bytes: Size of the result as JSON, and of each question to the host.
    """

    wall_s: float = 20.0
    cpu_s: int = 10
    memory_bytes: int = 512 * _MIB
    threads: int = 16
    file_bytes: int = 16 * _MIB
    scratch_bytes: int = 32 * _MIB
    scratch_files: int = 2_000
    state_bytes: int = 64 * _MIB
    state_files: int = 32
    open_files: int = 64
    output_bytes: int = 64 * 1024
    result_bytes: int = _MIB

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value < (0 if name == "threads" else 1e-3):
                message = f"the limit {name} must be positive, not {value}"
                raise ValueError(message)
