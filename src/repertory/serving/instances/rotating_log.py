"""A log that one process writes and that never grows beyond its parts; only the oldest part is ever dropped."""

import contextlib
import os
from pathlib import Path

__all__ = ("RotatingLog", "log_parts", "read_tail")

_LONGEST_LINE = 64 * 1024


class RotatingLog:
    """Appends to `path`, and when that is full moves it to `path.1`, `path.2` and so on, at the end of a line.

    Args:
        path: The current part.
        part_bytes: Size at which a part is full.
        parts: How many full parts are kept beside the current one.

    Attributes:
        total_bytes: All bytes taken so far, also those that could not be written.
        lost_bytes: Bytes that the disk did not take.
    """

    def __init__(self, path: Path, *, part_bytes: int = 8 * 1024 * 1024, parts: int = 3) -> None:
        self.total_bytes = 0
        self.lost_bytes = 0
        self._path = path
        self._part_bytes = part_bytes
        self._parts = parts
        self._pending = b""
        self._file = -1
        self._size = 0
        self._open()

    def write(self, data: bytes) -> None:
        """Take what the engine printed. Whole lines are written; the rest waits for its end."""
        self.total_bytes += len(data)
        whole, newline, rest = (self._pending + data).rpartition(b"\n")
        self._pending = rest
        if newline:
            self._append(whole + newline)
        if len(self._pending) >= _LONGEST_LINE:
            self._append(self._pending)
            self._pending = b""

    def close(self) -> None:
        """Write what is left of an unfinished line."""
        if self._pending:
            self._append(self._pending + b"\n")
            self._pending = b""
        with contextlib.suppress(OSError):
            os.close(self._file)

    def _append(self, data: bytes) -> None:
        while data:
            room = self._part_bytes - self._size
            head, data = (data, b"") if len(data) <= room else _split_at_line(data, max(room, 0))
            if head:
                self._put(head)
            if data:
                if self._size == 0:  # a single line that no part holds
                    self._put(data)
                    return
                self._rotate()

    def _put(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
                written = os.write(self._file, view)
                self._size += written
                view = view[written:]
        except OSError:  # the disk is full: the engine must not be held up by its log
            self.lost_bytes += len(view)

    def _rotate(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self._file)
        names = [self._path, *(_part(self._path, number) for number in range(1, self._parts + 1))]
        for older, newer in zip(reversed(names), list(reversed(names))[1:], strict=False):
            with contextlib.suppress(OSError):
                newer.replace(older)
        self._open()

    def _open(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        # The log can hold parts of prompts: only its owner reads it.
        self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._size = os.fstat(self._file).st_size


def log_parts(path: Path) -> list[Path]:
    """The parts of a log that are there, oldest first."""
    older = sorted(
        (part for part in path.parent.glob(f"{path.name}.*") if part.suffix[1:].isdecimal()),
        key=lambda part: -int(part.suffix[1:]),
    )
    return [*older, path] if path.exists() else older


def read_tail(path: Path, lines: int) -> list[str]:
    """The last lines of a log over all its parts."""
    found: list[str] = []
    for part in reversed(log_parts(path)):
        try:
            text = part.read_bytes().decode("utf-8", "replace")
        except OSError:  # rotated away meanwhile
            continue
        found = text.splitlines()[-(lines - len(found)) :] + found
        if len(found) >= lines:
            break
    return found


def _part(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.{number}")


def _split_at_line(data: bytes, room: int) -> tuple[bytes, bytes]:
    end = data.rfind(b"\n", 0, room) + 1
    return data[:end], data[end:]
