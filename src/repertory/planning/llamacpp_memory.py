"""How much memory llama.cpp takes: weights, cells of the KV cache, recurrent states and compute buffers.

Follows `src/llama-kv-cache*.cpp` and `llama-context.cpp`:

* A cell holds one token; each layer stores its keys and values in it. Every slot has an equal part of the cells, or
  all share one part (unified). Layers with a sliding window get `min(n_ctx, window x sequences + ubatch)` cells in
  each part, rounded up to 256.
* Recurrent states are kept in 32 bits, one set per slot.
* The input embedding stays in host memory, unless it is the output matrix too.
* The compute buffer holds the widest step of a batch of `-ub` tokens, and the attention mask (three bytes per cell of a
  part and token of the batch); without flash attention also the scores of all heads in 32 bits. With a quantised cache,
  scratch for the keys and values of one layer in 16 bits is added (q4_0 at 262,144 tokens: 2.44 GiB measured).
"""

import math

from repertory.planning.instance import GIB, Instance, InstanceMemory, RankMemory
from repertory.planning.kv_cache import cache_element_bytes

__all__ = ("compute_buffer_bytes", "kv_bytes", "llamacpp_memory", "llamacpp_rank", "state_bytes")

_CONTEXT = 0.35 * GIB
"""CUDA context and libraries on each device."""
_MARGIN = 0.1 * GIB
_PAD = 256
_SCRATCH = 2.4
"""Times the 16-bit keys and values of one layer: scratch of a quantised cache, as measured."""


def _pad(cells: int) -> int:
    return math.ceil(cells / _PAD) * _PAD


def _part(instance: Instance, cells: int, sequences: int) -> int:
    """Cells of one part of the cache: all of them, or those of one slot."""
    return _pad(cells if instance.kv_unified else math.ceil(cells / sequences))


def kv_bytes(instance: Instance, cells: int, sequences: int, *, swa_full: bool = False) -> float:
    """Bytes of the KV cache for `cells` tokens over all slots."""
    ubatch = instance.batched_tokens or 512
    element = cache_element_bytes(instance.kv_dtype)
    part = _part(instance, cells, sequences)
    parts, together = (1, sequences) if instance.kv_unified else (sequences, 1)
    total = 0.0
    for group in instance.arch.caches:
        if not group.elements_per_token:
            continue
        count = part
        if group.window is not None and not swa_full:
            count = min(part, _pad(group.window * together + ubatch))
        total += group.layers * group.elements_per_token * element * count * parts
    return total


def state_bytes(instance: Instance, sequences: int) -> float:
    """Bytes of the recurrent states of all slots."""
    state = instance.arch.state
    if state is None:
        return 0.0
    layers = sum(group.layers for group in instance.arch.caches if not group.elements_per_token)
    return layers * sequences * 4.0 * (state.recurrent_elements + state.conv_elements)


def compute_buffer_bytes(instance: Instance, cells: int, sequences: int = 1) -> float:
    """Bytes of the compute buffer on one device, for `cells` tokens over all slots."""
    arch = instance.arch
    cells = _part(instance, cells, sequences)
    ubatch = instance.batched_tokens or 512
    width = max(arch.intermediate, arch.experts_per_token * arch.expert_intermediate, arch.shared_intermediate)
    mixer = 1.5 * arch.state.conv_channels if arch.state is not None else 0.0
    heads = max((arch.heads * group.head_dim for group in arch.attention), default=0)
    step = 4.0 * ubatch * (max(1.25 * width, mixer, 2.0 * heads) + arch.hidden)
    if not instance.flash_attention:
        return max(step, 4.0 * ubatch * arch.heads * cells + 12.0 * ubatch * arch.hidden)
    step += 3.0 * ubatch * cells
    if cache_element_bytes(instance.kv_dtype) < 2.0:
        widest = max((group.elements_per_token for group in arch.caches), default=0)
        step += _SCRATCH * 2.0 * widest * cells
    return step


def _device_weights(instance: Instance, devices: int) -> float:
    """Bytes of weights on the fullest device (layers are spread; the output matrix goes with the last ones)."""
    weights = instance.weights
    layered = weights.mixers + weights.dense + weights.experts + weights.rest
    head = weights.head or weights.embedding
    share = math.ceil(instance.arch.layers / devices) / instance.arch.layers
    return max(layered * share, layered * share * 0.97 + head) if devices > 1 else layered + head


def llamacpp_rank(instance: Instance, device_total: float) -> RankMemory:
    """Memory on the fullest of an instance's devices, which share the layers; `device_total` in bytes."""
    devices = instance.devices
    sequences = instance.max_seqs or 1
    cells = instance.longest
    share = math.ceil(instance.arch.layers / devices) / instance.arch.layers
    weights = _device_weights(instance, devices)
    cache = (kv_bytes(instance, cells, sequences) + state_bytes(instance, sequences)) * share
    compute = compute_buffer_bytes(instance, cells, sequences)
    kept = [group for group in instance.arch.caches if group.kind in ("full", "mla")]
    per_token = sum(group.layers * group.elements_per_token for group in kept) * cache_element_bytes(instance.kv_dtype)
    return RankMemory(
        device_total=device_total,
        reserved=weights + cache + compute + _CONTEXT,
        weights=weights,
        kv_pool=cache,
        activation=compute,
        graphs=0.0,
        overhead=_CONTEXT,
        kv_tokens=cells,
        kv_bytes_per_token=per_token * share,
    )


def llamacpp_memory(instance: Instance, device_total_gib: float, *, taken_gib: float = 0.0) -> InstanceMemory:
    """Predict an instance on devices of one kind; several devices share the layers."""
    rank = llamacpp_rank(instance, device_total_gib * GIB)
    sequences = instance.max_seqs or 1
    cells = instance.longest
    room = rank.device_total - taken_gib * GIB - _MARGIN
    fits = rank.reserved <= room
    longest = _longest(instance, room)
    per_slot = max(cells // sequences, 1)
    return InstanceMemory(
        ranks=(rank,) * instance.devices,
        kv_needed=rank.kv_pool,
        max_context=longest,
        max_concurrency=float(max(longest // per_slot, sequences if fits else 0)),
        fits=fits,
        why=_why(rank, room, cells, longest, fits=fits),
        risks=tuple(_risks(instance, rank, room)),
    )


def _longest(instance: Instance, room: float) -> int:
    """Most tokens over all slots whose cells fit."""
    low, high = 0, instance.max_context * (instance.max_seqs or 1)
    while low < high:
        middle = (low + high + 1) // 2
        if llamacpp_rank(instance.with_settings(context=middle), 0.0).reserved <= room:
            low = middle
        else:
            high = middle - 1
    return low


def _why(rank: RankMemory, room: float, cells: int, longest: int, *, fits: bool) -> str:
    parts = (
        f"{rank.weights / GIB:.2f} GiB weights, {rank.kv_pool / GIB:.2f} GiB KV cache for {cells:,} tokens, "
        f"{rank.activation / GIB:.2f} GiB compute buffer and {rank.overhead / GIB:.2f} GiB context"
    )
    if fits:
        return f"{parts} make {rank.reserved / GIB:.2f} of {rank.device_total / GIB:.2f} GiB per device"
    rest = f"up to {longest:,} tokens fit" if longest else "not even an empty cache fits"
    return f"{parts} make {rank.reserved / GIB:.2f} GiB and {room / GIB:.2f} GiB are there per device; {rest}"


def _risks(instance: Instance, rank: RankMemory, room: float) -> list[str]:
    risks: list[str] = []
    logits = 4.0 * (instance.batched_tokens or 512) * instance.arch.vocab
    if rank.reserved <= room < rank.reserved + logits:
        risks.append(f"older builds keep the logits of a whole batch, {logits / GIB:.2f} GiB more than counted here")
    if instance.devices > 1:
        copies = 3 * rank.activation
        if rank.reserved <= room < rank.reserved + copies:
            risks.append("with several devices llama.cpp may keep four copies of its buffers; it retries without them")
    margin = room - rank.reserved
    if 0 <= margin < 0.03 * rank.weights + 0.2 * GIB:
        risks.append(f"only {margin / GIB:.2f} GiB would stay free, within the error of this estimate")
    if instance.arch.vision_params:
        risks.append("a vision projector (mmproj) needs about 1 GiB more")
    return risks
