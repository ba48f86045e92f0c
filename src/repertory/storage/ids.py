"""Ids: what users may choose, and those that are made here."""

import secrets
import threading
import time

from repertory.errors import UsageError

__all__ = ("MAX_ID_CHARS", "check_id", "new_session_id", "new_turn_id")

MAX_ID_CHARS = 200
"""Longest team, user or session id, in characters."""

# Crockford's base 32, lower case: sorts like the numbers it writes, and has no letters that are misread.
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_RANDOM_BITS = 80


def check_id(kind: str, text: str) -> str:
    """Return an id as it is, if it is one: 1 to 200 characters of any Unicode text but NUL.

    Raises:
        UsageError: It is empty, too long, or not Unicode text.
    """
    hint = f"give 1 to {MAX_ID_CHARS} characters of text"
    if not text:
        message = f"the {kind} id is empty"
        raise UsageError(message, hint=hint)
    if len(text) > MAX_ID_CHARS:
        message = f"the {kind} id has {len(text)} characters"
        raise UsageError(message, hint=hint)
    if "\x00" in text or any("\ud800" <= char <= "\udfff" for char in text):
        message = f"the {kind} id holds a NUL or a character that is not Unicode"
        raise UsageError(message, hint=hint)
    return text


def _encode(number: int, length: int) -> str:
    digits: list[str] = []
    for _ in range(length):
        number, digit = divmod(number, 32)
        digits.append(_ALPHABET[digit])
    return "".join(reversed(digits))


class _TurnIds:
    """ULIDs (https://github.com/ulid/spec): 48 bits of milliseconds, 80 random bits, rising within a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def new(self) -> str:
        number = (time.time_ns() // 1_000_000 << _RANDOM_BITS) | secrets.randbits(_RANDOM_BITS)
        with self._lock:
            # Two in one millisecond, or a clock that was set back: the next one still sorts after the last.
            self._last = number = max(number, self._last + 1)
        return f"t{_encode(number, 26)}"


_turn_ids = _TurnIds()


def new_turn_id() -> str:
    """A new turn id. It is made from the real time, not from the turn's clock, so that ids sort by creation."""
    return _turn_ids.new()


def new_session_id(number: int) -> str:
    """A short readable session id such as `s3-k7qd`; the random end keeps an erased session's id from coming back."""
    return f"s{number}-{_encode(secrets.randbits(20), 4)}"
