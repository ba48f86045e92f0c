"""Computed prompt prefixes of sessions, kept on disk so that an engine need not compute them again.

A state is the KV cache of a prompt's beginning, written by the engine. It holds what a person said, so it belongs to
that person alone: nobody else's prompt ever finds it, and erasing the person removes it. It is a cache and nothing
more: every state is checked against its digest before it is used, and whatever is wrong with it, it is dropped.

Several processes may share the folder. The index is replaced as a whole under a lock and read without one; a state is
named by chance, never after anybody's text.
"""

import contextlib
import hashlib
import os
import secrets
import shutil
import stat
import threading
import time
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from repertory.errors import StorageError

__all__ = ("KeptPrefix", "PrefixStates", "default_budget_bytes")

_GIB = 1024**3
_MOST_BYTES = 4 * _GIB
_SHARE_OF_DISK = 0.1
_KEPT_FREE_BYTES = _GIB // 2
"""States are never what fills the disk: below this, none is added."""
_LOCK_S = 10.0
_ABANDONED_S = 900.0
"""A file that was set aside is taken in or thrown away within a turn; older ones are of a process that died."""
_INDEX, _LOCK = "index.json", "index.lock"
_STATE, _PART = ".state", ".part"

_Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_Size = Annotated[int, Field(ge=0)]


class KeptPrefix(BaseModel):
    """One state.

    Attributes:
        file: Its name in the folder.
        engine: Digest of everything that a state depends on: engine build, checkpoint, type of the KV cache.
        owner: Digest of the user it belongs to.
        prefix: Digest of the prompt's beginning, in the bytes that the engine reads; they decide the tokens.
        prefix_bytes: How long that beginning is.
        tokens: How many tokens it is.
        size: Of the file, in bytes.
        digest: Of the file.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    file: Annotated[str, Field(pattern=r"^[0-9a-f]{32}\.state$")]
    engine: _Digest
    owner: _Digest
    prefix: _Digest
    prefix_bytes: _Size
    tokens: _Size
    size: _Size
    digest: _Digest


class _Index(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int = Field(default=1, ge=1, le=1)
    erasures: int = 0
    """How often somebody was erased: what was set aside before the last time is not taken in any more."""
    kept: tuple[KeptPrefix, ...] = ()


def default_budget_bytes(folder: Path) -> int:
    """The smaller of 4 GiB and a tenth of what is free on the folder's disk (or was, before states were kept)."""
    place = next((level for level in (folder, *folder.parents) if level.exists()), Path("/"))
    with contextlib.suppress(OSError):
        kept = sum(path.stat().st_size for path in folder.glob(f"*{_STATE}"))
        return min(_MOST_BYTES, int((shutil.disk_usage(place).free + kept) * _SHARE_OF_DISK))
    return 0


class PrefixStates:
    """The states of a folder. All methods block; any thread may call them.

    Args:
        folder: Private to us; made when the first state is taken in.
        budget_bytes: How much all states may take; 0 keeps none. None takes `default_budget_bytes`.
    """

    def __init__(self, folder: Path, budget_bytes: int | None = None) -> None:
        self.folder = folder
        self.budget_bytes = default_budget_bytes(folder) if budget_bytes is None else budget_bytes
        self._held: Counter[str] = Counter()
        self._holding = threading.Lock()

    def erasures(self) -> int:
        """The number that `take_in` wants: a state made before somebody was erased may be of that person."""
        return self._read().erasures

    def find(self, *, engine: str, owner: str, prefix: bytes) -> KeptPrefix | None:
        """The state that covers most of a prompt's beginning; None when there is none of this engine and user."""
        owner = _owner(owner)
        known = [item for item in self._read().kept if item.engine == engine and item.owner == owner]
        digest, read, best = hashlib.sha256(), 0, None
        for item in sorted(known, key=lambda item: item.prefix_bytes):
            if item.prefix_bytes > len(prefix):
                break
            digest.update(prefix[read : item.prefix_bytes])
            read = item.prefix_bytes
            if digest.hexdigest() == item.prefix:
                best = item
        return best

    @contextmanager
    def holding(self, kept: KeptPrefix) -> Generator[None]:
        """Keep a state from being evicted inside the block, because it runs next."""
        with self._holding:
            self._held[kept.file] += 1
        try:
            yield
        finally:
            with self._holding:
                self._held[kept.file] -= 1

    def hand_out(self, kept: KeptPrefix, target: Path) -> bool:
        """Put a state where the engine reads it, as a link or a copy; a state that is not whole is dropped instead.

        Returns:
            Whether `target` is there now. It may be removed when it was read.
        """
        source = self.folder / kept.file
        try:
            try:
                os.link(source, target, follow_symlinks=False)
            except OSError:  # another file system
                shutil.copyfile(source, target, follow_symlinks=False)
            if _is_whole(target, kept):
                with contextlib.suppress(OSError):
                    os.utime(source)  # it was used now
                return True
        except OSError:
            pass
        target.unlink(missing_ok=True)
        self.drop(kept)
        return False

    def set_aside(self, path: Path) -> Path | None:
        """Take a file that the engine has written out of its way; `take_in` or `throw_away` must follow. Quick."""
        if self.budget_bytes <= 0:
            return None
        part = self.folder / f"{secrets.token_hex(16)}{_PART}"
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.rename(part)
        except OSError:
            return None
        return part

    @staticmethod
    def throw_away(part: Path) -> None:
        """Remove what was set aside."""
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)

    def take_in(self, part: Path, *, engine: str, owner: str, prefix: bytes, tokens: int, erasures: int) -> bool:
        """Keep what was set aside, in place of the owner's states that it continues, within the budget.

        Args:
            part: What `set_aside` gave.
            engine: Digest of what the state depends on.
            owner: The user.
            prefix: The prompt's beginning that it is of.
            tokens: How many tokens that is.
            erasures: What `erasures` said before the prompt was made.

        Returns:
            Whether it is kept; if not, it is gone.
        """
        try:
            size, digest = _measure(part, make_private=True)
            new = KeptPrefix(
                file=f"{secrets.token_hex(16)}{_STATE}",
                engine=engine,
                owner=_owner(owner),
                prefix=hashlib.sha256(prefix).hexdigest(),
                prefix_bytes=len(prefix),
                tokens=tokens,
                size=size,
                digest=digest,
            )
            with self._locked():
                return self._take_in(part, new, prefix, erasures)
        except (OSError, Timeout):
            return False
        finally:
            self.throw_away(part)

    def drop(self, kept: KeptPrefix) -> None:
        """Remove a state that turned out to be of no use."""
        with contextlib.suppress(OSError, Timeout), self._locked():
            index = self._read()
            self._write(index.model_copy(update={"kept": tuple(item for item in index.kept if item != kept)}))
            self.throw_away(self.folder / kept.file)

    def erase(self, owner: str) -> int:
        """Remove a user's states, and whatever is on its way to be kept; how many there were.

        Raises:
            StorageError: They can not be removed now.
        """
        if not self.folder.is_dir():
            return 0
        owner = _owner(owner)
        try:
            with self._locked():
                index = self._whole_index()
                kept = tuple(item for item in index.kept if item.owner != owner)
                self._write(_Index(erasures=index.erasures + 1, kept=kept))
                self._sweep(kept, older_than_s=0.0)
                _sync(self.folder)
        except Timeout as error:
            message = f"another process has kept the saved prompts locked for {_LOCK_S:.0f} s"
            raise StorageError(message, where=str(self.folder), hint="end it, and erase again") from error
        except OSError as error:
            message = f"saved prompts can not be removed: {error.strerror or error}"
            raise StorageError(message, where=str(self.folder), hint="remove the folder, or erase again") from error
        return len(index.kept) - len(kept)

    def sweep(self) -> None:
        """Remove what processes that were killed have left behind."""
        if self.folder.is_dir():
            with contextlib.suppress(OSError, Timeout), self._locked():
                self._sweep(self._whole_index().kept, older_than_s=_ABANDONED_S)

    def _take_in(self, part: Path, new: KeptPrefix, prefix: bytes, erasures: int) -> bool:
        index = self._whole_index()
        if index.erasures != erasures:
            return False
        kept = [item for item in index.kept if not _continues(new, prefix, item)]
        free = shutil.disk_usage(self.folder).free + sum(item.size for item in index.kept if item not in kept)
        if free < _KEPT_FREE_BYTES:
            return False
        evicted = self._evict(kept, self.budget_bytes - new.size)
        if evicted is None:
            return False
        # The file before its entry: a crash between the two leaves a file that no entry names, which is swept away.
        part.rename(self.folder / new.file)
        kept = [*(item for item in kept if item not in evicted), new]
        self._write(index.model_copy(update={"kept": tuple(kept)}))
        self._sweep(kept, older_than_s=_ABANDONED_S)
        return True

    def _evict(self, kept: Sequence[KeptPrefix], room: int) -> list[KeptPrefix] | None:
        """Which states make way, the longest unused first, until the others fit into `room`; None if that is too few.

        A state that runs next stays: it would be computed again at once, which is what it is kept against.
        """
        with self._holding:
            held = {file for file, count in self._held.items() if count > 0}
        taken, evicted = sum(item.size for item in kept), list[KeptPrefix]()
        for item in sorted(kept, key=self._used):
            if taken <= room:
                break
            if item.file not in held:
                evicted.append(item)
                taken -= item.size
        return evicted if taken <= room else None

    def _used(self, kept: KeptPrefix) -> int:
        try:
            return (self.folder / kept.file).stat().st_mtime_ns
        except OSError:
            return 0

    def _sweep(self, kept: Sequence[KeptPrefix], *, older_than_s: float) -> None:
        """Remove states that no entry names, and what was set aside long ago."""
        named = {item.file for item in kept}
        for path in self.folder.iterdir():
            if path.suffix not in {_STATE, _PART} or path.name in named:
                continue
            with contextlib.suppress(FileNotFoundError):  # another thread has just renamed or removed it
                if path.suffix == _STATE or time.time() - path.stat().st_mtime >= older_than_s:
                    path.unlink()

    @contextmanager
    def _locked(self) -> Generator[None]:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with FileLock(self.folder / _LOCK, timeout=_LOCK_S, mode=0o600, thread_local=False):
            yield

    def _read(self) -> _Index:
        """The index; an empty one when it is damaged, so that no state of an unknown owner is used."""
        return self._load() or _Index()

    def _whole_index(self) -> _Index:
        """The index, to be changed; a new one in place of one that is damaged."""
        index = self._load()
        if index is None:
            # The old one may have counted erasures that we do not know of: what was set aside until now is not kept.
            index = _Index(erasures=1 + secrets.randbits(48))
            self._write(index)
        return index

    def _load(self) -> _Index | None:
        try:
            return _Index.model_validate_json((self.folder / _INDEX).read_bytes())
        except FileNotFoundError:
            return _Index()
        except (OSError, ValidationError):
            return None

    def _write(self, index: _Index) -> None:
        draft = self.folder / f"{secrets.token_hex(16)}{_PART}"
        file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(file, "wb") as opened:
                opened.write(index.model_dump_json().encode())
                opened.flush()
                os.fsync(opened.fileno())
            draft.replace(self.folder / _INDEX)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise


def _owner(user: str) -> str:
    return hashlib.sha256(b"user\0" + user.encode("utf-8", "surrogatepass")).hexdigest()


def _continues(new: KeptPrefix, prefix: bytes, old: KeptPrefix) -> bool:
    """Whether a new state makes an old one superfluous: it begins with all that the old one holds."""
    if (new.engine, new.owner) != (old.engine, old.owner) or old.prefix_bytes > len(prefix):
        return False
    return hashlib.sha256(prefix[: old.prefix_bytes]).hexdigest() == old.prefix


def _measure(path: Path, *, make_private: bool = False) -> tuple[int, str]:
    """Size and digest of a file that is one, and no link to another."""
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(file, "rb") as opened:
        status = os.fstat(opened.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError("not a file")
        if make_private:
            os.fchmod(opened.fileno(), 0o600)
        return status.st_size, hashlib.file_digest(opened, "sha256").hexdigest()


def _is_whole(path: Path, kept: KeptPrefix) -> bool:
    return path.lstat().st_size == kept.size and _measure(path) == (kept.size, kept.digest)


def _sync(folder: Path) -> None:
    """Make removals last: an erased person's state must not come back with the power."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
