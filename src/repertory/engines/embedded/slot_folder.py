"""Where one engine saves its slot states: a private folder that goes away with the engine.

A slot state holds what a person wrote, so a folder whose owner was killed is removed at the next start. A lock file
beside each folder, held by its owner, tells the living from the dead.
"""

import contextlib
import os
import secrets
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

__all__ = ("slot_folder",)


@contextmanager
def slot_folder(parent: Path) -> Generator[Path]:
    """Make a private folder for one engine, and remove it at the end."""
    parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    _remove_abandoned(parent)
    name = f"{os.getpid()}-{secrets.token_hex(6)}"
    lock = _lock(parent, name)
    with lock:
        folder = parent / name
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            Path(lock.lock_file).unlink(missing_ok=True)


def _lock(parent: Path, name: str) -> BaseFileLock:
    # Not thread-local: the folder may be left in another thread than the one that made it.
    return FileLock(parent / f"{name}.lock", thread_local=False, timeout=0)


def _remove_abandoned(parent: Path) -> None:
    """Remove the folders whose owner is gone. The lock is made before its folder, so a folder is never too young."""
    for lock_file in parent.glob("*-*.lock"):
        with contextlib.suppress(OSError, Timeout), _lock(parent, lock_file.stem):
            shutil.rmtree(parent / lock_file.stem, ignore_errors=True)
            lock_file.unlink(missing_ok=True)
