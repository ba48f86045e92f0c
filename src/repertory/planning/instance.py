"""What an instance is, as its memory and speed are predicted: a model, a checkpoint, an engine and its settings."""

from dataclasses import dataclass, field, replace
from typing import Any

from repertory.catalog.architecture import Architecture
from repertory.catalog.formats import CheckpointFormat, WeightBytes, weight_bytes
from repertory.catalog.loader import Choice

__all__ = ("GIB", "LATEST_VLLM", "EngineVersion", "Instance", "InstanceMemory", "RankMemory", "instance_of")

GIB = 2**30

EngineVersion = tuple[int, int]
"""Major and minor version of vLLM; below (0, 8) it is the old engine, V0."""

LATEST_VLLM: EngineVersion = (0, 28)


@dataclass(frozen=True)
class Instance:
    """One instance as it would be started.

    Attributes:
        weights: Bytes of the checkpoint by class, scaled to the known size where a source gives one.
        weights_known: Whether that size is known (else it is computed from the format).
        context: vLLM: the longest request (`--max-model-len`). llama.cpp: all slots together (`-c`). None takes what
            the model was trained for, as the engines do.
        max_seqs: vLLM: requests in one step (None: 256, or 1,024 on large cards). llama.cpp: slots (None: 1).
        batched_tokens: vLLM: tokens in one step (None: 2,048, or 8,192 on large cards). llama.cpp: `-ub` (None: 512).
        utilization: Share of each device's total memory that vLLM may take.
        kv_unified: Whether llama.cpp's slots share their cells; else each has an equal part (`-np` without `-kvu`).
        version: Of vLLM; None is the latest that the model of memory knows.
    """

    arch: Architecture
    format: CheckpointFormat
    weights: WeightBytes
    max_context: int
    engine: str = "vllm"
    weights_known: bool = False
    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    context: int | None = None
    max_seqs: int | None = None
    batched_tokens: int | None = None
    kv_dtype: str = "auto"
    utilization: float | None = None
    eager: bool = False
    flash_attention: bool = True
    kv_unified: bool = False
    version: EngineVersion | None = None
    draft: bool = False

    @property
    def longest(self) -> int:
        """The context it is started with."""
        return self.context if self.context is not None else self.max_context

    @property
    def devices(self) -> int:
        """How many devices it spans."""
        return self.tensor_parallel * self.pipeline_parallel

    def with_settings(self, **changes: Any) -> "Instance":
        """The same instance with other settings."""
        return replace(self, **changes)


def instance_of(choice: Choice, engine: str = "vllm", **settings: Any) -> Instance:
    """An instance of a catalog choice; `settings` are fields of `Instance`."""
    weights = weight_bytes(choice.model.arch, choice.format)
    known = choice.known_bytes
    if known is not None:
        weights = weights.scaled_to(float(known))
    base = Instance(
        arch=choice.model.arch,
        format=choice.format,
        weights=weights,
        max_context=choice.model.max_context,
        engine=engine,
        weights_known=known is not None,
    )
    return base.with_settings(**settings)


@dataclass(frozen=True)
class RankMemory:
    """Memory on one device, in bytes.

    Attributes:
        device_total: What the device has.
        reserved: What the engine takes at most (vLLM's share; for llama.cpp the sum).
        weights: The rank's part of the checkpoint.
        kv_pool: What is left for, or allocated to, the KV cache and recurrent states.
        activation: Peak of a forward pass and of sampling.
        graphs: CUDA graphs.
        overhead: CUDA context, communication buffers, workspaces.
        kv_tokens: Tokens that the pool holds (for hybrid models: at the longest context).
        kv_bytes_per_token: What one more token of context costs on this device.
    """

    device_total: float
    reserved: float
    weights: float
    kv_pool: float
    activation: float
    graphs: float
    overhead: float
    kv_tokens: int
    kv_bytes_per_token: float

    @property
    def used(self) -> float:
        """Bytes taken, cache included."""
        return self.weights + max(self.kv_pool, 0.0) + self.activation + self.graphs + self.overhead

    @property
    def free(self) -> float:
        """Bytes left on the device."""
        return self.device_total - self.used


@dataclass(frozen=True)
class InstanceMemory:
    """What an instance takes on its devices, and whether that works.

    Attributes:
        ranks: One per device.
        kv_needed: Bytes that one request of the longest context needs on the tightest device.
        max_context: The longest single request that fits.
        max_concurrency: Requests of the longest context that fit at once.
        fits: Whether the engine would start with these settings.
        why: The reason in words, with the numbers.
        risks: What may still go wrong, in words.
    """

    ranks: tuple[RankMemory, ...]
    kv_needed: float
    max_context: int
    max_concurrency: float
    fits: bool
    why: str
    risks: tuple[str, ...] = field(default=())
