"""A model of one's own from its Hugging Face `config.json`."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from repertory.catalog.architecture import Architecture
from repertory.catalog.formats import FORMATS, CheckpointFormat
from repertory.catalog.loader import Choice
from repertory.catalog.records import Checkpoint, Model, Serving
from repertory.errors import UsageError

__all__ = ("architecture_from_config", "choice_from_config", "format_from_config")

_MAX_BYTES = 8_000_000
_MOST = 100_000_000
_MOST_LAYERS = 10_000
Config = dict[str, Any]
Kind = Literal["full", "sliding", "mla", "linear"]


def choice_from_config(path: Path) -> Choice:
    """Read a `config.json` (or the folder that holds one), with the size of the safetensors files next to it.

    Raises:
        UsageError: It is not such a file, or lacks a dimension; the message names it.
    """
    file = path / "config.json" if path.is_dir() else path
    settings = _object(_read(file), str(file))
    arch = architecture_from_config(settings, where=str(file))
    spec = format_from_config(settings)
    text = _text_part(settings)
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
        max_context=_whole(text, "max_position_embeddings", str(file)) or 4096,
        native_format=spec.name,
        arch=arch,
        arch_sources=[str(file)],
        serving=Serving(source=str(file)),
        checkpoints=[checkpoint],
    )
    return Choice(model, spec, checkpoint)


def _read(file: Path) -> Any:
    try:
        if not file.is_file():
            reason = "It is not a file." if file.exists() else "There is no such file."
            raise UsageError("The model's config.json can not be read.", where=str(file), hint=reason)
        if file.stat().st_size > _MAX_BYTES:
            raise UsageError("This is too large for a config.json.", where=str(file))
        return json.loads(file.read_text("utf-8"))
    except OSError as error:
        reason = str(error.strerror)
        raise UsageError("The model's config.json can not be read.", where=str(file), hint=reason) from error
    except (ValueError, RecursionError) as error:
        raise UsageError("This is not JSON.", where=str(file)) from error


def _object(value: Any, where: str, what: str = "A config.json") -> Config:
    if not _is(value, dict):
        msg = f"{what} is an object."
        raise UsageError(msg, where=where)
    return value


def _part(config: Config, name: str) -> Config:
    """An object inside the config; empty where it is missing or something else."""
    value: Any = config.get(name)
    return value if _is(value, dict) else {}


def _text_part(config: Config) -> Config:
    """The language model's settings, which configs of models with a tower keep in a part of their own."""
    return _part(config, "text_config") or config


def _whole(config: Config, name: str, where: str) -> int | None:
    """A count or a width; None where the config has none.

    Raises:
        UsageError: It is below zero, or larger than any model's.
    """
    value = config.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    if not 0 <= value <= _MOST:
        msg = f"{name} is {value if abs(value) < 10**20 else 'a number too long to print'}, which no model has."
        raise UsageError(msg, where=where, hint=f"It is a whole number from 0 to {_MOST:,}.")
    return value


def _is(value: object, kind: type) -> bool:
    """`isinstance` that leaves the untyped value as it is for the type checker."""
    return isinstance(value, kind)


def format_from_config(config: Config) -> CheckpointFormat:
    """The checkpoint's format by its `quantization_config`."""
    quant = _part(config, "quantization_config") or _part(_text_part(config), "quantization_config")
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


@dataclass(frozen=True)
class _Dimensions:
    """Counts and widths of a config, by the names that families give them."""

    text: Config
    where: str

    def have(self, *names: str, default: int = 0) -> int:
        """The first of the fields that is there."""
        return next((value for name in names if (value := _whole(self.text, name, self.where)) is not None), default)

    def need(self, *names: str) -> int:
        """The same, which must be there and not 0."""
        if value := self.have(*names):
            return value
        msg = f"The config has no {names[0]}."
        raise UsageError(msg, where=self.where, hint="Only decoder models of the common families can be estimated.")


def architecture_from_config(config: Config, *, where: str) -> Architecture:
    """The dimensions in a `config.json` of the Llama, Mistral, Qwen, Gemma, DeepSeek, GLM and gpt-oss families.

    Raises:
        UsageError: A dimension is missing, or they make no model.
    """
    text = _text_part(config)
    dims = _Dimensions(text, where)
    layers = dims.need("num_hidden_layers")
    if layers > _MOST_LAYERS:
        msg = f"num_hidden_layers is {layers:,}, which no model has."
        raise UsageError(msg, where=where, hint=f"It is a whole number from 1 to {_MOST_LAYERS:,}.")
    facts: Config = {
        "layers": layers,
        "hidden": dims.need("hidden_size"),
        "heads": dims.need("num_attention_heads"),
        "vocab": dims.need("vocab_size"),
        "tied": bool(config.get("tie_word_embeddings", text.get("tie_word_embeddings", False))),
        "intermediate": dims.have("intermediate_size"),
        **_mixers(dims, _kinds(text, layers, where)),
        **_feed_forward(dims, layers),
    }
    try:
        return Architecture.model_validate(facts)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        msg = f"The dimensions do not make a model: {place}: {first['msg']}."
        raise UsageError(msg, where=where) from error


def _mixers(dims: _Dimensions, kinds: Sequence[Kind]) -> Config:
    """Attention layers by kind, and the dimensions of latent attention and of layers with a state."""
    heads = dims.need("num_attention_heads")
    groups: list[Config] = []
    for kind in dict.fromkeys(kinds):
        group: Config = {"kind": kind, "layers": kinds.count(kind)}
        if kind in ("full", "sliding"):
            group["kv_heads"] = dims.have("num_key_value_heads", default=heads)
            group["head_dim"] = dims.have("head_dim", default=dims.need("hidden_size") // heads)
            if kind == "full" and (width := dims.have("global_head_dim")):
                group["head_dim"] = width
                group["kv_heads"] = dims.have("num_global_key_value_heads", default=group["kv_heads"])
            if kind == "sliding":
                group["window"] = dims.need("sliding_window")
        groups.append(group)
    facts: Config = {"attention": groups}
    if "mla" in kinds:
        names = ("kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")
        facts["mla"] = {name: dims.need(name) for name in names} | {"q_lora_rank": dims.have("q_lora_rank") or None}
    if "linear" in kinds:
        facts["output_gate"] = True
        facts["state"] = {
            "key_heads": dims.need("linear_num_key_heads"),
            "value_heads": dims.need("linear_num_value_heads"),
            "key_dim": dims.need("linear_key_head_dim"),
            "value_dim": dims.need("linear_value_head_dim"),
            "conv_kernel": dims.have("linear_conv_kernel_dim", default=4),
            "fp32_state": dims.text.get("mamba_ssm_dtype") == "float32",
        }
    return facts


def _feed_forward(dims: _Dimensions, layers: int) -> Config:
    experts = dims.have("num_experts", "n_routed_experts", "num_local_experts")
    if not experts:
        return {"ffn": {"dense": layers}}
    dense = min(dims.have("first_k_dense_replace"), layers)
    width = dims.have("moe_intermediate_size", "intermediate_size")
    shared = dims.have("shared_expert_intermediate_size")
    return {
        "experts": experts,
        "experts_per_token": min(dims.need("num_experts_per_tok", "experts_per_token"), experts),
        "expert_intermediate": width,
        "shared_intermediate": shared or dims.have("n_shared_experts") * dims.have("moe_intermediate_size"),
        "ffn": {"dense": dense, "moe": layers - dense} if dense else {"moe": layers},
    }


def _kinds(text: Config, layers: int, where: str) -> list[Kind]:
    """The attention kind of each layer."""
    if _whole(text, "kv_lora_rank", where):
        return ["mla"] * layers
    types: Any = text.get("layer_types")
    if _is(types, list) and len(types) == layers:
        names: dict[str, Kind] = {"sliding_attention": "sliding", "linear_attention": "linear"}
        return [names.get(str(kind), "full") for kind in types]
    if _whole(text, "sliding_window", where) and (every := _whole(text, "sliding_window_pattern", where)):
        return ["full" if (i + 1) % every == 0 else "sliding" for i in range(layers)]
    if every := _whole(text, "full_attention_interval", where):
        return ["full" if (i + 1) % every == 0 else "linear" for i in range(layers)]
    return ["full"] * layers
