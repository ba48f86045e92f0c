"""Did-you-mean: the known name that an unknown one was probably meant to be; and names made safe to print."""

import difflib
from collections.abc import Iterable

__all__ = ("nearest", "printable", "quoted")


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known name closest to `word`, or None when none is close."""
    # Cropped, because the comparison is quadratic and the word may come from a hostile file.
    names = {name.lower(): name for name in known}
    found = difflib.get_close_matches(word[:80].lower(), list(names), n=1, cutoff=0.6)
    return names[found[0]] if found else None


def printable(text: str) -> str:
    """The text with every character that could steer a terminal replaced."""
    return "".join(character if character.isprintable() else "�" for character in text)


def quoted(text: str, limit: int = 60) -> str:
    """A name or value from outside, cropped, in backticks and safe to print."""
    return f"`{printable(text[:limit])}...`" if len(text) > limit else f"`{printable(text)}`"
