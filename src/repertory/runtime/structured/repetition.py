"""Notices text that repeats one chunk again and again, while it is written."""

__all__ = ("RepetitionDetector",)

_KEPT = 4096
"""Characters remembered."""
_PROBE = 24
"""A repeat is looked for by the last so many characters."""
_EVERY = 32
"""Characters between two looks."""
_FEWEST = 4
"""Repeats of a chunk below which nothing is called a loop."""


class RepetitionDetector:
    """Fires when the end of the text is one chunk, four times or more, over at least `span` characters.

    Chunks of up to about a thousand characters are seen. A text in which no chunk repeats over `span` characters never
    fires it.
    """

    def __init__(self, span: int = 240) -> None:
        self._span = span
        self._text = ""
        self._unseen = 0

    def reset(self) -> None:
        """Forget the text; a new one begins."""
        self._text, self._unseen = "", 0

    def feed(self, text: str) -> bool:
        """Take the next text; whether it repeats by now."""
        for start in range(0, len(text), _EVERY):
            piece = text[start : start + _EVERY]
            self._text = (self._text + piece)[-_KEPT:]
            self._unseen += len(piece)
            if self._unseen >= _EVERY and len(self._text) >= self._span:
                self._unseen = 0
                if self._repeats():
                    return True
        return False

    def _repeats(self) -> bool:
        text = self._text
        probe = text[-_PROBE:]
        before = text.rfind(probe, 0, len(text) - 1)
        if before < 0:
            return False
        period = len(text) - _PROBE - before
        chunk = text[-period:]
        needed = max(_FEWEST, -(-self._span // period))
        return len(text) >= needed * period and text.endswith(chunk * needed)
