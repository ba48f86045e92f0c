"""A reader of server-sent events: bytes in, events out, the same events however the bytes are cut.

Written from the grammar in the HTML standard, section "Server-sent events". Two things go further, because engines in
use need it: a field called ``error`` (older llama.cpp servers) makes an event of that name, and an event that the end
of the stream left open is handed out by `SseParser.finish`, marked as not closed.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from repertory.engines.failures import StreamFrameError

__all__ = ("SseEvent", "SseParser")

_BOM = b"\xef\xbb\xbf"
_CR, _LF = 0x0D, 0x0A


@dataclass(frozen=True)
class SseEvent:
    """One event.

    Attributes:
        data: Its data lines, joined by line feeds.
        name: Its type; `message` when the server gave none.
        closed: False when the stream ended before the blank line that ends an event.
    """

    data: str
    name: str = "message"
    closed: bool = True


class SseParser:
    """Turns the bytes of one stream into events.

    Args:
        max_event_bytes: Upper bound of one event, so that a server can not fill the memory with a line that never ends.
    """

    def __init__(self, *, max_event_bytes: int = 8 * 1024 * 1024) -> None:
        self._max = max_event_bytes
        self._line = bytearray()
        self._at_start = True
        self._after_cr = False
        self._data: list[str] = []
        self._data_bytes = 0
        self._name = ""

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Take the next bytes; return the events they complete.

        Raises:
            StreamFrameError: An event is larger than the bound.
        """
        events: list[SseEvent] = []
        for line in self._lines(chunk):
            event = self._take_line(line)
            if event is not None:
                events.append(event)
        return events

    def finish(self) -> SseEvent | None:
        """The event that the end of the stream left open, if it had data."""
        if self._line:
            self._take_line(bytes(self._line))
            self._line.clear()
        return self._close(closed=False)

    def _lines(self, chunk: bytes) -> Iterator[bytes]:
        start = 0
        if self._after_cr and chunk:
            self._after_cr = False
            start = 1 if chunk[0] == _LF else 0
        position = start
        while position < len(chunk):
            cr, lf = chunk.find(b"\r", position), chunk.find(b"\n", position)
            end = min(cr, lf) if cr >= 0 and lf >= 0 else max(cr, lf)
            if end < 0:
                break
            self._line += chunk[position:end]
            self._check_size()
            line = bytes(self._line)
            self._line.clear()
            position = end + 1
            if chunk[end] == _CR:
                if position == len(chunk):
                    self._after_cr = True
                elif chunk[position] == _LF:
                    position += 1
            yield line
        self._line += chunk[position:]
        self._check_size()

    def _check_size(self) -> None:
        if len(self._line) + self._data_bytes > self._max:
            message = f"an event of the stream is larger than {self._max} bytes"
            raise StreamFrameError(message)

    def _take_line(self, line: bytes) -> SseEvent | None:
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BOM)
        if not line:
            return self._close(closed=True)
        name, colon, value = line.partition(b":")
        if not name:
            return None  # a comment
        text = value.removeprefix(b" ").decode("utf-8", "replace") if colon else ""
        if name == b"data":
            self._add(text, len(line))
        elif name == b"event":
            self._name = text
        elif name == b"error":
            self._name = "error"
            self._add(text, len(line))
        return None

    def _add(self, text: str, size: int) -> None:
        self._data.append(text)
        self._data_bytes += size

    def _close(self, *, closed: bool) -> SseEvent | None:
        data, name = self._data, self._name
        self._data, self._name, self._data_bytes = [], "", 0
        if not data:
            return None
        return SseEvent(data="\n".join(data), name=name or "message", closed=closed)
