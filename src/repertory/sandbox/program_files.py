"""Which files of the host a program is made of, so that its sandbox can show those and no others."""

import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from repertory.errors import SandboxError

__all__ = ("SYSTEM", "program_files", "require_readable")

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
"""The system's own programs and libraries, which every program sees."""

_BIN = {"bin", ".bin"}
_LINKS = 20


def program_files(command: Sequence[str], *, search: str | None = None, private: Iterable[Path] = ()) -> list[Path]:
    """What must be shown for a command to run, beside the system's own programs: the first is the program itself.

    A program in a `bin` folder is shown with the folder around it (an environment of Python or Node); any other as
    the one file. Files that the command names by their absolute path are shown too.

    Args:
        command: The program, by path or by name, and its arguments.
        search: The path list on which a program without a folder is looked for; None takes the environment's.
        private: Folders that are never shown, nor any folder that holds them.

    Raises:
        SandboxError: There is no such program.
    """
    found = shutil.which(command[0], path=search)
    if found is None:
        message = f"there is no program {command[0]!r}"
        raise SandboxError(message, hint="install it, or give its absolute path")
    program = Path(found).absolute()
    hidden = [Path.home(), *private]
    shown = [program]
    for place in _links(program):
        root = place.parent.parent
        whole = place.parent.name in _BIN and root != root.parent and not any(h.is_relative_to(root) for h in hidden)
        shown.append(root if whole else place)
    shown += [Path(word) for word in command[1:] if word.startswith("/") and Path(word).is_file()]
    outside = [path for path in shown[1:] if not _of_system(path)]
    return [program, *dict.fromkeys(path for path in outside if not _inside(path, outside))]


def require_readable(paths: Iterable[str]) -> list[Path]:
    """The paths that a user lets a program read.

    Raises:
        SandboxError: One is not absolute, is not there, or is the whole file system.
    """
    found: list[Path] = []
    for text in paths:
        path = Path(text)
        if not path.is_absolute() or not path.exists() or path.resolve() == Path("/"):
            message = f"the harness's `readable` names {text!r}, which is no absolute path of a file or folder"
            raise SandboxError(message, hint="name what the program needs, and not the whole file system")
        found.append(path)
    return found


def _links(path: Path) -> list[Path]:
    """A path and where its symbolic links lead, one after the other."""
    places = [path]
    while path.is_symlink() and len(places) < _LINKS:
        path = Path(os.path.normpath(path.parent / path.readlink()))
        places.append(path)
    if path.resolve() != path:
        places.append(path.resolve())
    return places


def _of_system(path: Path) -> bool:
    return any(path.is_relative_to(folder) for folder in SYSTEM)


def _inside(path: Path, others: Iterable[Path]) -> bool:
    return any(path != other and path.is_relative_to(other) for other in others)
