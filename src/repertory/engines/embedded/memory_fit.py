"""How many slots and how much context fit beside a model's weights."""

import math
from dataclasses import dataclass
from pathlib import Path

from repertory.engines.embedded.gguf_header import GgufHeader
from repertory.errors import EngineRejectedError

__all__ = ("EngineSize", "fit_to_memory")

_CONTEXT_STEP = 256
"""llama.cpp pads the context of a slot to a multiple of this."""
_LEAST_CONTEXT = 2_048
_OVERHEAD_BYTES = 256 * 1024 * 1024
"""Compute buffers, vocabulary and the process itself. Measured: 143 MB with Qwen2.5-Coder-0.5B and six busy slots."""
_KEPT_FREE_BYTES = 256 * 1024 * 1024
_UNKNOWN_KV_BYTES = 128 * 1024
"""Assumed for a file that does not tell its shape; more than models of up to 8B parameters with grouped heads need."""


@dataclass(frozen=True)
class EngineSize:
    """Slots and context that fit, and what was changed to make them fit.

    Attributes:
        slots: Requests at the same time.
        context_tokens: Context of each slot, in tokens.
        kv_bytes: KV cache of all slots together.
        needed_bytes: Weights, KV cache and working memory.
        notes: One sentence for each change from what was asked.
    """

    slots: int
    context_tokens: int
    kv_bytes: int
    needed_bytes: int
    notes: tuple[str, ...] = ()


def fit_to_memory(
    header: GgufHeader, *, slots: int, context_tokens: int, available_bytes: int, where: Path | None = None
) -> EngineSize:
    """Lower the context, then the slots, until weights and KV cache fit into the memory at hand.

    Raises:
        EngineRejectedError: Not even one slot with the least context fits.
    """
    notes: list[str] = []
    per_token = header.kv_bytes_per_token() or _UNKNOWN_KV_BYTES
    context = _padded(context_tokens)
    trained = header.context_tokens
    if trained and context_tokens > trained:
        context = max(_CONTEXT_STEP, trained // _CONTEXT_STEP * _CONTEXT_STEP)
        notes.append(f"context lowered from {context_tokens:,} to {context:,} tokens: the model knows no longer one")
    fixed = header.file_bytes + _OVERHEAD_BYTES
    room = (available_bytes - _KEPT_FREE_BYTES - fixed) // per_token  # tokens of KV cache
    fitted_slots, fitted_context = slots, context
    if room < slots * context:
        fitted_context = max(min(_LEAST_CONTEXT, context), room // slots // _CONTEXT_STEP * _CONTEXT_STEP)
        fitted_slots = min(slots, room // fitted_context)
    if fitted_slots < 1:
        least = fixed + _KEPT_FREE_BYTES + min(_LEAST_CONTEXT, context) * per_token
        message = f"the model needs at least {_gb(least)} of free memory, and {_gb(available_bytes)} are free"
        raise EngineRejectedError(
            message, where=str(where) if where else None, hint="close other programs or name a smaller model"
        )
    if fitted_context < context:
        notes.append(f"context lowered from {context:,} to {fitted_context:,} tokens: {_gb(available_bytes)} are free")
    if fitted_slots < slots:
        notes.append(f"slots lowered from {slots} to {fitted_slots}: {_gb(available_bytes)} are free")
    kv_bytes = fitted_slots * fitted_context * per_token
    return EngineSize(fitted_slots, fitted_context, kv_bytes, fixed + kv_bytes, tuple(notes))


def _padded(tokens: int) -> int:
    return max(1, math.ceil(tokens / _CONTEXT_STEP)) * _CONTEXT_STEP


def _gb(count: int) -> str:
    return f"{count / 1e9:.2f} GB"
