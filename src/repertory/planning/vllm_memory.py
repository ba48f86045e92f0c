"""How much memory vLLM (and SGLang, which sizes its pool in the same way) takes.

    requested = total memory x utilization
    KV pool   = requested - weights - activation peak - non-torch memory - CUDA graphs (from 0.21 on)

The forward pass holds, per token, two bytes for the widest of the feed-forward, attention and expert buffers and for
three hidden vectors (V0 logs: 2.02 GiB at 32,768 tokens for 1.5B, 2.07 GiB at 20,000 tokens for 8B). What the source
code does not say is in `OVERHEADS`; `benchmarks/planner/fit_memory.py` fits it again without one family of models
after the other, and measures on the family left out.
"""

import math
from dataclasses import dataclass

from repertory.planning.instance import GIB, LATEST_VLLM, EngineVersion, Instance, InstanceMemory, RankMemory
from repertory.planning.kv_cache import KvLayout, kv_layout

__all__ = ("OVERHEADS", "Overheads", "default_utilization", "rank_weights", "vllm_memory", "vllm_overheads")


@dataclass(frozen=True)
class Overheads:
    """What start-up logs show beside weights and cache; bytes in GiB.

    Attributes:
        non_torch: CUDA context and workspaces on one device (0.06 to 0.39 in logs).
        communication: Buffers of tensor parallelism.
        sampler_old: Sampler bytes per request and vocabulary entry up to 0.19 (a 7B model with 256 requests and a
            vocabulary of 152,064 prints a peak of 1.04 GiB, which is 28; gpt-oss-120b with 1,024 requests lacks
            7.5 GiB, which is 36).
        sampler: The same from 0.20 on (a 4B model prints 0.57 GiB).
        graphs: CUDA graphs of any model.
        graphs_layer: CUDA graphs per layer (0.17 to 0.48 in logs for 28 to 36 layers).
        graphs_moe_layer: The same for mixtures of experts of more than 60 layers (3.45 for 94).
        tower: Profile run of a vision tower that takes images of any size, in hybrid models.
        vision_model: The same for models that are made for images (the VL families).
    """

    non_torch: float = 0.15
    communication: float = 0.35
    sampler_old: float = 32.0
    sampler: float = 16.0
    graphs: float = 0.05
    graphs_layer: float = 0.009
    graphs_moe_layer: float = 0.022
    tower: float = 1.75
    vision_model: float = 2.5


OVERHEADS = Overheads()

_CHUNKED_FROM = 32_768
"""Longest context that V0 prefills in one piece (from 0.6 on; before, any context)."""
_V1: EngineVersion = (0, 8)
"""First version with today's engine."""
_LOW_SHARE = 0.6
_STARTUP = 0.45 * GIB
"""Memory that is gone on a device before the engine measures it."""


def default_utilization(version: EngineVersion | None) -> float:
    """The default share: 0.9, and 0.92 from 0.22 on."""
    return 0.92 if (version or LATEST_VLLM) >= (0, 22) else 0.9


def _defaults(instance: Instance, device_total: float, device_name: str) -> tuple[int, int]:
    """Tokens and requests per step that vLLM's server takes when it is not told (`vllm/engine/arg_utils.py`)."""
    large = device_total >= 70 * GIB and "a100" not in device_name.lower()
    tokens = instance.batched_tokens or (8192 if large else 2048)
    seqs = instance.max_seqs or (1024 if large else 256)
    return tokens, min(seqs, tokens) if instance.batched_tokens else seqs


def rank_weights(instance: Instance) -> float:
    """Bytes of weights on the fullest rank: sharded matrices, replicated parts, the widest pipeline stage."""
    arch, weights, tp = instance.arch, instance.weights, instance.tensor_parallel
    p = arch.parameters
    per_mixer = weights.mixers / p.attention if p.attention else 0.0
    sharded = weights.mixers - p.replicated * per_mixer
    kv_heads = arch.kv_heads
    if tp > kv_heads and arch.mla is None:  # key and value projections are replicated with their heads
        keys_and_values = 2 * p.attention_v * per_mixer
        sharded += keys_and_values * (tp / kv_heads - 1)
    experts = weights.experts
    if instance.format.name == "mxfp4" and arch.expert_intermediate:
        width = arch.expert_intermediate / tp
        experts *= math.ceil(width / 256) * 256 / width  # the kernels want multiples of 256
    layered = (sharded + weights.dense + experts) / tp + p.replicated * per_mixer + weights.rest
    stage = math.ceil(arch.layers / instance.pipeline_parallel) / arch.layers
    ends = (weights.embedding + weights.head) / tp
    if instance.pipeline_parallel > 1:
        ends = max(weights.embedding, weights.head) / tp
    draft = weights.draft / tp if instance.draft else 0.0
    return layered * stage + ends + weights.vision / tp + draft


def _forward_bytes(instance: Instance, tokens: int) -> float:
    """Peak of one forward pass over `tokens` tokens on one rank."""
    arch, tp = instance.arch, instance.tensor_parallel
    dense = 3 * max(arch.intermediate, arch.shared_intermediate) / tp
    heads = 0.0
    for group in arch.attention:
        width = arch.heads * group.head_dim * (2 if arch.output_gate else 1) + 2 * group.kv_heads * group.head_dim
        heads = max(heads, width / tp)
    if arch.state is not None:
        heads = max(heads, 2.5 * arch.state.conv_channels / tp)
    expert = 0.0
    if arch.is_moe:
        width = arch.expert_intermediate / tp
        expert = arch.experts_per_token * (max(2 * width, arch.hidden) + width)
    return 2.0 * tokens * (max(dense, heads, expert) + 3 * arch.hidden)


def _is_vision_model(instance: Instance) -> bool:
    """Whether the tower takes images of any size (the VL families; Gemma's takes small ones)."""
    arch = instance.arch
    return arch.vision_params >= 500_000_000 and not any(group.kind == "sliding" for group in arch.attention)


def vllm_overheads(
    instance: Instance, device_total: float, device_name: str = "", known: Overheads = OVERHEADS
) -> tuple[float, float, float, bool]:
    """Activation peak, CUDA graphs and non-torch memory in bytes, and whether the graphs are inside the budget."""
    arch = instance.arch
    version = instance.version or LATEST_VLLM
    tokens, seqs = _defaults(instance, device_total, device_name)
    if version < _V1:
        whole = instance.longest <= _CHUNKED_FROM or version < (0, 6)
        activation = _forward_bytes(instance, max(2048, instance.longest) if whole else 2048)
    else:
        per_entry = known.sampler if version >= (0, 20) else known.sampler_old
        activation = max(_forward_bytes(instance, tokens), seqs * arch.vocab * per_entry)
        if arch.state is not None and arch.vision_params >= 300_000_000:
            activation = max(activation, known.tower * GIB)
        elif _is_vision_model(instance):
            activation = max(activation, known.vision_model * GIB)
    graphs = 0.0
    if not instance.eager:
        per_layer = known.graphs_moe_layer if arch.is_moe and arch.layers > 60 else known.graphs_layer
        graphs = (known.graphs + per_layer * arch.layers / instance.pipeline_parallel) * GIB
    other = known.non_torch * GIB
    if instance.devices > 1:
        other += (known.communication + 0.04 * math.log2(instance.devices)) * GIB
    return activation, graphs, other, version >= (0, 21)


def vllm_memory(
    instance: Instance,
    device_total_gib: float,
    device_name: str = "",
    *,
    taken_gib: float = 0.0,
    known: Overheads = OVERHEADS,
) -> InstanceMemory:
    """Predict an instance on devices of one kind.

    Args:
        instance: What would be started.
        device_total_gib: Total memory of each device, as the engine sees it.
        device_name: Its name: vLLM's defaults differ on large cards, but not on A100.
        taken_gib: What other processes hold on it already.
        known: Overheads to count with.
    """
    total = device_total_gib * GIB
    utilization = instance.utilization if instance.utilization is not None else default_utilization(instance.version)
    activation, graphs, other, inside = vllm_overheads(instance, total, device_name, known)
    weights = rank_weights(instance)
    requested = total * utilization
    pool = requested - weights - activation - other - (graphs if inside else 0.0)
    stage = math.ceil(instance.arch.layers / instance.pipeline_parallel) / instance.arch.layers
    layout = kv_layout(instance.arch, instance.kv_dtype, instance.tensor_parallel, stage, int(instance.draft))
    tokens, _ = _defaults(instance, total, device_name)
    need = layout.request_bytes(instance.longest, tokens)
    rank = RankMemory(
        device_total=total,
        reserved=requested,
        weights=weights,
        kv_pool=pool,
        activation=activation,
        graphs=graphs,
        overhead=other,
        kv_tokens=layout.tokens(max(pool, 0.0), instance.longest, tokens),
        kv_bytes_per_token=layout.marginal_bytes,
    )
    free = total - taken_gib * GIB
    starts = requested <= free
    fits = pool > 0 and pool >= need and starts
    return InstanceMemory(
        ranks=(rank,) * instance.devices,
        kv_needed=need,
        max_context=layout.max_context(max(pool, 0.0), instance.max_context, tokens),
        max_concurrency=max(0.0, layout.concurrency(max(pool, 0.0), instance.longest, tokens)),
        fits=fits,
        why=_why(instance, rank, need, layout, tokens, starts=starts),
        risks=tuple(_risks(instance, rank, need, inside=inside, free=free)),
    )


def _why(instance: Instance, rank: RankMemory, need: float, layout: KvLayout, tokens: int, *, starts: bool) -> str:
    where = f"of {rank.device_total / GIB:.2f} GiB per device, {rank.reserved / GIB:.2f} GiB may be used"
    if not starts:
        return f"{where}, but less is free: stop what else runs there, or lower the utilization"
    if rank.kv_pool <= 0:
        fixed = (rank.reserved - rank.kv_pool) / GIB
        return (
            f"{where}; weights ({rank.weights / GIB:.2f} GiB), activations, graphs and overhead take {fixed:.2f} GiB, "
            f"so nothing is left for the KV cache"
        )
    if rank.kv_pool < need:
        longest = layout.max_context(rank.kv_pool, instance.max_context, tokens)
        return (
            f"one request of {instance.longest:,} tokens needs {need / GIB:.2f} GiB of KV cache and "
            f"{rank.kv_pool / GIB:.2f} GiB are left; up to {longest:,} tokens fit"
        )
    return (
        f"{where}: {rank.weights / GIB:.2f} GiB weights, {rank.kv_pool / GIB:.2f} GiB KV cache for "
        f"{rank.kv_tokens:,} tokens"
    )


def _risks(instance: Instance, rank: RankMemory, need: float, *, inside: bool, free: float) -> list[str]:
    risks: list[str] = []
    outside = 0.0 if inside else rank.graphs
    left = free - rank.reserved - _STARTUP
    if left < outside or (inside and left < 0):
        risks.append(
            f"{max(free - rank.reserved, 0) / GIB:.2f} GiB stay outside the reserved share, and the CUDA context, "
            f"graphs and the display take about {(_STARTUP + outside) / GIB:.2f} GiB: it may run out of memory at start"
        )
    margin = rank.kv_pool - need
    error = (0.01 if instance.weights_known else 0.03) * rank.weights + 0.5 * rank.activation + 0.25 * GIB
    if abs(margin) < error:
        risks.append(
            f"the KV cache is {margin / GIB:+.2f} GiB from the need of one longest request, within the error of this "
            f"estimate ({error / GIB:.2f} GiB)"
        )
    if instance.arch.state is not None:
        risks.append(
            "kernels of linear-attention layers take scratch memory at run time (a 96 MiB allocation failed in one "
            "report): leave some memory outside the pool"
        )
    if _is_vision_model(instance):
        risks.append("the profile run with the largest images may take several GiB more than assumed here")
    if (instance.utilization or 1.0) < _LOW_SHARE:
        risks.append(
            "a share this low usually means that other processes use the device: what they take while vLLM starts "
            "counts against the share, and the cache can end at nothing"
        )
    if instance.version is None and rank.kv_pool >= need:
        risks += _older_engines(instance, rank, need)
    return risks


def _older_engines(instance: Instance, rank: RankMemory, need: float) -> list[str]:
    """What earlier versions of vLLM would say where the latest fits."""
    risks: list[str] = []
    utilization = instance.utilization if instance.utilization is not None else 0.9
    eras: list[tuple[EngineVersion, str]] = [
        ((0, 10), "vLLM before 0.20 samples with more memory"),
        ((0, 5), "vLLM's old engine (V0) prefills a long prompt in one piece"),
    ]
    for version, words in eras:
        old = instance.with_settings(version=version)
        activation, _, other, _ = vllm_overheads(old, rank.device_total)
        pool = rank.device_total * utilization - rank.weights - activation - other
        if pool < need:
            risks.append(
                f"{words}: {activation / GIB:.2f} GiB here, which leaves {pool / GIB:.2f} GiB of KV cache for a need "
                f"of {need / GIB:.2f} GiB"
            )
    if instance.arch.mla is not None:
        risks.append("vLLM's old engine (V0) may keep full keys and values for latent attention, many times as much")
    return risks
