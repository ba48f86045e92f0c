"""Where the model store keeps what, and the few ways in which it touches the disk.

blobs/sha256-HEX        whole files, verified before they get this name
names/NAME.json         which file a name stands for
partial/HEX/            what is here of a file that is being fetched
locks/HEX.lock          held while a file is fetched or removed
"""

import contextlib
import hashlib
import os
import shutil
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from repertory.errors import ModelStoreError

__all__ = ("StoreLayout", "hash_file", "require_space", "write_atomically")

_BLOCK_BYTES = 4 * 1024 * 1024
_WAIT_S = 0.5
_SPARE_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class StoreLayout:
    """The places inside one store."""

    root: Path

    @property
    def names(self) -> Path:
        """The folder of manifests."""
        return self.root / "names"

    @property
    def partials(self) -> Path:
        """The folder of unfinished files."""
        return self.root / "partial"

    def blob(self, sha256: str) -> Path:
        """The place of a whole file."""
        return self.root / "blobs" / f"sha256-{sha256}"

    def partial(self, sha256: str) -> Path:
        """The folder for an unfinished file."""
        return self.partials / sha256

    @contextmanager
    def lock(self, sha256: str, waiting: Callable[[], None]) -> Generator[None]:
        """Hold the lock of a file. `waiting` is called now and then while somebody else has it."""
        folder = self.root / "locks"
        make_folder(folder)
        lock = FileLock(folder / f"{sha256}.lock", thread_local=False)
        wait_s = 0.0
        while not lock.is_locked:
            try:
                lock.acquire(timeout=wait_s, poll_interval=0.1)
            except Timeout:
                waiting()
                wait_s = _WAIT_S
        try:
            yield
        finally:
            lock.release()


def make_folder(folder: Path) -> None:
    """Make a folder and its parents.

    Raises:
        ModelStoreError: It can not be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"the model store can not be written: {error.strerror or error}"
        raise ModelStoreError(message, where=str(folder), hint="REPERTORY_MODELS moves the model store") from error


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a small file so that a reader sees the old one or the new one, never a part."""
    make_folder(path.parent)
    fresh = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with fresh.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def hash_file(path: Path, seen: Callable[[int], None] | None = None) -> str:
    """SHA-256 of a file; `seen` is told how many bytes were read so far."""
    digest, done = hashlib.sha256(), 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
            done += len(block)
            if seen is not None:
                seen(done)
    return digest.hexdigest()


def require_space(folder: Path, needed_bytes: int) -> None:
    """Check the free space before the first byte is fetched.

    Raises:
        ModelStoreError: There is too little.
    """
    free = shutil.disk_usage(folder).free
    if free < needed_bytes + _SPARE_BYTES:
        message = f"too little disk space: {needed_bytes / 1e6:,.0f} MB are needed, {free / 1e6:,.0f} MB are free"
        hint = "free some space, or move the model store with REPERTORY_MODELS"
        raise ModelStoreError(message, where=str(folder), hint=hint)


def link_or_copy(source: Path, target: Path, seen: Callable[[int], None]) -> None:
    """Give a file a second name, or copy it where the file system can not."""
    target.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        os.link(source.resolve(), target)
        return
    require_space(target.parent, source.stat().st_size)
    done = 0
    with source.open("rb") as old, target.open("wb") as new:
        while block := old.read(_BLOCK_BYTES):
            new.write(block)
            done += len(block)
            seen(done)
        new.flush()
        os.fsync(new.fileno())
