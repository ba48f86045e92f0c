"""A model of one's own from the header of its GGUF file: dimensions and the exact bytes of every tensor."""

import math
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from repertory.catalog.architecture import Architecture
from repertory.catalog.formats import FORMATS, format_of
from repertory.catalog.gguf_file import GgufFile, read_gguf_file
from repertory.catalog.loader import Choice
from repertory.catalog.records import Checkpoint, Model, Serving
from repertory.errors import UsageError

__all__ = ("read_gguf",)

_MOST = 100_000_000
_MOST_LAYERS = 10_000
_WINDOW_EVERY = {"gemma2": 2, "gemma3": 6, "gpt-oss": 2, "cohere2": 4}
"""Families whose every n-th layer is without a window, where the header does not say n."""


def read_gguf(path: Path) -> tuple[Choice, GgufFile]:
    """Read a GGUF header.

    Raises:
        UsageError: The file is not GGUF, is cut off, or is of a family whose dimensions are not known here.
    """
    header = read_gguf_file(path)
    reader = _Reader(header, path)
    arch = reader.architecture()
    kind = header.common_type
    spec = format_of(f"gguf-{kind}") or format_of(f"gguf-{kind}_m") or FORMATS["gguf-q4_k_m"]
    meta = header.metadata
    checkpoint = Checkpoint(
        repo=str(path), format=spec.name, source=str(path), bytes=max(1, round(header.weights.total)), bytes_exact=True
    )
    model = Model(
        id=str(meta.get("general.name") or path.stem),
        family=reader.family,
        license=str(meta.get("general.license") or "see the model"),
        total_b=arch.parameters.text / 1e9,
        active_b=arch.active_matrix_parameters / 1e9,
        params_source=str(path),
        max_context=reader.number("context_length") or 4096,
        native_format=spec.name,
        arch=arch,
        arch_sources=[str(path)],
        serving=Serving(source=str(path)),
        checkpoints=[checkpoint],
    )
    return Choice(model, spec, checkpoint), header


@dataclass
class _Reader:
    """Turns metadata into dimensions."""

    header: GgufFile
    path: Path

    @property
    def family(self) -> str:
        return str(self.header.metadata.get("general.architecture") or "own")

    def number(self, key: str, default: int = 0) -> int:
        """A count or a width of the family; of one number per layer the most."""
        value = self.header.metadata.get(f"{self.family}.{key}", default)
        if isinstance(value, tuple):
            value = max((item for item in value if isinstance(item, int)), default=default)
        if not isinstance(value, int | float) or not math.isfinite(value):
            return default
        if not 0 <= value <= _MOST:
            msg = f"{self.family}.{key} is {value:g}, which no model has."
            raise UsageError(msg, where=str(self.path))
        return int(value)

    def architecture(self) -> Architecture:
        """The dimensions.

        Raises:
            UsageError: They are missing, or make no model.
        """
        layers, hidden = self.number("block_count"), self.number("embedding_length")
        heads = self.number("attention.head_count")
        if not (layers and hidden and heads) or layers > _MOST_LAYERS:
            raise UsageError(
                "The GGUF header does not say how many layers and heads there are.",
                where=str(self.path),
                hint="Only decoder models with attention can be estimated from a file.",
            )
        tokens = self.header.items.get("tokenizer.ggml.tokens", 0)
        vocab = self.number("vocab_size") or tokens or self.header.elements("token_embd.weight") // hidden
        facts: dict[str, object] = {
            "layers": layers,
            "hidden": hidden,
            "heads": heads,
            "vocab": max(vocab, 1),
            "tied": "output.weight" not in self.header.tensors,
            "intermediate": self.number("feed_forward_length"),
            **self._feed_forward(layers),
            **self._mixers(layers, hidden, heads),
        }
        try:
            return Architecture.model_validate(facts)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"])
            msg = f"The header's dimensions do not make a model: {place}: {first['msg']}."
            raise UsageError(msg, where=str(self.path)) from error

    def _feed_forward(self, layers: int) -> dict[str, object]:
        experts = self.number("expert_count")
        if not experts:
            return {"ffn": {"dense": layers}}
        dense = min(self.number("leading_dense_block_count"), layers)
        width = self.number("expert_feed_forward_length", self.number("feed_forward_length"))
        shared = self.number("expert_shared_feed_forward_length") or self.number("expert_shared_count") * width
        return {
            "ffn": {"dense": dense, "moe": layers - dense} if dense else {"moe": layers},
            "experts": experts,
            "experts_per_token": min(max(self.number("expert_used_count"), 1), experts),
            "expert_intermediate": width,
            "shared_intermediate": shared,
        }

    def _mixers(self, layers: int, hidden: int, heads: int) -> dict[str, object]:
        """Attention layers by kind, latent dimensions, and layers with a state, which are told by their tensors."""
        head_dim = self.number("attention.key_length", hidden // heads)
        latent = self.number("attention.kv_lora_rank")
        if latent:
            rope = self.number("rope.dimension_count", 64)
            value = self.number("attention.value_length_mla") or self.number("attention.value_length", head_dim)
            query = self.number("attention.key_length_mla") or head_dim
            mla = {
                "q_lora_rank": self.number("attention.q_lora_rank") or None,
                "kv_lora_rank": latent,
                "qk_nope_head_dim": max(query - rope, 1),
                "qk_rope_head_dim": rope,
                "v_head_dim": value,
            }
            return {"attention": [{"kind": "mla", "layers": layers}], "mla": mla}
        states = min(self.header.blocks_with("ssm_conv1d.weight"), layers)
        kv_heads = self.number("attention.head_count_kv", heads)
        full: dict[str, object] = {"kind": "full", "kv_heads": kv_heads, "head_dim": head_dim}
        if states and self.number("ssm.group_count"):
            value_heads = max(self.number("ssm.time_step_rank"), 1)
            state = {
                "key_heads": self.number("ssm.group_count"),
                "value_heads": value_heads,
                "key_dim": self.number("ssm.state_size"),
                "value_dim": self.number("ssm.inner_size") // value_heads,
                "conv_kernel": self.number("ssm.conv_kernel", 4),
            }
            groups: list[dict[str, object]] = [{"kind": "linear", "layers": states}]
            if layers > states:
                groups.append({**full, "layers": layers - states})
            return {"attention": groups, "state": state, "output_gate": True}
        window = self.number("attention.sliding_window")
        every = self.number("attention.sliding_window_pattern", _WINDOW_EVERY.get(self.family, 0))
        if window and every:
            whole = layers // every
            sliding = {**full, "kind": "sliding", "window": window, "layers": layers - whole}
            return {"attention": [{**full, "layers": whole}, sliding]}
        return {"attention": [{**full, "layers": layers}]}
