"""How vLLM lays out its KV cache, and what that gives in tokens and in requests.

Follows `vllm/v1/core/kv_cache_utils.py` and `kv_cache_interface.py` (vLLM 0.11 to 0.28):

* Layers of one kind form groups; where kinds differ, every group has as many layers as the rarest kind (padding the
  rest), and all groups draw blocks from one pool. A block of the pool is one page for each layer of a group.
* Pages must be equally large: attention layers whose pages are smaller get longer blocks; a recurrent state is one
  page, and the attention block grows until it is as large.
* Heads are spread over tensor-parallel ranks, but at least one stays on each (replication); a latent vector (MLA) is
  not divided at all.
"""

import math
from dataclasses import dataclass

from repertory.catalog.architecture import Architecture, CacheGroup

__all__ = ("BLOCK", "KvLayout", "cache_element_bytes", "cache_types", "kv_layout", "marginal_bytes_per_token")

BLOCK = 16
"""Tokens per block in vLLM on CUDA."""

_ELEMENT_BYTES = {
    "auto": 2.0, "fp16": 2.0, "bf16": 2.0, "f16": 2.0, "float16": 2.0, "bfloat16": 2.0, "f32": 4.0,
    "fp8": 1.0, "fp8_e4m3": 1.0, "fp8_e5m2": 1.0, "int8": 1.0, "fp8_ds_mla": 656 / 576, "nvfp4": 0.5625,
    "q8_0": 34 / 32, "q5_1": 24 / 32, "q5_0": 22 / 32, "q4_1": 20 / 32, "q4_0": 18 / 32, "iq4_nl": 18 / 32,
}  # fmt: skip


_ANY_ENGINE = frozenset({"auto", "fp16", "bf16", "f16", "float16", "bfloat16", "f32"})
_LLAMA_CPP = frozenset({"q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl"})


def cache_types(engine: str) -> list[str]:
    """Types of cached elements that an engine knows."""
    return sorted(_ANY_ENGINE | (_LLAMA_CPP if engine == "llama.cpp" else _ELEMENT_BYTES.keys() - _LLAMA_CPP))


def cache_element_bytes(kv_dtype: str) -> float:
    """Bytes of one cached element, block scales included (llama.cpp's q8_0: 34 bytes per 32 elements).

    Raises:
        ValueError: The type is not known; the message lists those that are.
    """
    try:
        return _ELEMENT_BYTES[kv_dtype.lower()]
    except KeyError:
        known = ", ".join(sorted(_ELEMENT_BYTES))
        msg = f"{kv_dtype!r} is not a KV cache type; known are {known}"
        raise ValueError(msg) from None


@dataclass(frozen=True)
class _Group:
    """A pool group: `layers` layers (padded) whose request of `tokens` tokens takes `blocks(tokens)` blocks."""

    kind: str
    block: int
    window: int | None

    def blocks(self, tokens: int, batched_tokens: int) -> int:
        if self.kind in ("linear", "mamba2"):
            return 2  # one state, and one more while prefix caching keeps an aligned copy
        if self.window is not None:
            kept = min(self.window - 1 + batched_tokens, tokens)
            return -(-kept // self.block) + 1
        return -(-tokens // self.block)


@dataclass(frozen=True)
class KvLayout:
    """A pool layout on one rank.

    Attributes:
        groups: The groups that a request needs blocks of.
        bytes_per_block: Bytes of one block of the pool (a page for each layer of a group).
        marginal_bytes: What one more token of context costs, far beyond all windows.
    """

    groups: tuple[_Group, ...]
    bytes_per_block: float
    marginal_bytes: float

    def request_blocks(self, tokens: int, batched_tokens: int) -> int:
        """Blocks that one request of `tokens` tokens needs."""
        return sum(group.blocks(tokens, batched_tokens) for group in self.groups)

    def request_bytes(self, tokens: int, batched_tokens: int) -> float:
        """Bytes that one request of `tokens` tokens needs on this rank."""
        return self.request_blocks(tokens, batched_tokens) * self.bytes_per_block

    def blocks(self, pool_bytes: float) -> int:
        """Blocks in a pool."""
        return max(0, int(pool_bytes // self.bytes_per_block)) if self.bytes_per_block else 0

    def concurrency(self, pool_bytes: float, tokens: int, batched_tokens: int) -> float:
        """How many requests of `tokens` tokens fit at once (vLLM's "maximum concurrency")."""
        need = self.request_blocks(tokens, batched_tokens)
        return self.blocks(pool_bytes) / need if need else math.inf

    def tokens(self, pool_bytes: float, max_tokens: int, batched_tokens: int) -> int:
        """The pool in tokens, as vLLM prints it: blocks for one kind, else concurrency times the longest context."""
        if len(self.groups) == 1 and self.groups[0].window is None:
            return self.blocks(pool_bytes) * self.groups[0].block
        return int(self.concurrency(pool_bytes, max_tokens, batched_tokens) * max_tokens)

    def max_context(self, pool_bytes: float, limit: int, batched_tokens: int) -> int:
        """The longest single request that fits, at most `limit` tokens."""
        have = self.blocks(pool_bytes)
        low, high = 0, limit
        while low < high:
            middle = (low + high + 1) // 2
            if self.request_blocks(middle, batched_tokens) <= have:
                low = middle
            else:
                high = middle - 1
        return low


def _rank_elements(group: CacheGroup, tensor_parallel: int) -> float:
    """Cached elements per token and layer on one rank."""
    if group.kind == "mla":
        return group.elements_per_token
    per_head = group.elements_per_token / group.kv_heads
    return max(1, group.kv_heads // tensor_parallel) * per_head


def marginal_bytes_per_token(arch: Architecture, kv_dtype: str, tensor_parallel: int = 1, layers: float = 1.0) -> float:
    """Bytes that one more token of context costs on one rank: full-attention and latent layers only.

    Args:
        arch: The model.
        kv_dtype: Type of a cached element.
        tensor_parallel: Ranks that share the heads.
        layers: Share of the layers on this rank (pipeline stages).
    """
    element = cache_element_bytes(kv_dtype)
    total = 0.0
    for group in arch.caches:
        if group.kind in ("full", "mla"):
            total += group.layers * _rank_elements(group, tensor_parallel) * element
    if arch.mla is not None and arch.mla.index_head_dim:  # the sparse indexer keeps one fp8 key and a scale per token
        total += sum(group.layers for group in arch.caches) * (arch.mla.index_head_dim + 4)
    return total * layers


def _state_bytes(arch: Architecture, kv_element: float, tensor_parallel: int) -> float:
    state = arch.state
    if state is None:
        return 0.0
    recurrent = state.recurrent_elements * (4.0 if state.fp32_state else 2.0)
    return (recurrent + state.conv_elements * max(kv_element, 2.0)) / tensor_parallel


def kv_layout(
    arch: Architecture,
    kv_dtype: str = "auto",
    tensor_parallel: int = 1,
    layers: float = 1.0,
    draft_layers: int = 0,
) -> KvLayout:
    """The layout that vLLM chooses for a model on one rank.

    Args:
        arch: The model.
        kv_dtype: Type of a cached element.
        tensor_parallel: Ranks that share the heads.
        layers: Share of the layers on this rank (pipeline stages).
        draft_layers: Multi-token-prediction layers that run too; they attend like the full layers.
    """
    element = cache_element_bytes(kv_dtype)
    marginal = marginal_bytes_per_token(arch, kv_dtype, tensor_parallel, layers)
    caches = tuple(
        group.model_copy(update={"layers": group.layers + draft_layers}) if group.kind in ("full", "mla") else group
        for group in arch.caches
    )
    attention = [group for group in caches if group.elements_per_token]
    states = [group for group in caches if not group.elements_per_token]
    index = arch.mla.index_head_dim + 4 if arch.mla is not None and arch.mla.index_head_dim else 0
    if not attention and not states:
        return KvLayout(groups=(), bytes_per_block=0.0, marginal_bytes=0.0)
    if len(caches) == 1 and attention:
        group = attention[0]
        per_token = _rank_elements(group, tensor_parallel) * element + index
        pool = _Group(kind=group.kind, block=BLOCK, window=group.window)
        return KvLayout((pool,), BLOCK * per_token * group.layers * layers, marginal)
    per_token = [_rank_elements(group, tensor_parallel) * element for group in attention]
    page = max(BLOCK * size for size in per_token) if per_token else 0.0
    if states:
        smallest = min(per_token) if per_token else 0.0
        state = _state_bytes(arch, element, tensor_parallel)
        if smallest:
            block = math.ceil(state / smallest / BLOCK) * BLOCK
            page = max(page, block * smallest)
        else:
            page = state
    counts = [group.layers for group in caches]
    fewest, most = min(counts), max(counts)
    size = most if most < fewest * 1.25 else fewest
    groups: list[_Group] = []
    for group in caches:
        copies = math.ceil(group.layers / size)
        if group.elements_per_token:
            per = _rank_elements(group, tensor_parallel) * element
            block = int(page // per // BLOCK) * BLOCK
        else:
            block = BLOCK
        groups += [_Group(kind=group.kind, block=max(block, BLOCK), window=group.window)] * copies
    return KvLayout(tuple(groups), page * size * layers, marginal)
