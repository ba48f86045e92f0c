"""Packages as folders: read without following anything out of them, written in one piece."""

import os
import secrets
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path

from repertory.errors import PackageError, RegistryError
from repertory.registry.package import MAX_FILE_BYTES, MAX_FILES, check_path

__all__ = ("read_folder", "write_folder")

_NOT_PART = {"__pycache__", ".git", ".pytest_cache", ".ruff_cache"}
"""Folders that tools leave behind; they are passed over."""


def read_folder(folder: Path) -> dict[str, bytes]:
    """The files of a folder, by path.

    Raises:
        PackageError: It holds a link or something else that is no file, too many files, or too large ones.
    """
    files: dict[str, bytes] = {}
    places = [(folder, "")]
    while places:
        place, prefix = places.pop()
        try:
            entries = sorted(os.scandir(place), key=lambda entry: entry.name)
        except OSError as error:
            message = f"the folder can not be read: {error.strerror}"
            raise PackageError(message, where=str(place)) from None
        for entry in entries:
            path = f"{prefix}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in _NOT_PART:
                    places.append((place / entry.name, f"{path}/"))
                continue
            files[check_path(path)] = _read(place / entry.name, path)
            if len(files) > MAX_FILES:
                message = f"a package has at most {MAX_FILES} files"
                raise PackageError(message, where=str(folder))
    return files


def _read(place: Path, path: str) -> bytes:
    try:
        # The open itself refuses a link, so that nobody can put one there in between; a pipe does not make it wait.
        with os.fdopen(os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise PackageError("this is no file", where=path, hint="a package holds plain files only, no links")
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError:
        hint = "a package holds plain files only, no links"
        raise PackageError("this file can not be read, or it is a link", where=path, hint=hint) from None
    if len(content) > MAX_FILE_BYTES:
        message = f"the file is larger than {MAX_FILE_BYTES} bytes"
        raise PackageError(message, where=path)
    return content


def write_folder(files: Mapping[str, bytes], target: Path) -> None:
    """Write files into a new folder. It is there whole or not at all.

    Raises:
        RegistryError: Something is there already, or it can not be written.
    """
    if target.exists() or target.is_symlink():
        raise RegistryError("something is there already", where=str(target), hint="name another place")
    draft = target.with_name(f".{target.name}-{secrets.token_hex(8)}")
    try:
        draft.mkdir(parents=True)
        for path, content in files.items():
            place = draft / check_path(path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        draft.rename(target)
    except OSError as error:
        shutil.rmtree(draft, ignore_errors=True)
        message = f"it can not be written: {error.strerror or error}"
        raise RegistryError(message, where=str(target)) from None
