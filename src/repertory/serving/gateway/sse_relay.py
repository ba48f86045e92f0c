"""Hands a stream of server-sent events on, whole events only, and reads the counts of tokens in passing.

Events are not parsed: the bytes that the engine wrote reach the client. Only an event that holds `"usage"` is looked
at. A client never sees half an event, so that an error event can follow at any point.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Protocol, cast

__all__ = ("EventRelay", "Relay", "UsageCount", "read_usage")

_USAGE = b'"usage"'
_OBJECT = re.compile(rb'"usage"\s*:\s*(\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\})')
_NO_CHOICES = re.compile(rb'"choices"\s*:\s*\[\s*\]')
_MAX_EVENT_BYTES = 8 * 1024 * 1024
_LAST_WORDS = (b"[DONE]", b'"message_stop"', b'"error"', b"event: error", b"event:error", b'"response.completed"')


@dataclass
class UsageCount:
    """Tokens of one request, as the engine counted them; None where it did not say."""

    prompt: int | None = None
    output: int | None = None
    cached: int | None = None

    def take(self, usage: dict[str, object]) -> None:
        """Take what a `usage` object of either API says."""
        prompt = _int(usage.get("prompt_tokens"))
        if prompt is None:
            prompt = _int(usage.get("input_tokens"))
            read, written = _int(usage.get("cache_read_input_tokens")), _int(usage.get("cache_creation_input_tokens"))
            if prompt is not None:
                prompt += (read or 0) + (written or 0)
            self.cached = read if read is not None else self.cached
        details = usage.get("prompt_tokens_details")
        if isinstance(details, dict):
            cached = _int(cast("dict[str, object]", details).get("cached_tokens"))
            self.cached = cached if cached is not None else self.cached
        output = _int(usage.get("completion_tokens"))
        output = output if output is not None else _int(usage.get("output_tokens"))
        self.prompt = prompt if prompt is not None else self.prompt
        self.output = output if output is not None else self.output

    @property
    def total(self) -> int:
        """All tokens known of."""
        return (self.prompt or 0) + (self.output or 0)


def read_usage(data: bytes, count: UsageCount) -> None:
    """Take the last `usage` object in the bytes of an answer.

    A model can not forge it: inside a JSON string its quotes would be escaped.
    """
    at = data.rfind(_USAGE)
    found = _OBJECT.match(data, at) if at >= 0 else None
    if found is None:
        return
    try:
        usage: object = json.loads(found[1])
    except ValueError:
        return
    if isinstance(usage, dict):
        count.take(cast("dict[str, object]", usage))


class Relay(Protocol):
    """Turns the bytes of the engine's stream into those for the client."""

    usage: UsageCount
    events: int

    @property
    def ended(self) -> bool:
        """Whether the stream has come to an end that its API knows."""
        ...

    def feed(self, data: bytes) -> bytes:
        """Take the next bytes; give what can go to the client now."""
        ...


@dataclass
class EventRelay:
    """One stream.

    Args:
        drop_usage: Keep back the event with the counts alone, because the client did not ask for it (we did).
    """

    drop_usage: bool = False
    usage: UsageCount = field(default_factory=UsageCount)
    events: int = 0
    _rest: bytes = b""
    _tail: bytes = b""

    def feed(self, data: bytes) -> bytes:
        """Take the next bytes; give the events that are whole now (empty when none is).

        Raises:
            ValueError: An event is larger than 8 MiB.
        """
        if self._rest:
            data = self._rest + data
        end = data.rfind(b"\n\n")
        cut = end + 2 if end >= 0 else 0
        if b"\r" in data:
            end = data.rfind(b"\r\n\r\n")
            cut = max(cut, end + 4 if end >= 0 else 0)
        self._rest = data[cut:]
        if len(self._rest) > _MAX_EVENT_BYTES:
            message = f"an event of the stream is larger than {_MAX_EVENT_BYTES} bytes"
            raise ValueError(message)
        if not cut:
            return b""
        whole = data if cut == len(data) else data[:cut]
        self.events += whole.count(b"data:")
        self._tail = whole[-256:]
        if _USAGE in whole:
            whole = self._read_usage(whole)
        return whole

    @property
    def ended(self) -> bool:
        """Whether the last whole event was an end that the APIs know (or an error that the engine told)."""
        return not self._rest.strip() and any(word in self._tail for word in _LAST_WORDS)

    def _read_usage(self, whole: bytes) -> bytes:
        kept: list[bytes] = []
        for event in _split(whole):
            if _USAGE in event:
                read_usage(event, self.usage)
                if self.drop_usage and _NO_CHOICES.search(event):
                    continue
            kept.append(event)
        return b"".join(kept)


def _split(whole: bytes) -> list[bytes]:
    """Events with the blank lines that end them."""
    return re.findall(rb".+?(?:\r?\n\r?\n|\Z)", whole, re.DOTALL)


def _int(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
