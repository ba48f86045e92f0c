"""Which model the embedded engine plays when nobody names one."""

from typing import NamedTuple

from repertory.engines.embedded.machine import total_memory_bytes, usable_cores

__all__ = ("Choice", "MachineSize", "choose_default_model", "machine_size")

_LARGER, _SMALLER = "qwen2.5-coder-1.5b", "qwen2.5-coder-0.5b"
_LARGER_NEEDS_BYTES = 4_000_000_000
"""Weights and six slots of the larger model take 2.1 GB; the rest is for the system and what else runs."""
_LARGER_NEEDS_CORES = 2


class MachineSize(NamedTuple):
    """What this process may use of the machine: memory in bytes, and physical cores."""

    memory_bytes: int
    cores: int


class Choice(NamedTuple):
    """A model's name in the catalog, and the reason for it as a sentence for the screen."""

    model: str
    reason: str


def machine_size() -> MachineSize:
    """Memory and cores of this machine, within the limits of the process's control groups."""
    return MachineSize(total_memory_bytes(), usable_cores())


def choose_default_model(memory_bytes: int, cores: int) -> Choice:
    """Choose the larger of the two default models where memory and cores carry it."""
    machine = f"{memory_bytes / 1e9:.0f} GB of memory and {cores} core{'' if cores == 1 else 's'}"
    if memory_bytes < _LARGER_NEEDS_BYTES:
        why = f"{_LARGER} wants {_LARGER_NEEDS_BYTES / 1e9:.0f} GB"
        return Choice(_SMALLER, f"{_SMALLER} plays on this machine ({machine}): {why}. --model names another.")
    if cores < _LARGER_NEEDS_CORES:
        why = f"{_LARGER} would be too slow on one core"
        return Choice(_SMALLER, f"{_SMALLER} plays on this machine ({machine}): {why}. --model names another.")
    return Choice(_LARGER, f"{_LARGER} plays on this machine ({machine}). --model names another.")
