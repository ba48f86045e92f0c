"""Messages on a pipe: one letter that says what it is, the length, and that many bytes."""

import os
import select
import struct
import time
from typing import NamedTuple

__all__ = ("HEADER", "BrokenFrameError", "Frame", "FrameReader", "pack_header", "send_frame", "wipe")

HEADER = struct.Struct(">cI")


class BrokenFrameError(Exception):
    """The other side sent something that is no message, too much, or only a part."""


class Frame(NamedTuple):
    """One message. The body can be overwritten once it was used (`wipe`)."""

    kind: bytes
    body: bytearray


def pack_header(kind: bytes, length: int) -> bytes:
    """The bytes before a body."""
    return HEADER.pack(kind, length)


def wipe(body: bytearray) -> None:
    """Overwrite a body, so that a process forked later can not find it in its memory."""
    body[:] = bytes(len(body))


def send_frame(fd: int, kind: bytes, body: bytes | bytearray, deadline: float | None = None) -> None:
    """Write a whole message.

    Raises:
        TimeoutError: The other side did not take it before `deadline` (`time.monotonic`).
        OSError: The other side is gone.
    """
    parts: list[memoryview] = [memoryview(pack_header(kind, len(body))), memoryview(body)]
    for part in parts:
        view = part
        while view:
            if deadline is not None and not _ready(fd, select.POLLOUT, deadline):
                raise TimeoutError
            # With POLLOUT a pipe takes this much without blocking.
            view = view[os.write(fd, view[: select.PIPE_BUF] if deadline is not None else view) :]


def _ready(fd: int, event: int, deadline: float) -> bool:
    poll = select.poll()
    poll.register(fd, event)
    return bool(poll.poll(max(0.0, deadline - time.monotonic()) * 1000))


class FrameReader:
    """Takes messages from a pipe as their bytes come, never waiting for the rest of one unless told to.

    Args:
        fd: The pipe.
        max_bytes: The longest body that is taken.
    """

    def __init__(self, fd: int, max_bytes: int) -> None:
        self.fd = fd
        self.max_bytes = max_bytes
        self._head = bytearray()
        self._kind = b""
        self._body: bytearray | None = None
        self._have = 0

    def advance(self) -> Frame | None:
        """Read once what is there; the message, when that completes it.

        Raises:
            EOFError: The other side closed the pipe.
            BrokenFrameError: It closed it within a message, or the body is too long.
        """
        if self._body is None:
            got = os.read(self.fd, HEADER.size - len(self._head))
            self._head += got
            if not got:
                raise BrokenFrameError if self._head else EOFError
            if len(self._head) < HEADER.size:
                return None
            self._kind, length = HEADER.unpack(self._head)
            self._head.clear()
            if length > self.max_bytes:
                message = f"a message of {length} bytes"
                raise BrokenFrameError(message)
            self._body, self._have = bytearray(length), 0
            if length:
                return None
        else:
            with memoryview(self._body) as view:
                got = os.readv(self.fd, [view[self._have :]])
            if not got:
                raise BrokenFrameError
            self._have += got
        if self._have < len(self._body):
            return None
        frame, self._body = Frame(self._kind, self._body), None
        return frame

    def read(self, deadline: float | None = None) -> Frame:
        """Wait for a whole message.

        Raises:
            TimeoutError: It did not come before `deadline` (`time.monotonic`).
            EOFError: The other side closed the pipe.
            BrokenFrameError: What came is no message.
        """
        while True:
            if deadline is not None and not _ready(self.fd, select.POLLIN, deadline):
                raise TimeoutError
            frame = self.advance()
            if frame is not None:
                return frame
