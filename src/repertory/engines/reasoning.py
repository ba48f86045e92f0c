"""Splits thinking that a model wrote into its answer (leaked think tags) from the answer itself, as it streams."""

import re
from dataclasses import dataclass

__all__ = ("Piece", "ThinkSplitter", "strip_thinking")

_PAIRS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<reasoning>": "</reasoning>",
    "[THINK]": "[/THINK]",
    "<seed:think>": "</seed:think>",
    "<|START_THINKING|>": "<|END_THINKING|>",
    "\u25c1think\u25b7": "\u25c1/think\u25b7",
}
_OPENINGS = tuple(_PAIRS)
_CLOSINGS = tuple(_PAIRS.values())
_LONGEST = max(len(tag) for tag in (*_OPENINGS, *_CLOSINGS))
_MAX_HELD = 64
"""White space held back at most, so that a loop of white space is seen by whoever watches the stream."""
_STRAY_CLOSE = re.compile(r"(?:\A|\n)[ \t]*(?:" + "|".join(re.escape(tag) for tag in _CLOSINGS) + r")[ \t]*(?=\n|\Z)")


@dataclass(frozen=True)
class Piece:
    """A piece of text, thinking or answer."""

    text: str
    thinking: bool


class ThinkSplitter:
    """Splits one stream of text.

    A think tag counts at the beginning of the text, or (in free text) alone at the beginning of a line; anywhere else
    it is text about tags, which people do write. A block that is never closed runs to the end.

    Args:
        starts_inside: The template itself opened the thinking, so the text begins inside it.
        only_leading: The answer is constrained by a grammar, so only a block before it can be thinking.
    """

    def __init__(self, *, starts_inside: bool = False, only_leading: bool = False) -> None:
        self._inside = "</think>" if starts_inside else ""
        self._only_leading = only_leading
        self._held = ""
        self._line_start = True
        self._anything = False
        self._after_block = False

    def feed(self, text: str) -> list[Piece]:
        """Take the next text; return what of it is certain."""
        self._held += text
        pieces: list[Piece] = []
        while self._held:
            piece = self._inside_step() if self._inside else self._outside_step()
            if piece is None:
                break
            if piece.text:
                pieces.append(piece)
        return pieces

    def finish(self) -> list[Piece]:
        """What was held back when the text ended."""
        held, self._held = self._held, ""
        if self._after_block and not self._inside:
            held = held.lstrip()
        return [Piece(held, bool(self._inside))] if held else []

    def _inside_step(self) -> Piece | None:
        end = self._held.find(self._inside)
        if end >= 0:
            thought, self._held = self._held[:end], self._held[end + len(self._inside) :]
            self._inside, self._line_start, self._after_block = "", True, True
            return Piece(thought, thinking=True)
        keep = _overlap(self._held, (self._inside,))
        return self._emit(len(self._held) - keep, thinking=True)

    def _outside_step(self) -> Piece | None:
        if self._after_block:
            self._held = self._held.lstrip()
            if not self._held:
                return None
        if self._may_open():
            body = self._held.lstrip()
            opening = next((tag for tag in _OPENINGS if body.startswith(tag)), None)
            if opening is not None and (not self._anything or body[len(opening) :][:1] in {"", "\n", "\r"}):
                if self._anything and len(body) == len(opening):
                    return None  # whether the tag stands alone on its line is not known yet
                self._held, self._inside = body[len(opening) :], _PAIRS[opening]
                return Piece("", thinking=True)
            if not body or any(tag.startswith(body) for tag in _OPENINGS):
                return None if len(self._held) < _MAX_HELD else self._emit(len(self._held), thinking=False)
        break_at = self._held.find("\n")
        if break_at >= 0:
            piece = self._emit(break_at + 1, thinking=False)
            self._line_start = True
            return piece
        return self._emit(len(self._held), thinking=False)

    def _may_open(self) -> bool:
        return not self._anything or (self._line_start and not self._only_leading)

    def _emit(self, length: int, *, thinking: bool) -> Piece | None:
        if length <= 0:
            return None
        text, self._held = self._held[:length], self._held[length:]
        if not thinking:
            self._after_block = False
            self._anything = self._anything or bool(text.strip())
            self._line_start = text.endswith("\n")
        return Piece(text, thinking)


def strip_thinking(text: str) -> tuple[str, str]:
    """Split a whole text whose thinking was closed without having been opened (the template had opened it).

    Returns:
        The answer and the thinking; the thinking is empty when the text has no closing tag alone on a line.
    """
    closings = list(_STRAY_CLOSE.finditer(text))
    if not closings:
        return text, ""
    last = closings[-1]
    return text[last.end() :].lstrip(), text[: last.start()].strip()


def _overlap(text: str, tags: tuple[str, ...]) -> int:
    for size in range(min(len(text), _LONGEST - 1), 0, -1):
        if any(tag.startswith(text[-size:]) for tag in tags):
            return size
    return 0
