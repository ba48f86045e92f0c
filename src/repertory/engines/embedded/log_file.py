"""The engine's log: one file per start, a bounded number of them, and the lines that say why an engine ended."""

import contextlib
import os
import re
import secrets
from datetime import UTC, datetime
from pathlib import Path

__all__ = ("new_log", "reasons", "tail")

_KEPT = 20
_TAIL_BYTES = 64 * 1024
_ERROR_LINE = re.compile(r"^[\d.]+ E \s*(?:\S+\s+\S+?:\s+)?(?P<text>.+)$")
_OTHER_LINE = re.compile(r"^[\d.]+ [A-Z] ")
_PLAIN_ERROR = re.compile(r"error|exception|abort|assert|failed|out of memory|terminate called", re.IGNORECASE)


def new_log(folder: Path, name: str) -> Path:
    """Create an empty log file for one start of an engine, and remove the oldest ones beyond twenty."""
    folder.mkdir(parents=True, exist_ok=True)
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    path = folder / f"{name}-{stamp}-{secrets.token_hex(3)}.log"
    # The log can hold parts of prompts: only its owner reads it.
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    # Starts within one second share a stamp, so the new file is kept by name and not by its place in the order.
    others = sorted(log for log in folder.glob(f"{name}-*.log") if log != path)
    for old in others[: max(0, len(others) + 1 - _KEPT)]:
        with contextlib.suppress(OSError):
            old.unlink()
    return path


def tail(path: Path, lines: int = 8) -> list[str]:
    """The last lines of a log; empty when there is none."""
    try:
        with path.open("rb") as log:
            log.seek(0, os.SEEK_END)
            log.seek(max(0, log.tell() - _TAIL_BYTES))
            text = log.read().decode("utf-8", "replace")
    except OSError:
        return []
    return [line.rstrip() for line in text.splitlines() if line.strip()][-lines:]


def reasons(path: Path, limit: int = 3) -> list[str]:
    """What the log gives as reasons for the end: its last lines marked as errors, else those that read like one."""
    lines = tail(path, 200)
    marked = [match["text"] for line in lines if (match := _ERROR_LINE.match(line))]
    found = marked or [line for line in lines if _PLAIN_ERROR.search(line) and not _OTHER_LINE.match(line)]
    return list(dict.fromkeys(found))[-limit:]
