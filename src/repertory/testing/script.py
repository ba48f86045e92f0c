"""What a scripted engine sends: exact bytes, pauses, and ways to end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

__all__ = ("Cut", "Hang", "Pause", "Script", "Send", "Step")

_NO_HEADERS: Mapping[str, str] = {}


@dataclass(frozen=True)
class Send:
    """Send these bytes as one write."""

    data: bytes


@dataclass(frozen=True)
class Pause:
    """Wait this many seconds."""

    seconds: float


@dataclass(frozen=True)
class Hang:
    """Send nothing more and keep the connection open until the client leaves."""


@dataclass(frozen=True)
class Cut:
    """Break the connection off, so that the client sees an end in the middle."""


Step = Send | Pause | Hang | Cut


@dataclass(frozen=True)
class Script:
    """One whole HTTP answer.

    Attributes:
        steps: What is sent, in order. After the last step the body ends properly.
        status: The HTTP status.
        content_type: The body's type.
        headers: More headers.
    """

    steps: Sequence[Step] = ()
    status: int = 200
    content_type: str = "text/event-stream"
    headers: Mapping[str, str] = field(default_factory=lambda: _NO_HEADERS)

    @property
    def body(self) -> bytes:
        """All bytes that are sent."""
        return b"".join(step.data for step in self.steps if isinstance(step, Send))

    def cut_into(self, size: int) -> "Script":
        """The same bytes in pieces of `size` bytes; pauses and ends are left out."""
        body = self.body
        pieces = tuple(Send(body[start : start + size]) for start in range(0, len(body), size))
        return replace(self, steps=pieces)
