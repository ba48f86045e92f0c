"""Checkpoint formats: how many bits each class of tensor takes, and which engines run them.

Bits per weight count the block's scales: AWQ and GPTQ keep one 16-bit scale and one 4-bit zero per group of 128
(4 + 20/128 = 4.156), FP8 one 32-bit scale per 128 x 128 block, MXFP4 one 8-bit scale per 32 (4.25), NVFP4 one FP8 scale
per 16 (4.5), the GGUF types what ggml's blocks hold (q4_K 4.5, q6_K 6.5625, q8_0 8.5). Mixes follow llama.cpp's rules:
Q4_K_M and Q5_K_M keep half of the value and down projections, and the output matrix, in q6_K.
"""

from dataclasses import dataclass
from typing import Literal

from repertory.catalog.architecture import Architecture

__all__ = ("FORMATS", "CheckpointFormat", "WeightBytes", "format_of", "weight_bytes")

Kernel = Literal["bf16", "fp8", "int8", "int4", "fp4", "gguf"]


@dataclass(frozen=True)
class CheckpointFormat:
    """Bits per weight of a checkpoint, by class of tensor.

    Attributes:
        linear: Dense projections and feed-forward matrices.
        experts: Routed experts; None is as `linear`.
        boosted: Bits of what a GGUF mix boosts (half of the value and down projections).
        head: Output matrix.
        embedding: Input embedding; None is 16.
        tied_embedding: Embedding that is the output matrix too; None is as `head`.
        small: Norms, routers, biases.
        state_linear: Projections of models with linear-attention layers, which NVFP4 files keep partly at 8, partly at
            16 bits (24.57 GiB for 27B, 70.47 GiB for 122B).
        kernel: What the matrix kernels compute with.
        score_loss: Share of a benchmark score lost against the unquantised model: a planning assumption, stated in
            docs/planning.md, replaced by measurements of one's own.
        gguf: Whether it is a GGUF file (llama.cpp); the others are safetensors (vLLM, SGLang).
    """

    name: str
    linear: float
    kernel: Kernel
    experts: float | None = None
    boosted: float | None = None
    head: float = 16.0
    embedding: float = 16.0
    tied_embedding: float | None = None
    small: float = 16.0
    state_linear: float | None = None
    score_loss: float = 0.0
    gguf: bool = False


def _gguf(name: str, base: float, boosted: float | None, head: float, *, loss: float) -> CheckpointFormat:
    return CheckpointFormat(
        name=f"gguf-{name}", linear=base, boosted=boosted, head=head, embedding=base, tied_embedding=head, small=32.0,
        kernel="gguf", score_loss=loss, gguf=True,
    )  # fmt: skip


_ALL = (
    CheckpointFormat("bf16", 16.0, "bf16"),
    CheckpointFormat("fp8", 8.002, "fp8", score_loss=0.002),
    CheckpointFormat("int8", 8.01, "int8", score_loss=0.005),
    CheckpointFormat("gptq-int8", 8.156, "int8", score_loss=0.003),
    CheckpointFormat("awq-int8", 8.156, "int8", score_loss=0.003),
    CheckpointFormat("awq-int4", 4.156, "int4", score_loss=0.015),
    CheckpointFormat("awq-fp16mix", 5.2, "int4", score_loss=0.01),
    CheckpointFormat("gptq-int4", 4.156, "int4", score_loss=0.015),
    CheckpointFormat("gptq-int4-int8mix", 4.9, "int4", score_loss=0.01),
    CheckpointFormat("w4a16", 4.156, "int4", score_loss=0.015),
    CheckpointFormat("int4-experts", 16.0, "int4", experts=4.5, score_loss=0.0),
    CheckpointFormat("mobile-int4", 3.5, "int4", embedding=4.0, score_loss=0.05),
    CheckpointFormat("bnb-nf4", 4.127, "int4", score_loss=0.02),
    CheckpointFormat("mxfp4", 16.0, "fp4", experts=4.25, score_loss=0.0),
    CheckpointFormat("nvfp4", 4.5, "fp4", state_linear=11.0, score_loss=0.01),
    _gguf("f16", 16.0, None, 16.0, loss=0.0),
    _gguf("bf16", 16.0, None, 16.0, loss=0.0),
    _gguf("q8_0", 8.5, None, 8.5, loss=0.001),
    _gguf("q6_k", 6.5625, None, 6.5625, loss=0.003),
    _gguf("q6_k_l", 6.5625, None, 8.5, loss=0.003),
    _gguf("q5_k_m", 5.5, 6.5625, 6.5625, loss=0.007),
    _gguf("q4_k_m", 4.5, 6.5625, 6.5625, loss=0.015),
    _gguf("ud-q4_k_m", 4.6, 6.5625, 6.5625, loss=0.013),
    _gguf("ud-q4_k_xl", 4.65, 6.5625, 6.5625, loss=0.013),
    _gguf("q4_k_s", 4.5, 5.5, 6.5625, loss=0.018),
    _gguf("q4_0", 4.5, None, 6.5625, loss=0.025),
    _gguf("iq4_xs", 4.25, None, 6.5625, loss=0.018),
    _gguf("q3_k_m", 3.4375, 4.9, 6.5625, loss=0.04),
    _gguf("iq3_xxs", 3.0625, 3.44, 5.5, loss=0.06),
    _gguf("q2_k", 2.625, 3.4375, 6.5625, loss=0.12),
    CheckpointFormat(
        "gguf-mxfp4_moe", 8.5, "gguf", experts=4.25, head=8.5, embedding=8.5, small=32.0, score_loss=0.01, gguf=True
    ),
    CheckpointFormat("gguf-f16-mxfp4", 16.0, "gguf", experts=4.25, small=32.0, score_loss=0.0, gguf=True),
)

FORMATS: dict[str, CheckpointFormat] = {spec.name: spec for spec in _ALL}

_ALIASES = {
    "awq": "awq-int4", "awq-4bit": "awq-int4", "awq-4-bit": "awq-int4", "int4-awq": "awq-int4",
    "gptq": "gptq-int4", "int4": "w4a16", "autoround": "gptq-int4", "autoround-int4": "gptq-int4", "4bit": "awq-int4",
    "w8a8": "int8", "w8a16": "gptq-int8", "f16": "bf16", "fp16": "bf16", "float16": "bf16", "bfloat16": "bf16",
    "16bit": "bf16", "bnb": "bnb-nf4", "bitsandbytes": "bnb-nf4", "bnb-4bit": "bnb-nf4", "nf4": "bnb-nf4",
    "fp8-block": "fp8", "fp8-dynamic": "fp8", "fp4": "nvfp4", "q4": "gguf-q4_k_m", "q4_k": "gguf-q4_k_m",
    "q8": "gguf-q8_0", "q6": "gguf-q6_k", "q5": "gguf-q5_k_m", "mxfp4_moe": "gguf-mxfp4_moe",
}  # fmt: skip


def format_of(text: str) -> CheckpointFormat | None:
    """The format that a user or a repository name means, or None: `AWQ`, `Q4_K_M`, `fp8`, `GPTQ-Int4` ..."""
    name = text.strip().lower().replace(" ", "-")
    for candidate in (name, _ALIASES.get(name, ""), f"gguf-{name}", f"gguf-{name.removeprefix('gguf:')}"):
        if candidate in FORMATS:
            return FORMATS[candidate]
    return None


@dataclass(frozen=True)
class WeightBytes:
    """Bytes of a checkpoint by class, so that ranks, offloading and one token's reads can be counted.

    Attributes:
        embedding: Input embedding (llama.cpp keeps it in host memory when it is not the output matrix too).
        head: Output matrix.
        mixers: Attention and state layers.
        dense: Dense feed-forward matrices and shared experts.
        experts: Routed experts.
        rest: Norms, routers, biases.
        vision: Vision and audio towers, kept at 16 bits.
        draft: Multi-token-prediction layers.
    """

    embedding: float
    head: float
    mixers: float
    dense: float
    experts: float
    rest: float
    vision: float
    draft: float

    @property
    def total(self) -> float:
        """All bytes of the file set."""
        return self.text + self.vision + self.draft

    @property
    def text(self) -> float:
        """Bytes of the language model."""
        return self.embedding + self.head + self.mixers + self.dense + self.experts + self.rest

    def scaled_to(self, total: float) -> "WeightBytes":
        """The same shares, scaled so that the whole is `total` bytes (a size that is known)."""
        factor = total / self.total
        return WeightBytes(*(getattr(self, name) * factor for name in self.__dataclass_fields__))


def weight_bytes(arch: Architecture, spec: CheckpointFormat) -> WeightBytes:
    """Bytes of a model's checkpoint in a format, computed from its dimensions."""
    p = arch.parameters
    linear = spec.linear
    experts = spec.linear if spec.experts is None else spec.experts
    mixer_bits = spec.state_linear if spec.state_linear is not None and arch.state is not None else linear
    mixers, dense = p.attention * mixer_bits, p.dense * linear
    expert_total = p.experts * experts
    if spec.boosted is not None:
        extra = spec.boosted - linear
        mixers += p.attention_v * extra / 2
        dense += p.dense_down * extra / 2
        expert_total += p.experts / max(arch.ffn_matrices, 1) * extra / 2
    if arch.tied and spec.gguf:
        embedding = p.embedding * (spec.tied_embedding if spec.tied_embedding is not None else spec.head)
    else:
        embedding = p.embedding * spec.embedding
    draft_bits = 16.0 if spec.kernel == "fp4" else min(linear, 16.0)
    return WeightBytes(
        embedding=embedding / 8,
        head=p.head * spec.head / 8,
        mixers=mixers / 8,
        dense=dense / 8,
        experts=expert_total / 8,
        rest=p.small * spec.small / 8,
        vision=0.0 if spec.gguf else p.vision * 2.0,
        draft=0.0 if spec.gguf else p.draft * draft_bits / 8,
    )
