# ruff: noqa: PLC0415 - every peer is imported where it is asked, so that one that is missing costs only its answers
# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
"""Runs inside the peers' own environment: reads cases from standard input, asks every peer, writes JSON.

Each answer has what the peer predicts for one device: `weights_gib`, `kv_pool_gib`, `kv_bytes_per_token`, `fits`; what
a peer has no answer for is left out, and `error` says why. Nothing of Repertory is imported here.
"""

import contextlib
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

GIB = 2**30

Case = dict[str, Any]


def accelerate(case: Case) -> Case:
    """Accelerate's estimator: the empty model's parameters in a type; its command takes hub ids, so its API is used."""
    from accelerate import init_empty_weights
    from accelerate.utils import calculate_maximum_sizes
    from transformers import AutoConfig, AutoModelForCausalLM

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "config.json").write_text(json.dumps(case["config"]), "utf-8")
        config = AutoConfig.from_pretrained(folder)
    with init_empty_weights():
        model = AutoModelForCausalLM.from_config(config)
    total, _ = calculate_maximum_sizes(model)
    width = next(iter(model.parameters())).element_size()
    weights = total / width * min(max(round(case["bits"]), 4), 16) / 8 / case["devices"] / GIB
    return {"weights_gib": weights, "fits": weights <= case["device_gib"]}


def hf_mem(case: Case) -> Case:
    """hf-mem: bytes of the safetensors files, and the KV cache of one request of the longest context."""
    from hf_mem.safetensors.kv_cache import compute_safetensors_kv_cache_size
    from hf_mem.safetensors.metadata import parse_safetensors_metadata

    files = {"model": {"all": {"dtype": "U8", "shape": [int(case["bytes"])], "data_offsets": [0, int(case["bytes"])]}}}
    weights = parse_safetensors_metadata(files).bytes_count / case["devices"] / GIB
    kind = "F8_E4M3" if case["kv_bits"] == 8 else "BF16"
    cache = compute_safetensors_kv_cache_size(case["config"], kind, case["context"]) / case["devices"]
    return {
        "weights_gib": weights,
        "kv_bytes_per_token": cache / case["context"],
        "fits": weights + cache / GIB <= case["device_gib"],
    }


def hf_vram_calc(case: Case) -> Case:
    """hf-vram-calc: parameters of the empty model, cache, and activations."""
    from hf_vram_calc.calculator import ParameterCalculator, VRAMCalculator
    from hf_vram_calc.config import ConfigManager
    from hf_vram_calc.parser import ConfigParser

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "config.json").write_text(json.dumps(case["config"]), "utf-8")
        config = ConfigParser.load_and_parse_config(folder, folder)
    count = ParameterCalculator.calculate_parameters_by_transformers(config)
    count = count or ParameterCalculator.calculate_transformer_params(config)
    calculator = VRAMCalculator(ConfigManager())
    kind = "bf16" if case["bits"] >= 16 else "int8" if case["bits"] >= 8 else "int4"
    weights = calculator.calculate_model_memory(count, kind)
    cache = calculator.calculate_kv_cache_memory(config, kind, 1, case["context"]) / case["devices"]
    active = calculator.estimate_activation_memory(config, 1, case["context"], case["devices"])
    whole = calculator.calculate_inference_memory(weights) / case["devices"] + cache + active
    return {
        "weights_gib": weights / case["devices"],
        "kv_bytes_per_token": cache * GIB / case["context"],
        "fits": whole <= case["device_gib"],
    }


def modelinfo(case: Case) -> Case:
    """modelinfo-cli with --vllm: what its paged pool would hold."""
    from modelinfo.calculator import calculate_footprint

    tensors = {"all": {"dtype": "I8", "shape": [int(case["bytes"])]}}
    found = calculate_footprint(
        tensors,
        case["context"],
        config=case["config"],
        gpu_count=case["devices"],
        is_vllm=True,
        gpu_vram_bytes=case["device_gib"] * GIB * case["devices"],
        gpu_util=case["utilization"],
    )
    pool = found["vllm_metrics"]
    per_token = 4 * found["num_layers"] * found["kv_dim"] / case["devices"]
    return {
        "weights_gib": found["base_memory_bytes"] / case["devices"] / GIB,
        "kv_pool_gib": pool["paged_kv_pool"] / case["devices"] / GIB,
        "kv_bytes_per_token": per_token,
        "fits": pool["max_serving_capacity"] >= case["context"],
    }


RIDGEPOINT_DEVICES = {
    "rtx3090": "rtx3090-24gb", "rtx4090": "rtx4090-24gb", "rtx5090": "rtx5090-32gb", "l40s": "l40s-48gb",
    "a100_80_sxm": "a100-80gb", "a100_80_pcie": "a100-80gb", "a100_40": "a100-40gb", "a100_40_sxm": "a100-40gb",
    "h100_sxm": "h100-80gb", "h100_pcie": "h100-80gb", "h100": "h100-80gb",
}  # fmt: skip
RIDGEPOINT_TYPES = {"bf16": "fp16", "fp8": "fp8", "int8": "int8", "awq-int4": "awq", "gptq-int4": "gptq"}


def ridgepoint(case: Case) -> Case:
    """ridgepoint: its engine-aware core, with the dimensions that its adapter would read from the hub."""
    from ridgepoint import _core

    device = RIDGEPOINT_DEVICES.get(case["device_id"])
    kind = RIDGEPOINT_TYPES.get(case["format"])
    if device is None or kind is None:
        msg = f"no device {case['device_id']!r} or type {case['format']!r}"
        raise ValueError(msg)
    config = case["config"]
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    latent = config.get("kv_lora_rank", 0)
    types = config.get("layer_types")
    layers = config["num_hidden_layers"]
    kept = sum("full" in name for name in types) if types else layers
    shape = "mla" if latent else "mha" if heads == kv_heads else "gqa"
    cache = "fp8" if case["kv_bits"] == 8 else "fp16"
    found = json.loads(
        _core.fit_shape(
            case["case"], layers, kept, config["hidden_size"], int(case["parameters"]), int(case["active"]), shape,
            config["head_dim"], heads, kv_heads, latent, config.get("qk_rope_head_dim", 0), device, case["devices"],
            "vllm", kind, cache, case["context"], min(2048, case["context"]), True,
        )
    )  # fmt: skip
    memory = found["memory"]
    return {
        "weights_gib": memory["weights_bytes"]["best"] / case["devices"] / GIB,
        "kv_pool_gib": memory["kv_pool_bytes"]["best"] / case["devices"] / GIB,
        "kv_bytes_per_token": found["capacity"]["bytes_per_seq"] / case["context"] / case["devices"],
        "fits": found["verdict"]["serves"],
    }


PEERS: dict[str, Callable[[Case], Case]] = {
    "accelerate": accelerate,
    "hf-mem": hf_mem,
    "hf-vram-calc": hf_vram_calc,
    "modelinfo-cli": modelinfo,
    "ridgepoint": ridgepoint,
}


def main() -> None:
    cases = json.load(sys.stdin)
    answers: dict[str, dict[str, Case]] = {}
    with contextlib.redirect_stdout(sys.stderr):
        for name, ask in PEERS.items():
            answers[name] = {}
            for case in cases:
                try:
                    answers[name][case["case"]] = ask(case)
                except Exception as error:  # noqa: BLE001 - a peer that fails has no answer for this case
                    answers[name][case["case"]] = {"error": f"{type(error).__name__}: {error}"[:200]}
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
