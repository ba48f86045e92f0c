"""How fast an instance prefills and decodes: a roofline over bytes and operations, with fitted efficiencies.

One decode step of a batch reads every weight that the batch touches (of a mixture of experts, the share
1 - (1 - k/E)^batch of the routed experts) and the whole KV cache of the batch; prefill is bound by operations. Added
are a fixed cost per layer (kernel launches) and, with tensor parallelism, two all-reduces per layer. llama.cpp spreads
layers over devices instead, so that one request passes them one after the other.

The efficiencies are fitted on the published readings (`benchmarks/planner/fit_speed.py` prints them with their errors)
and kept in `EFFICIENCY`; the interval is the 10 % and 90 % quantile of measured against predicted on those readings.
"""

import math
from dataclasses import dataclass

from repertory.catalog.records import Device
from repertory.planning.instance import Instance
from repertory.planning.kv_cache import cache_element_bytes

__all__ = (
    "EFFICIENCY",
    "DecodeSpeed",
    "Efficiency",
    "PrefillSpeed",
    "decode_speed",
    "prefill_speed",
    "saturated_tok_s",
)


@dataclass(frozen=True)
class Efficiency:
    """Fitted constants of one family of kernels.

    Attributes:
        bandwidth: Share of the peak bandwidth that weights are read with.
        expert_bandwidth: The same for routed experts, whose reads are scattered.
        cache_bandwidth: The same for the KV cache.
        layer_s: Fixed seconds per layer and step.
        step_s: Fixed seconds per step.
        compute: Share of `reference` that matrix kernels reach on a device of that speed.
        reference: Trillions of operations per second at which `compute` holds.
        scaling: How reached speed grows with peak speed (1 is proportional; below 1, fast devices are fed less well).
        expert_compute: Factor on compute for routed experts.
        attention_compute: Share of the reached matrix speed that attention over a long context gets.
        ceiling: GB/s above which the kernels can not be fed, however fast the memory is.
    """

    bandwidth: float
    expert_bandwidth: float
    cache_bandwidth: float
    layer_s: float
    step_s: float
    compute: float
    reference: float
    scaling: float
    expert_compute: float
    attention_compute: float
    ceiling: float = 1e6


EFFICIENCY: dict[str, Efficiency] = {
    "llama.cpp": Efficiency(0.905, 0.90, 0.85, 87e-6, 0.05e-3, 0.304, 150.0, 0.604, 0.367, 1.0, 1257.0),
    "llama.cpp f16": Efficiency(0.869, 0.60, 0.30, 26.7e-6, 0.41e-3, 0.606, 150.0, 0.576, 0.5, 0.093, 1350.0),
    "vllm": Efficiency(0.9175, 0.556, 0.71, 36e-6, 0.34e-3, 0.55, 300.0, 0.67, 0.515, 0.98, 3467.0),
}
_DECODE = (0.75, 1.20)
_PREFILL = (0.60, 1.50)

_UBATCH = 512
_EAGER_LAYER_S = 250e-6
"""More per layer without CUDA graphs (a 36-layer model falls from 58 to 26 tokens per second)."""


@dataclass(frozen=True)
class DecodeSpeed:
    """Speed of generating.

    Attributes:
        tok_s: Tokens per second of one request.
        total_tok_s: Of the whole batch.
        low: Lower end of the interval for one request.
        high: Upper end.
        step_s: Seconds per step.
        bound: What limits it: `memory`, `compute`, `overhead` or `links`.
    """

    tok_s: float
    total_tok_s: float
    low: float
    high: float
    step_s: float
    bound: str


@dataclass(frozen=True)
class PrefillSpeed:
    """Speed of reading a prompt, in tokens per second, with its interval and the time of the asked-for prompt."""

    tok_s: float
    low: float
    high: float
    seconds: float


def _family(instance: Instance) -> Efficiency:
    if instance.engine == "llama.cpp":
        return EFFICIENCY["llama.cpp f16" if instance.format.linear >= 16 else "llama.cpp"]
    return EFFICIENCY["vllm"]


def _cache_bytes(instance: Instance, context: float) -> float:
    """Cached bytes that one decode step reads for one request, on all devices together, each head once."""
    element = cache_element_bytes(instance.kv_dtype)
    total = 0.0
    for group in instance.arch.caches:
        if group.elements_per_token:
            length = context if group.window is None else min(context, group.window)
            total += group.layers * group.elements_per_token * element * length
        elif (state := instance.arch.state) is not None:
            width = 4.0 if state.fp32_state else 2.0
            total += group.layers * 2 * (state.recurrent_elements * width + state.conv_elements * 2.0)
    return total


def _attention_flops(instance: Instance, context: float) -> float:
    """Operations of attention scores and values for one token at a context length."""
    arch = instance.arch
    total = 0.0
    for group in arch.attention:
        if group.kind in ("full", "sliding"):
            length = context if group.window is None else min(context, group.window)
            total += group.layers * 4.0 * arch.heads * group.head_dim * length
        elif group.kind == "mla" and arch.mla is not None:
            width = arch.mla.qk_nope_head_dim + arch.mla.qk_rope_head_dim + arch.mla.v_head_dim
            total += group.layers * 2.0 * arch.heads * width * context
        elif arch.state is not None:
            total += group.layers * 6.0 * arch.state.recurrent_elements
    return total


def _reached_tflops(instance: Instance, device: Device, eff: Efficiency) -> float:
    """Trillions of operations per second that matrix kernels reach."""
    peak = device.tflops.value if device.tflops else 50.0
    if device.vendor == "cpu":
        return 0.75 * peak  # processors reach most of what little they have
    if instance.engine != "llama.cpp":
        if instance.format.kernel == "fp8" and device.fp8:
            peak *= 1.6
        elif instance.format.kernel == "fp4" and device.fp4:
            peak *= 1.8
    elif instance.format.linear < 16 and device.vendor == "nvidia":
        # Quantised matrices run on integer units: twice the 16-bit speed on data-centre cards, four times on GeForce.
        peak = device.quant_tops.value / 2 if device.quant_tops else peak
    return eff.compute * eff.reference * (peak / eff.reference) ** eff.scaling


def _fed(bandwidth: float, eff: Efficiency) -> float:
    """Bytes per second that reach the kernels: the memory's, bent towards the ceiling of the kernels."""
    return bandwidth / (1.0 + (bandwidth / (eff.ceiling * 1e9)) ** 3) ** (1 / 3)


def _links_s(instance: Instance, device: Device, tokens: float) -> float:
    """Seconds per step for two all-reduces per layer over the tensor-parallel group."""
    ranks = instance.tensor_parallel
    if ranks == 1 or instance.engine == "llama.cpp":
        return 0.0
    link = max(device.link_gb_s, 1.0) * 1e9
    # A ring over PCIe pays every hop; over NVLink the switch hides most of it (235B on 8 x L40S: 39 tokens/s).
    latency = 8e-6 + 0.5e-6 * ranks if device.link_gb_s >= 100 else 8e-6 * ranks
    size = 2.0 * instance.arch.hidden * tokens
    return 2 * instance.arch.layers * (latency + 2 * (ranks - 1) / ranks * size / (0.7 * link))


def decode_speed(instance: Instance, device: Device, context: float, batch: int = 1) -> DecodeSpeed:
    """Predict generation.

    Args:
        instance: The running instance.
        device: Each of its devices.
        context: Tokens of context that each request has.
        batch: Requests that decode together.
    """
    eff = _family(instance)
    arch, weights = instance.arch, instance.weights
    ranks = 1 if instance.engine == "llama.cpp" else instance.tensor_parallel
    peak = (device.bandwidth_gb_s.value if device.bandwidth_gb_s else 500.0) * 1e9
    head = weights.head or weights.embedding
    dense = weights.mixers + weights.dense + weights.rest + head
    experts = weights.experts * arch.experts_touched(batch)
    cache = batch * _cache_bytes(instance, context)
    heads = max(arch.kv_heads, 1)
    shared = min(ranks, heads) if arch.mla is None else 1
    read = (dense / _fed(eff.bandwidth * peak, eff) + experts / _fed(eff.expert_bandwidth * peak, eff)) / ranks
    read += cache / shared / eff.cache_bandwidth / peak
    flops = batch * (2.0 * arch.active_matrix_parameters + _attention_flops(instance, context))
    compute = flops / ranks / (_reached_tflops(instance, device, eff) * 1e12)
    slow = _EAGER_LAYER_S if instance.eager and instance.engine != "llama.cpp" else 0.0
    layers = arch.layers * (eff.layer_s + slow)
    links = _links_s(instance, device, batch)
    step = max(read, compute) + layers + eff.step_s + links
    parts = {"memory": read, "compute": compute, "overhead": layers + eff.step_s, "links": links}
    rate = 1.0 / step
    return DecodeSpeed(
        rate, rate * batch, rate * _DECODE[0], rate * _DECODE[1], step, max(parts, key=lambda name: parts[name])
    )


def prefill_speed(instance: Instance, device: Device, tokens: int, context: int = 0) -> PrefillSpeed:
    """Predict reading a prompt.

    Args:
        instance: The running instance.
        device: Each of its devices.
        tokens: Prompt tokens that must be computed.
        context: Tokens before them that are cached already.
    """
    eff = _family(instance)
    arch, weights = instance.arch, instance.weights
    p = arch.parameters
    tokens = max(tokens, 1)
    reached = _reached_tflops(instance, device, eff) * 1e12
    ranks = 1 if instance.engine == "llama.cpp" else instance.tensor_parallel
    peak = (device.bandwidth_gb_s.value if device.bandwidth_gb_s else 500.0) * 1e9
    routed = p.experts * arch.experts_per_token / arch.experts if arch.experts else 0.0
    matrices = 2.0 * tokens * (p.attention + p.dense + p.small)
    experts = 2.0 * tokens * routed / eff.expert_compute
    attention = tokens * _attention_flops(instance, context + tokens / 2) / eff.attention_compute
    compute = (matrices + experts + attention) / ranks / reached
    chunk = min(tokens, instance.batched_tokens or (_UBATCH if instance.engine == "llama.cpp" else 2048))
    chunks = math.ceil(tokens / chunk)
    touched = weights.mixers + weights.dense + weights.experts * arch.experts_touched(chunk)
    read = chunks * touched / ranks / (eff.bandwidth * peak)
    fixed = chunks * (arch.layers * eff.layer_s + eff.step_s) + chunks * _links_s(instance, device, chunk)
    seconds = max(compute, read) + fixed
    if instance.engine == "llama.cpp" and instance.tensor_parallel > 1:
        stages = instance.tensor_parallel
        seconds *= (chunks + stages - 1) / (chunks * stages) if chunks > 1 else 1.0
    rate = tokens / seconds
    return PrefillSpeed(rate, rate * _PREFILL[0], rate * _PREFILL[1], seconds)


def saturated_tok_s(instance: Instance, device: Device, prompt: int, output: int, batch: int) -> float:
    """Prompt and output tokens per second together of an instance that always has `batch` requests to work on."""
    reading = prefill_speed(instance, device, prompt).seconds
    step = decode_speed(instance, device, prompt + output / 2, batch).step_s
    return (prompt + output) / (reading + output * step / batch)
