"""A `config.json` as the hub would have it, from the catalog's dimensions: what the peers read."""

from typing import Any

from repertory.catalog.architecture import Architecture

__all__ = ("config_json",)


def config_json(arch: Architecture, max_context: int) -> dict[str, Any]:
    """Fields of the Llama, Qwen, DeepSeek, Gemma and gpt-oss families, by what the model is made of."""
    kinds = {group.kind for group in arch.attention}
    widest = max(arch.attention, key=lambda group: (group.kind == "full", group.kv_heads))
    config: dict[str, Any] = {
        "model_type": "qwen3_moe" if arch.is_moe else "llama",
        "hidden_size": arch.hidden,
        "num_hidden_layers": arch.layers,
        "num_attention_heads": arch.heads,
        "num_key_value_heads": widest.kv_heads or arch.heads,
        "head_dim": widest.head_dim or arch.hidden // arch.heads,
        "intermediate_size": arch.intermediate or arch.expert_intermediate,
        "vocab_size": arch.vocab,
        "max_position_embeddings": max_context,
        "tie_word_embeddings": arch.tied,
        "torch_dtype": "bfloat16",
    }
    if arch.is_moe:
        config |= {
            "num_experts": arch.experts,
            "num_experts_per_tok": arch.experts_per_token,
            "moe_intermediate_size": arch.expert_intermediate,
        }
    if "mla" in kinds and arch.mla is not None:
        config |= arch.mla.model_dump(include={"q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim",
                                               "v_head_dim"})  # fmt: skip
        config |= {"model_type": "deepseek_v2", "n_routed_experts": arch.experts, "num_key_value_heads": arch.heads,
                   "first_k_dense_replace": arch.ffn.get("dense", 0),
                   "n_shared_experts": arch.shared_intermediate // max(arch.expert_intermediate, 1)}  # fmt: skip
    if "linear" in kinds and arch.state is not None:
        state = arch.state
        config |= {
            "model_type": "qwen3_next" if arch.is_moe else "qwen3_5_text",
            "layer_types": _layer_types(arch),
            "linear_num_key_heads": state.key_heads,
            "linear_num_value_heads": state.value_heads,
            "linear_key_head_dim": state.key_dim,
            "linear_value_head_dim": state.value_dim,
            "linear_conv_kernel_dim": state.conv_kernel,
            "shared_expert_intermediate_size": arch.shared_intermediate,
        }
    if "sliding" in kinds:
        window = next(group.window for group in arch.attention if group.kind == "sliding")
        config |= {"layer_types": _layer_types(arch), "sliding_window": window}
        if arch.attention_bias == "qkvo+sinks":
            config |= {"model_type": "gpt_oss", "num_local_experts": arch.experts}
    return config


def _layer_types(arch: Architecture) -> list[str]:
    names = {"F": "full_attention", "S": "sliding_attention", "L": "linear_attention"}
    if arch.pattern is not None:
        return [names.get(letter, "full_attention") for letter in arch.pattern]
    kinds = {"full": "full_attention", "sliding": "sliding_attention", "linear": "linear_attention"}
    return [kinds[group.kind] for group in arch.attention for _ in range(group.layers)]
