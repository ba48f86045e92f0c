"""The KV cache of a scripted engine: what each slot holds, so that cached tokens come out as on the real thing."""

from collections.abc import Sequence
from itertools import takewhile

__all__ = ("SlotMemory",)


class SlotMemory:
    """Prompts as tokens, per slot.

    Args:
        slots: How many slots there are.
        shared: A prompt finds every earlier prompt, whatever slot computed it (vLLM), not only its slot's (llama.cpp).
    """

    def __init__(self, slots: int, *, shared: bool) -> None:
        self.held: list[list[str]] = [[] for _ in range(slots)]
        self.saved: dict[str, list[str]] = {}
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

    def best_slot(self, tokens: Sequence[str], free: Sequence[int]) -> int:
        """The free slot that holds the longest beginning of a prompt."""
        return max(free, key=lambda slot: _shared(tokens, self.held[slot]))


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """How many tokens two prompts have in common at their beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
