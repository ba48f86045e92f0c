"""A reader of newline-delimited JSON (Ollama): bytes in, lines out, the same lines however the bytes are cut."""

from repertory.engines.failures import StreamFrameError

__all__ = ("JsonLineParser",)


class JsonLineParser:
    """Turns the bytes of one stream into its lines that are not blank.

    Args:
        max_line_bytes: Upper bound of one line.
    """

    def __init__(self, *, max_line_bytes: int = 8 * 1024 * 1024) -> None:
        self._max = max_line_bytes
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> list[str]:
        """Take the next bytes; return the lines they complete.

        Raises:
            StreamFrameError: A line is larger than the bound.
        """
        searched = len(self._rest)
        self._rest += chunk
        lines: list[str] = []
        start = 0
        while (end := self._rest.find(b"\n", max(start, searched))) >= 0:
            lines.append(self._decode(bytes(self._rest[start:end])))
            start = end + 1
        del self._rest[:start]
        if len(self._rest) > self._max:
            message = f"a line of the stream is larger than {self._max} bytes"
            raise StreamFrameError(message)
        return [line for line in lines if line]

    def finish(self) -> str | None:
        """The line that the end of the stream left open, if it is not blank."""
        line = self._decode(bytes(self._rest))
        self._rest.clear()
        return line or None

    @staticmethod
    def _decode(line: bytes) -> str:
        return line.decode("utf-8", "replace").removeprefix("\ufeff").strip()
