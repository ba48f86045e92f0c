"""The KV cache of a scripted engine: what each slot holds, so that cached tokens come out as on the real thing."""

import json
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

__all__ = ("SlotMemory",)


class SlotMemory:
    """Prompts as tokens, per slot.

    Args:
        slots: How many slots there are.
        shared: A prompt finds every earlier prompt, whatever slot computed it (vLLM), not only its slot's (llama.cpp).
        folder: Where saved slots are written as files, as llama.cpp does; None keeps them in `saved`.
    """

    def __init__(self, slots: int, *, shared: bool, folder: Path | None = None) -> None:
        self.held: list[list[str]] = [[] for _ in range(slots)]
        self.saved: dict[str, list[str]] = {}
        self._folder = folder
        self._shared = shared
        self._past: list[list[str]] = []

    def take(self, tokens: Sequence[str], slot: int) -> int:
        """Put a prompt into a slot; return how many of its tokens were there already (one is always computed)."""
        prompt = list(tokens)
        known = [self.held[slot], *(self._past if self._shared else [])]
        cached = max(_shared(prompt, other) for other in known)
        self.held[slot] = prompt
        if self._shared:
            self._past = [*self._past[-31:], prompt]
        return min(cached, max(0, len(prompt) - 1))

    def save(self, slot: int, name: str) -> int:
        """Save a slot under a name; return how many bytes that took."""
        self.saved[name] = list(self.held[slot])
        text = json.dumps(self.saved[name])
        if self._folder is not None:
            (self._folder / name).write_text(text, encoding="utf-8")
        return len(text.encode())

    def restore(self, slot: int, name: str) -> bool:
        """Put what was saved under a name into a slot; whether that could be read."""
        try:
            read = self.saved[name] if self._folder is None else json.loads((self._folder / name).read_bytes())
        except (OSError, ValueError, KeyError):
            return False
        self.held[slot] = [str(token) for token in read]
        return True

    def best_slot(self, tokens: Sequence[str], free: Sequence[int]) -> int:
        """The free slot that holds the longest beginning of a prompt."""
        return max(free, key=lambda slot: _shared(tokens, self.held[slot]))


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """How many tokens two prompts have in common at their beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
