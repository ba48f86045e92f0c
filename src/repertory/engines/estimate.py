"""An upper bound of token counts, for engines that can not count. Never used where the engine itself counts."""

import math
import re
from collections.abc import Sequence

from repertory.engines.protocol import ChatMessage

__all__ = ("estimate_output_tokens", "estimate_prompt_tokens", "words")

_PIECE = re.compile(r"[A-Za-z]+|[^\x00-\x7f]+|[ ]+|.", re.DOTALL)
_NATURAL = re.compile(r"(?!.*[b-df-hj-np-tv-xz]{5})[A-Za-z]?[a-z]{0,15}")
"""Letters that can be one word of a language; others (hashes, base64, capitals) may need a token for each letter."""
_TEMPLATE_TOKENS = 16
"""Upper bound of what chat templates in use add per message and at the end."""


def estimate_prompt_tokens(messages: Sequence[ChatMessage]) -> int:
    """Upper bound of the tokens of a rendered prompt."""
    return sum(_bound(message.content) + _TEMPLATE_TOKENS for message in messages) + _TEMPLATE_TOKENS


def estimate_output_tokens(text: str) -> int:
    """Upper bound of the tokens of a text."""
    return _bound(text)


def words(text: str) -> int:
    """How many words of letters there are: tokenizers in use do not join words, so never more than there are tokens."""
    return len(re.findall(r"(?<![^\s])[A-Za-z]{2,}(?![^\s])", text))


def _bound(text: str) -> int:
    """Words count half their letters, everything else by the byte: tokenizers in use need no more than that."""
    total, spaces = 0, 0
    for piece in _PIECE.findall(text):
        if piece[0] == " ":
            spaces = len(piece)
            continue
        if piece.isascii() and piece.isalpha():
            # One space belongs to the word that follows it.
            total += math.ceil(len(piece) / 2) if _NATURAL.fullmatch(piece) else len(piece)
            spaces = max(0, spaces - 1)
        else:
            total += len(piece.encode("utf-8", "replace"))
        total += spaces // 2 + 1 if spaces else 0
        spaces = 0
    return total + spaces
