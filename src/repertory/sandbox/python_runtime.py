"""What of this machine's Python is shown in the sandbox: interpreter, standard library, and the libraries they load.

Nothing else of the host is: no other program, no installed packages, no configuration.
"""

import json
import os
import struct
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from repertory.errors import SandboxError

__all__ = ("PYTHON", "PythonRuntime", "find_python_runtime")

PYTHON = "/python"
"""Where the runtime stands inside."""

# Loads every extension module of the standard library and tells which files that maps.
_PROBE = """
import importlib, json, os, sys
folder = next(path for path in sys.path if path.endswith("lib-dynload"))
for name in sorted(os.listdir(folder)):
    module = name.split(".")[0]
    if module.startswith(("_test", "_tkinter", "_curses", "xx", "_xx", "nis", "readline")):
        continue
    try:
        importlib.import_module(module)
    except Exception:
        pass
with open("/proc/self/maps") as maps:
    paths = {line.split(None, 5)[5].strip() for line in maps if line.count("/")}
print(json.dumps(sorted(path for path in paths if ".so" in os.path.basename(path))))
"""
_PT_INTERP = 3


@dataclass(frozen=True)
class PythonRuntime:
    """The parts of a Python, by where they are on the host.

    Attributes:
        interpreter: The program.
        library: The standard library's folder.
        loader: The dynamic loader, at the path that the program asks for; None for a static program.
        shared: Shared libraries, by the names they are asked for.
    """

    interpreter: Path
    library: Path
    loader: Path | None
    shared: dict[str, Path]

    @property
    def program(self) -> str:
        """The interpreter's path inside."""
        return f"{PYTHON}/bin/python{sys.version_info.major}.{sys.version_info.minor}"

    @property
    def library_inside(self) -> str:
        """The standard library's path inside."""
        return f"{PYTHON}/{sys.platlibdir}/{self.library.name}"


@cache
def find_python_runtime() -> PythonRuntime:
    """The runtime of the Python that runs this.

    Raises:
        SandboxError: Its parts can not be found.
    """
    interpreter = Path(getattr(sys, "_base_executable", "") or sys.executable).resolve()
    library = Path(os.__file__).resolve().parent
    try:
        probe = subprocess.run(
            [interpreter, "-I", "-S", "-B", "-c", _PROBE], capture_output=True, check=True, timeout=60, env={}
        )
        mapped = [Path(path) for path in json.loads(probe.stdout)]
        loader = _loader(interpreter)
    except (OSError, subprocess.SubprocessError, ValueError, StopIteration) as error:
        message = f"the parts of {interpreter} could not be found: {error}"
        raise SandboxError(
            message, hint="use a Python that is installed as a program with its standard library"
        ) from None
    shared: dict[str, Path] = {}
    for path in mapped:
        if not path.is_relative_to(library):
            shared.update(dict.fromkeys(_names_of(path), path))
    return PythonRuntime(interpreter, library, loader, shared)


def _names_of(path: Path) -> list[str]:
    """The name of a library's file and of the links to it beside it; programs ask for it by one of them."""
    stem = path.name.split(".so")[0]
    links = [link.name for link in path.parent.glob(f"{stem}.so*") if link.is_symlink() and link.resolve() == path]
    return [path.name, *links]


def _loader(program: Path) -> Path | None:
    """The dynamic loader that a 64-bit ELF program asks the kernel for."""
    with program.open("rb") as file:
        head = file.read(64)
        if head[:5] != b"\x7fELF\x02":
            message = "not a 64-bit ELF program"
            raise ValueError(message)
        (offset,) = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        for index in range(count):
            file.seek(offset + index * size)
            kind, _flags, start, _address, _physical, length = struct.unpack("<IIQQQQ", file.read(40))
            if kind == _PT_INTERP:
                file.seek(start)
                return Path(file.read(length).rstrip(b"\0").decode())
    return None
