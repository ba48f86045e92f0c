"""A sandbox for a whole program of the user's choice, such as a coding agent: one folder, one socket, no network.

Unlike the sandbox for generated code (`Worker`), it shows the system's programs and libraries, read-only, and lets the
program start others. What both keep out is the same: no file of a person, no environment, no network, no process of
the host. The one way out is a port that leads to one socket of ours.
"""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from repertory.runtime.harness.interface import Program
from repertory.sandbox.bubblewrap import INSIDE, find_bubblewrap
from repertory.sandbox.program_files import SYSTEM, program_files, require_readable
from repertory.sandbox.python_runtime import PYTHON, PythonRuntime, find_python_runtime

__all__ = ("ProgramWalls",)

_ETC = Path(__file__).parent / "etc"
_RELAY = Path(__file__).parent / "inside" / "relay.py"
_RELAY_INSIDE = f"{INSIDE}/relay.py"
_RUN = "/repertory/run"
_HOST_FILES = ("/etc/ld.so.cache", "/etc/alternatives")
_OF_INTERPRETER = {"LD_LIBRARY_PATH": f"{PYTHON}/so", "PYTHONHOME": PYTHON}
_SCRATCH = ("/tmp", "/repertory/home")  # noqa: S108 - of the sandbox, and gone with it
_SCRATCH_BYTES = 512 * 1024 * 1024
_PORT = 8700


class ProgramWalls:
    """Makes commands that run programs behind walls; see `repertory.runtime.harness.interface.Walls`.

    Args:
        private: Folders of ours that no program may be shown.
    """

    work = "/repertory/work"
    base_url = f"http://127.0.0.1:{_PORT}"

    def __init__(self, *private: Path) -> None:
        self._private = private

    def command(self, program: Program) -> list[str]:
        """The command that runs a program behind walls.

        Raises:
            SandboxError: Bubblewrap or the program is not here, or a path can not be shown.
        """
        runtime = find_python_runtime()
        own, *files = program_files(program.argv, private=self._private)
        words = [
            str(find_bubblewrap()), "--unshare-all", "--unshare-user", "--disable-userns", "--uid", "1000",
            "--gid", "1000", "--hostname", "agent", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
            "--clearenv", *_settings({"TZ": "UTC", "LANG": "C.UTF-8", **program.env, **_OF_INTERPRETER}),
        ]  # fmt: skip
        words += ["--proc", "/proc", "--dev", "/dev"]
        for folder in _SCRATCH:
            words += ["--size", str(_SCRATCH_BYTES), "--tmpfs", folder]
        words += _system()
        for path in _ETC.iterdir():
            words += ["--ro-bind", str(path), f"/etc/{path.name}"]
        words += _interpreter(runtime)
        words += ["--ro-bind", str(_RELAY), _RELAY_INSIDE]
        for path in [*files, *require_readable(program.readable)]:
            words += ["--ro-bind", str(path), str(path)]
        words += ["--bind", str(program.folder), self.work, "--chdir", self.work]
        words += ["--ro-bind", str(program.gateway), f"{_RUN}/gateway"]
        if program.board is not None:
            words += ["--ro-bind", str(program.board), f"{_RUN}/board"]
        words += ["--remount-ro", "/", "--", *_python(runtime)]
        return [*words, _RELAY_INSIDE, "serve", str(_PORT), f"{_RUN}/gateway", "--", str(own), *program.argv[1:]]

    def board_command(self) -> tuple[list[str], Mapping[str, str]]:
        """The command, inside, whose standard input and output lead to the board's socket; and its environment.

        Raises:
            SandboxError: This machine's Python can not be shown.
        """
        return [*_python(find_python_runtime()), _RELAY_INSIDE, "join", f"{_RUN}/board"], _OF_INTERPRETER


def _python(runtime: PythonRuntime) -> list[str]:
    return [runtime.program, "-P", "-s", "-S", "-B"]


def _settings(values: Mapping[str, str]) -> list[str]:
    return [word for name, value in values.items() for word in ("--setenv", name, value)]


def _system() -> list[str]:
    """The system's programs and libraries, as this host lays them out."""
    words: list[str] = []
    for name in SYSTEM:
        path = Path(name)
        if path.is_symlink():
            words += ["--symlink", str(path.readlink()), name]
        elif path.is_dir():
            words += ["--ro-bind", name, name]
    return [*words, *(word for name in _HOST_FILES for word in ("--ro-bind-try", name, name))]


def _interpreter(runtime: PythonRuntime) -> list[str]:
    """The Python for our own code inside; its libraries go by their own folder, not by the system's."""
    words = ["--ro-bind", str(runtime.interpreter), runtime.program]
    words += ["--ro-bind", str(runtime.library), runtime.library_inside]
    for name, path in runtime.shared.items():
        words += ["--ro-bind", str(path), f"{PYTHON}/so/{name}"]
    loader = runtime.loader
    if loader is not None and not any(PurePosixPath(str(loader)).is_relative_to(folder) for folder in SYSTEM):
        words += ["--ro-bind", str(loader), str(loader)]
    return words
