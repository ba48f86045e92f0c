"""A model of one's own from its Hugging Face `config.json`."""

import json
from pathlib import Path
from typing import Any, Literal

from repertory.catalog.architecture import Architecture
from repertory.catalog.formats import FORMATS, CheckpointFormat
from repertory.catalog.loader import Choice
from repertory.catalog.records import Checkpoint, Model, Serving
from repertory.errors import UsageError

__all__ = ("architecture_from_config", "choice_from_config", "format_from_config")

_MAX_BYTES = 8_000_000
Config = dict[str, Any]
Kind = Literal["full", "sliding", "mla", "linear"]


def choice_from_config(path: Path) -> Choice:
    """Read a `config.json` (or the folder that holds one), with the size of the safetensors files next to it.

    Raises:
        UsageError: It is not such a file, or lacks a dimension; the message names it.
    """
    file = path / "config.json" if path.is_dir() else path
    try:
        if file.stat().st_size > _MAX_BYTES:
            raise UsageError("This is too large for a config.json.", where=str(file))
        config: Any = json.loads(file.read_text("utf-8"))
    except OSError as error:
        reason = str(error.strerror)
        raise UsageError("The model's config.json can not be read.", where=str(file), hint=reason) from error
    except ValueError as error:
        raise UsageError("This is not JSON.", where=str(file)) from error
    settings = _object(config, file)
    arch = architecture_from_config(settings, where=str(file))
    spec = format_from_config(settings)
    text: Config = settings.get("text_config") or settings
    size = sum(part.stat().st_size for part in file.parent.glob("*.safetensors"))
    name = str(settings.get("_name_or_path") or file.parent.resolve().name)
    count = arch.parameters.text / 1e9
    active = arch.active_matrix_parameters / 1e9 if arch.is_moe else count
    checkpoint = Checkpoint(repo=name, format=spec.name, source=str(file), bytes=size or None, bytes_exact=bool(size))
    model = Model(
        id=name,
        family=str(settings.get("model_type", "own")),
        license="see the model",
        total_b=count,
        active_b=active,
        params_source=str(file),
        max_context=int(text.get("max_position_embeddings") or 4096),
        native_format=spec.name,
        arch=arch,
        arch_sources=[str(file)],
        serving=Serving(source=str(file)),
        checkpoints=[checkpoint],
    )
    return Choice(model, spec, checkpoint)


def _object(value: Any, file: Path) -> Config:
    if not _is(value, dict):
        raise UsageError("A config.json is an object.", where=str(file))
    return value


def _is(value: object, kind: type) -> bool:
    """`isinstance` that leaves the untyped value as it is for the type checker."""
    return isinstance(value, kind)


def format_from_config(config: Config) -> CheckpointFormat:
    """The checkpoint's format by its `quantization_config`."""
    text: Config = config.get("text_config") or {}
    quant: Config = config.get("quantization_config") or text.get("quantization_config") or {}
    method = str(quant.get("quant_method", "")).lower()
    bits = quant.get("bits") or quant.get("w_bit") or 4
    if method in ("awq", "gptq", "auto-round", "auto_round"):
        family = "awq" if method == "awq" else "gptq"
        return FORMATS[f"{family}-int{8 if bits == 8 else 4}"]
    if method == "compressed-tensors":
        written = json.dumps(quant)
        if '"float"' in written:
            return FORMATS["nvfp4" if '"num_bits": 4' in written else "fp8"]
        return FORMATS["w4a16" if '"num_bits": 4' in written else "int8"]
    if method == "modelopt":
        return FORMATS["nvfp4" if "FP4" in str(quant.get("quant_algo", "")) else "fp8"]
    simple = {"fp8": "fp8", "fbgemm_fp8": "fp8", "mxfp4": "mxfp4", "bitsandbytes": "bnb-nf4"}
    return FORMATS[simple.get(method, "bf16")]


def architecture_from_config(config: Config, *, where: str) -> Architecture:
    """The dimensions in a `config.json` of the Llama, Mistral, Qwen, Gemma, DeepSeek, GLM and gpt-oss families.

    Raises:
        UsageError: A dimension is missing.
    """
    text: Config = config.get("text_config") or config

    def need(*names: str) -> int:
        for name in names:
            if isinstance(text.get(name), int):
                return text[name]
        msg = f"The config has no {names[0]}."
        raise UsageError(msg, where=where, hint="Only decoder models of the common families can be estimated.")

    def have(*names: str, default: int = 0) -> int:
        return next((text[name] for name in names if isinstance(text.get(name), int)), default)

    layers, hidden, heads = need("num_hidden_layers"), need("hidden_size"), need("num_attention_heads")
    experts = have("num_experts", "n_routed_experts", "num_local_experts")
    facts: Config = {
        "layers": layers,
        "hidden": hidden,
        "heads": heads,
        "vocab": need("vocab_size"),
        "tied": bool(config.get("tie_word_embeddings", text.get("tie_word_embeddings", False))),
        "intermediate": have("intermediate_size"),
    }
    kinds = _kinds(text, layers)
    groups: list[Config] = []
    for kind in dict.fromkeys(kinds):
        group: Config = {"kind": kind, "layers": kinds.count(kind)}
        if kind in ("full", "sliding"):
            group["kv_heads"] = have("num_key_value_heads", default=heads)
            group["head_dim"] = have("head_dim", default=hidden // heads)
            if kind == "full" and text.get("global_head_dim"):
                group["head_dim"] = text["global_head_dim"]
                group["kv_heads"] = have("num_global_key_value_heads", default=group["kv_heads"])
            if kind == "sliding":
                group["window"] = need("sliding_window")
        groups.append(group)
    facts["attention"] = groups
    if "mla" in kinds:
        names = ("kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")
        facts["mla"] = {name: need(name) for name in names} | {"q_lora_rank": text.get("q_lora_rank")}
    if "linear" in kinds:
        facts["output_gate"] = True
        facts["state"] = {
            "key_heads": need("linear_num_key_heads"),
            "value_heads": need("linear_num_value_heads"),
            "key_dim": need("linear_key_head_dim"),
            "value_dim": need("linear_value_head_dim"),
            "conv_kernel": have("linear_conv_kernel_dim", default=4),
            "fp32_state": text.get("mamba_ssm_dtype") == "float32",
        }
    if experts:
        first = have("first_k_dense_replace")
        facts |= {
            "experts": experts,
            "experts_per_token": need("num_experts_per_tok", "experts_per_token"),
            "expert_intermediate": have("moe_intermediate_size", default=facts["intermediate"]),
            "shared_intermediate": have("shared_expert_intermediate_size")
            or have("n_shared_experts") * have("moe_intermediate_size"),
            "ffn": {"dense": first, "moe": layers - first} if first else {"moe": layers},
        }
    else:
        facts["ffn"] = {"dense": layers}
    return Architecture.model_validate(facts)


def _kinds(text: Config, layers: int) -> list[Kind]:
    """The attention kind of each layer."""
    if text.get("kv_lora_rank"):
        return ["mla"] * layers
    types: Any = text.get("layer_types")
    if _is(types, list) and len(types) == layers:
        names: dict[str, Kind] = {"sliding_attention": "sliding", "linear_attention": "linear"}
        return [names.get(str(kind), "full") for kind in types]
    if text.get("sliding_window") and text.get("sliding_window_pattern"):
        every = int(text["sliding_window_pattern"])
        return ["full" if (i + 1) % every == 0 else "sliding" for i in range(layers)]
    if interval := text.get("full_attention_interval"):
        return ["full" if (i + 1) % int(interval) == 0 else "linear" for i in range(layers)]
    return ["full"] * layers
