"""One instance on given devices: whether it fits, what it takes, how long a context, how many requests, how fast."""

from collections.abc import Sequence
from dataclasses import dataclass

from repertory.catalog.profiles import DeviceProfile, Slot
from repertory.errors import UsageError
from repertory.planning.instance import GIB, Instance, InstanceMemory, RankMemory
from repertory.planning.llamacpp_memory import llamacpp_memory
from repertory.planning.speed import DecodeSpeed, PrefillSpeed, decode_speed, prefill_speed
from repertory.planning.vllm_memory import vllm_memory

__all__ = ("ENGINES", "Estimate", "Interval", "check_settings", "estimate", "instance_memory")

ENGINES = ("vllm", "llama.cpp", "sglang")

_TYPICAL_PROMPT = 2048
_WEIGHTS_ERROR = {True: 0.01, False: 0.04}
"""Share by which predicted weights may be off: known sizes, computed sizes."""

Interval = tuple[float, float]


@dataclass(frozen=True)
class Estimate:
    """A prediction for one instance.

    Attributes:
        memory: Memory per device and whether it fits.
        weights_gib: Interval of the weights on the fullest device.
        pool_gib: Interval of the KV pool there.
        decode: Speed of `concurrency` requests that decode together.
        alone: Speed of one request.
        prefill: Speed of reading a prompt.
        prompt_tokens: Length of that prompt.
    """

    instance: Instance
    slots: tuple[Slot, ...]
    memory: InstanceMemory
    weights_gib: Interval
    pool_gib: Interval
    decode: DecodeSpeed
    alone: DecodeSpeed
    prefill: PrefillSpeed
    prompt_tokens: int
    concurrency: int

    def document(self) -> dict[str, object]:
        """The estimate as the command line's JSON document."""
        return {
            "fits": self.memory.fits,
            "why": self.memory.why,
            "risks": list(self.memory.risks),
            "per_device": [self._device(slot, rank) for slot, rank in zip(self.slots, self.memory.ranks, strict=True)],
            "max_context": self.memory.max_context,
            "max_concurrency": round(self.memory.max_concurrency, 2),
            "kv_needed_gib": _gib(self.memory.kv_needed),
            "speed": {
                "prefill_tok_s": round(self.prefill.tok_s, 1),
                "prefill_tok_s_range": [round(self.prefill.low, 1), round(self.prefill.high, 1)],
                "decode_tok_s": round(self.decode.tok_s, 2),
                "decode_tok_s_range": [round(self.decode.low, 2), round(self.decode.high, 2)],
                "decode_tok_s_total": round(self.decode.total_tok_s, 2),
                "decode_tok_s_alone": round(self.alone.tok_s, 2),
                "first_token_s": round(self.prefill.seconds + self.alone.step_s, 3),
                "prompt_tokens": self.prompt_tokens,
                "concurrency": self.concurrency,
                "bound_by": self.decode.bound,
            },
            "settings": {
                "engine": self.instance.engine,
                "format": self.instance.format.name,
                "weights_size": "known" if self.instance.weights_known else "computed from the format",
                "tensor_parallel": self.instance.tensor_parallel,
                "pipeline_parallel": self.instance.pipeline_parallel,
                "context": self.instance.longest,
                "kv_dtype": self.instance.kv_dtype,
                "utilization": self.instance.utilization,
            },
        }

    def _device(self, slot: Slot, rank: RankMemory) -> dict[str, object]:
        return {
            "device": slot.name,
            "name": slot.device.name,
            "memory_gib": round(slot.memory_gib, 3),
            "weights_gib": _gib(rank.weights),
            "weights_gib_range": [round(x, 3) for x in self.weights_gib],
            "kv_pool_gib": _gib(rank.kv_pool),
            "kv_pool_gib_range": [round(x, 3) for x in self.pool_gib],
            "kv_tokens": rank.kv_tokens,
            "kv_bytes_per_token": round(rank.kv_bytes_per_token),
            "activation_gib": _gib(rank.activation),
            "graphs_gib": _gib(rank.graphs),
            "overhead_gib": _gib(rank.overhead),
            "total_gib": _gib(rank.used),
            "free_gib": _gib(rank.free),
        }


def _gib(size: float) -> float:
    return round(size / GIB, 3)


def instance_memory(instance: Instance, memory_gib: float, device_name: str = "") -> InstanceMemory:
    """Memory of an instance on devices of one size, by its engine's rules."""
    if instance.engine == "llama.cpp":
        return llamacpp_memory(instance, memory_gib)
    return vllm_memory(instance, memory_gib, device_name)


def check_settings(instance: Instance, profile: DeviceProfile) -> None:
    """Refuse settings that no engine could start with.

    Raises:
        UsageError: In words, with what is possible instead.
    """
    arch = instance.arch
    have = len(profile.slots)
    if instance.devices > have:
        msg = f"{instance.devices} devices are asked for and {profile.name} has {have}."
        raise UsageError(msg, hint="Name more devices (2xrtx4090), or lower --tensor-parallel.")
    if instance.engine != "llama.cpp" and not arch.spreads_over(instance.tensor_parallel):
        possible = [n for n in (1, 2, 4, 8, 16, 32) if arch.spreads_over(n) and n <= have]
        heads = f"{arch.heads} attention heads ({arch.kv_heads} for keys and values)"
        msg = f"{heads} can not be spread over {instance.tensor_parallel} devices."
        raise UsageError(msg, hint=f"Possible here: {', '.join(map(str, possible))}.")
    if instance.engine != "llama.cpp" and instance.format.gguf:
        raise UsageError("vLLM and SGLang are not run on GGUF files here.", hint="Take --engine llama.cpp.")
    if instance.context is not None and instance.engine != "llama.cpp" and instance.context > instance.max_context:
        msg = f"A context of {instance.context:,} tokens is more than the model was trained for."
        raise UsageError(msg, hint=f"At most {instance.max_context:,}.")
    devices = {slot.device.id for slot in profile.slots[: instance.devices]}
    if instance.engine != "llama.cpp" and any(
        slot.device.vendor in ("apple", "cpu") for slot in profile.slots[: instance.devices]
    ):
        msg = f"vLLM and SGLang are not predicted on {', '.join(sorted(devices))}."
        raise UsageError(msg, hint="Take --engine llama.cpp.")


def estimate(
    instance: Instance, profile: DeviceProfile, *, concurrency: int = 1, prompt_tokens: int | None = None
) -> Estimate:
    """Predict an instance on the first devices of a profile. Of unequal devices the smallest and slowest count.

    Args:
        instance: What would be started.
        profile: The devices.
        concurrency: Requests that decode together.
        prompt_tokens: Prompt whose reading is timed; None takes 2,048, or the context if that is shorter.

    Raises:
        UsageError: The settings are impossible.
    """
    check_settings(instance, profile)
    slots = profile.slots[: instance.devices]
    smallest = min(slots, key=lambda slot: slot.budget_gib)
    slowest = _slowest(slots)
    memory = instance_memory(instance, smallest.budget_gib, smallest.device.name)
    prompt = prompt_tokens or min(_TYPICAL_PROMPT, max(instance.longest // 2, 1))
    context = min(instance.longest, prompt + 256) if instance.context is None else min(instance.context, prompt + 256)
    rank = memory.ranks[0]
    error = rank.weights * _WEIGHTS_ERROR[instance.weights_known] / GIB
    spread = error + (0.3 * rank.activation + 0.5 * rank.graphs + 0.3 * rank.overhead) / GIB
    if instance.engine == "llama.cpp":
        spread = 0.02 * rank.kv_pool / GIB
    return Estimate(
        instance=instance,
        slots=slots,
        memory=memory,
        weights_gib=(rank.weights / GIB - error, rank.weights / GIB + error),
        pool_gib=(rank.kv_pool / GIB - spread, rank.kv_pool / GIB + spread),
        decode=decode_speed(instance, slowest.device, context, concurrency),
        alone=decode_speed(instance, slowest.device, context, 1),
        prefill=prefill_speed(instance, slowest.device, prompt),
        prompt_tokens=prompt,
        concurrency=concurrency,
    )


def _slowest(slots: Sequence[Slot]) -> Slot:
    return min(slots, key=lambda slot: slot.device.bandwidth_gb_s.value if slot.device.bandwidth_gb_s else 0.0)
