"""What a model is made of, as far as memory and speed depend on it: layers, heads, experts, and their parameter counts.

Counts are in parameters, not bytes; `repertory.catalog.formats` turns them into bytes. Formulas follow the published
`config.json` fields; they agree with the published totals of all catalog models within 3 % (tests/catalog).
"""

from functools import cached_property
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ("Architecture", "AttentionKind", "CacheGroup", "LayerGroup", "Mla", "Parameters", "StateSpace")

AttentionKind = Literal["full", "sliding", "mla", "linear", "mamba2"]
"""`full`: every token is kept. `sliding`: only the last `window` tokens. `mla`: one latent vector per token.
`linear` and `mamba2`: a fixed state per sequence, whatever its length."""

FfnKind = Literal["dense", "dense2x", "moe", "moe+dense"]


class _Facts(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class LayerGroup(_Facts):
    """Layers of one attention kind.

    Attributes:
        layers: How many layers there are.
        cached_layers: How many of them hold a cache of their own (some models share the cache of earlier layers).
    """

    kind: AttentionKind
    layers: int = Field(ge=0)
    cached_layers: int | None = None
    kv_heads: int = 0
    head_dim: int = 0
    window: int | None = None
    shares_k_and_v: bool = False
    """True where the values are the keys, so that there is no value projection (the cache still holds both)."""


class Mla(_Facts):
    """Dimensions of multi-head latent attention."""

    q_lora_rank: int | None
    kv_lora_rank: int
    qk_nope_head_dim: int
    qk_rope_head_dim: int
    v_head_dim: int
    index_head_dim: int = 0
    """Of DeepSeek's sparse-attention indexer, which keeps one more key per token; 0 without."""
    index_n_heads: int = 0


class StateSpace(_Facts):
    """Dimensions of a layer with a fixed state: gated delta net (`linear`) or Mamba 2.

    Attributes:
        key_heads: Key heads of a delta net; state groups of Mamba 2.
        key_dim: Key width of a delta net; state size of Mamba 2.
        fp32_state: Whether engines keep the recurrent part in 32 bits.
    """

    key_heads: int
    value_heads: int
    key_dim: int
    value_dim: int
    conv_kernel: int
    fp32_state: bool = True

    @property
    def conv_channels(self) -> int:
        """Channels that pass the short convolution."""
        return 2 * self.key_heads * self.key_dim + self.value_heads * self.value_dim

    @property
    def recurrent_elements(self) -> int:
        """Elements of the recurrent state of one layer and sequence."""
        return self.value_heads * self.value_dim * self.key_dim

    @property
    def conv_elements(self) -> int:
        """Elements of the convolution state of one layer and sequence."""
        return self.conv_channels * (self.conv_kernel - 1)


class CacheGroup(_Facts):
    """Layers whose cache looks the same."""

    kind: AttentionKind
    layers: int
    elements_per_token: int = 0
    """Cached elements per token and layer over all heads (keys and values)."""
    kv_heads: int = 0
    window: int | None = None


class Parameters(_Facts):
    """Parameter counts by what a quantiser does with them.

    Attributes:
        embedding: Input embedding.
        head: Output matrix; 0 when it is the embedding.
        attention: Projections of all attention and state layers.
        attention_v: The value projections among them (GGUF mixes give them more bits).
        dense: Dense feed-forward matrices, shared experts included.
        dense_down: The down projections among them.
        experts: Routed experts.
        small: Norms, routers, convolutions and biases: never quantised.
        vision: Vision and audio towers.
        draft: Multi-token-prediction layers, which engines load only for speculative decoding.
        replicated: Of `attention`, what every tensor-parallel rank holds whole.
    """

    embedding: int
    head: int
    attention: int
    attention_v: int
    dense: int
    dense_down: int
    experts: int
    small: int
    vision: int
    draft: int
    replicated: int

    @property
    def text(self) -> int:
        """All parameters of the language model, without towers and draft layers."""
        return self.embedding + self.head + self.attention + self.dense + self.experts + self.small

    @property
    def total(self) -> int:
        """All parameters of the checkpoint."""
        return self.text + self.vision + self.draft


class Architecture(_Facts):
    """Dimensions of one model."""

    layers: int = Field(gt=0)
    hidden: int = Field(gt=0)
    heads: int = Field(gt=0)
    vocab: int = Field(gt=0)
    tied: bool
    intermediate: int = 0
    attention: list[LayerGroup]
    pattern: str | None = None
    """One letter per layer, in order: F full, S sliding, A latent, L linear, M mamba, - none."""
    ffn: dict[FfnKind, int]
    ffn_matrices: int = 3
    experts: int = 0
    experts_per_token: int = 0
    expert_intermediate: int = 0
    shared_intermediate: int = 0
    """Width of the shared experts together; 0 without."""
    attention_bias: str | None = None
    output_gate: bool = False
    mla: Mla | None = None
    state: StateSpace | None = None
    per_layer_embedding: int = 0
    """Width of Gemma's per-layer input embedding; 0 without."""
    vision_params: int = 0
    draft_params: int = 0

    @property
    def is_moe(self) -> bool:
        """Whether tokens are routed to experts."""
        return self.experts > 0

    def spreads_over(self, ranks: int) -> bool:
        """Whether vLLM and SGLang can spread the attention over so many ranks.

        Heads must divide evenly, and key and value heads too, or be copied evenly where there are fewer of them than
        ranks (vLLM: `QKVParallelLinear` in `model_executor/layers/linear.py`).
        """
        shared = [group.kv_heads for group in self.attention if group.kv_heads]
        return self.heads % ranks == 0 and all(heads % ranks == 0 or ranks % heads == 0 for heads in shared)

    @property
    def kv_heads(self) -> int:
        """Key/value heads of the attention layers (the most of any group); 1 for latent attention."""
        return max((group.kv_heads for group in self.attention if group.kv_heads), default=1)

    @cached_property
    def caches(self) -> tuple[CacheGroup, ...]:
        """The groups of layers that hold a cache or a state."""
        groups: list[CacheGroup] = []
        for group in self.attention:
            layers = group.layers if group.cached_layers is None else group.cached_layers
            if layers == 0:
                continue
            if group.kind == "mla":
                mla = self._need_mla()
                width = mla.kv_lora_rank + mla.qk_rope_head_dim
                groups.append(CacheGroup(kind="mla", layers=layers, elements_per_token=width, kv_heads=1))
            elif group.kind in ("linear", "mamba2"):
                groups.append(CacheGroup(kind=group.kind, layers=layers))
            else:
                groups.append(
                    CacheGroup(
                        kind=group.kind,
                        layers=layers,
                        elements_per_token=2 * group.kv_heads * group.head_dim,
                        kv_heads=group.kv_heads,
                        window=group.window,
                    )
                )
        return tuple(groups)

    @cached_property
    def parameters(self) -> Parameters:
        """Parameter counts by class."""
        attention = values = replicated = small = 0
        for group in self.attention:
            weights, value, whole, rest = self._mixer(group)
            attention += weights * group.layers
            values += value * group.layers
            replicated += whole * group.layers
            small += rest * group.layers
        dense = down = experts = 0
        for kind, count in self.ffn.items():
            width = self.intermediate * (2 if kind == "dense2x" else 1)
            if kind != "moe":
                dense += count * self.ffn_matrices * self.hidden * width
                down += count * self.hidden * width
            if kind in ("moe", "moe+dense"):
                experts += count * self.experts * self.ffn_matrices * self.hidden * self.expert_intermediate
                dense += count * self.ffn_matrices * self.hidden * self.shared_intermediate
                down += count * self.hidden * self.shared_intermediate
                small += count * self.hidden * self.experts
                if self.attention_bias == "qkvo+sinks":  # gpt-oss, whose experts have biases too
                    small += count * self.experts * (2 * self.expert_intermediate + self.hidden)
        small += 2 * self.hidden * self.layers + self.hidden
        embedding = self.vocab * self.hidden
        if self.per_layer_embedding:
            embedding += self.vocab * self.per_layer_embedding * self.layers
            dense += 3 * self.hidden * self.per_layer_embedding * self.layers
        return Parameters(
            embedding=embedding,
            head=0 if self.tied else self.vocab * self.hidden,
            attention=attention,
            attention_v=values,
            dense=dense,
            dense_down=down,
            experts=experts,
            small=small,
            vision=self.vision_params,
            draft=self.draft_params,
            replicated=replicated,
        )

    @property
    def active_matrix_parameters(self) -> int:
        """Parameters that one token is multiplied with: everything but the embedding and the experts it skips."""
        p = self.parameters
        head = p.head or self.vocab * self.hidden
        routed = p.experts * self.experts_per_token // self.experts if self.experts else 0
        return head + p.attention + p.dense + p.small + routed

    def experts_touched(self, tokens: float) -> float:
        """Share of the routed experts that a batch of tokens reads, for evenly spread routing: 1 - (1 - k/E)^n."""
        if not self.experts:
            return 0.0
        return 1.0 - (1.0 - self.experts_per_token / self.experts) ** max(tokens, 0.0)

    def _need_mla(self) -> Mla:
        if self.mla is None:
            msg = "latent attention layers without their dimensions"
            raise ValueError(msg)
        return self.mla

    def _need_state(self) -> StateSpace:
        if self.state is None:
            msg = "state layers without their dimensions"
            raise ValueError(msg)
        return self.state

    def _mixer(self, group: LayerGroup) -> tuple[int, int, int, int]:
        """Parameters of one layer's mixer: all matrices, the value projection, what is replicated, the small rest."""
        hidden = self.hidden
        if group.kind == "mla":
            mla = self._need_mla()
            per_head = mla.qk_nope_head_dim + mla.qk_rope_head_dim
            down_q = hidden * mla.q_lora_rank if mla.q_lora_rank else 0
            up_q = (mla.q_lora_rank or hidden) * self.heads * per_head
            down_kv = hidden * (mla.kv_lora_rank + mla.qk_rope_head_dim)
            up_kv = mla.kv_lora_rank * self.heads * (mla.qk_nope_head_dim + mla.v_head_dim)
            out = self.heads * mla.v_head_dim * hidden
            index = 0
            if mla.index_head_dim:
                index = (mla.q_lora_rank or hidden) * mla.index_n_heads * mla.index_head_dim
                index += hidden * (mla.index_head_dim + mla.index_n_heads)
            return down_q + up_q + down_kv + up_kv + out + index, 0, down_q + down_kv + index, 0
        if group.kind in ("linear", "mamba2"):
            state = self._need_state()
            inner = state.value_heads * state.value_dim
            if group.kind == "linear":
                into = hidden * (2 * state.key_heads * state.key_dim + 2 * inner + 2 * state.value_heads)
            else:
                into = hidden * (2 * inner + 2 * state.key_heads * state.key_dim + state.value_heads)
            return into + inner * hidden, 0, 0, state.conv_channels * state.conv_kernel + 3 * state.value_heads
        query = hidden * self.heads * group.head_dim
        key = hidden * group.kv_heads * group.head_dim
        value = 0 if group.shares_k_and_v else key
        gate = query if self.output_gate else 0
        bias = (self.heads + 2 * group.kv_heads) * group.head_dim if self.attention_bias else 0
        return 2 * query + gate + key + value, value, 0, bias
