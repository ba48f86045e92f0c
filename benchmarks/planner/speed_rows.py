"""Turn published speed rows into (instance, devices, context, batch, what was measured)."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from repertory.catalog.loader import Catalog
from repertory.catalog.records import Device
from repertory.errors import UsageError
from repertory.planning.instance import GIB, Instance, instance_of
from repertory.planning.vllm_memory import vllm_memory

__all__ = ("SpeedReading", "speed_readings")

HERE = Path(__file__).parent / "readings"

_MODELS = {
    "DeepSeek R1 14b distill": "deepseek-ai/DeepSeek-R1-Distill-Qwen-14B",
    "DeepSeek R1 671b": "deepseek-ai/DeepSeek-R1",
    "cyberjuju/Qwen3-30B-A3B-Instruct-2507-AWQ-4bit-Q4_K_M-GGUF": "Qwen/Qwen3-30B-A3B-Instruct-2507",
    "LLaMA 3 8B": "meta-llama/Meta-Llama-3-8B-Instruct",
    "LLaMA 3 70B": "meta-llama/Meta-Llama-3-70B-Instruct",
}
_WEAK = (
    "unverified",
    "secondary",
    "vendor",
    "weak",
    "anomalous",
    "synthesized",
    "tool estimated",
    "not in the excerpt",
)


@dataclass(frozen=True)
class SpeedReading:
    """One measured speed with its conditions."""

    case: str
    kind: str
    """`decode` (tokens per second of one request), `prefill`, or `saturated` (all tokens under unlimited load)."""
    instance: Instance
    device: Device
    devices: int
    context: int
    prompt: int
    batch: int
    measured: float
    weak: bool
    label: str


def _number(value: Any) -> float | None:
    if isinstance(value, int | float):
        return float(value)
    found = [float(x) for x in re.findall(r"\d+\.?\d*", str(value or ""))]
    return sum(found[:2]) / len(found[:2]) if found else None


def _format(quant: str | None, engine: str) -> str | None:
    text = (quant or "").lower()
    table = [
        ("mxfp4", "gguf-mxfp4_moe" if "llama" in engine else "mxfp4"), ("q4_k_m", "gguf-q4_k_m"), ("q4_k", "gguf-q4_k_m"),
        ("q4 default", "gguf-q4_k_m"), ("q4_0", "gguf-q4_0"), ("q8_0", "gguf-q8_0"), ("q6", "gguf-q6_k"),
        ("iq4_xs", "gguf-iq4_xs"), ("gptq", "gptq-int4"), ("awq", "awq-int4"), ("autoround", "gptq-int4"),
        ("nvfp4", "nvfp4"), ("fp4", "nvfp4"), ("fp8", "fp8"), ("w8a8", "int8"), ("w4a16", "w4a16"),
        ("bf16", "gguf-bf16" if "llama" in engine else "bf16"), ("f16", "gguf-f16" if "llama" in engine else "bf16"),
        ("16-bit", "bf16"),
    ]  # fmt: skip
    return next((name for key, name in table if key in text), None)


def speed_readings(catalog: Catalog) -> tuple[list[SpeedReading], list[tuple[str, str]]]:
    """All rows that can be predicted, and the others with the reason."""
    rows = YAML(typ="safe").load((HERE / "speed_cases.yaml").read_text("utf-8"))["cases"]
    found: list[SpeedReading] = []
    skipped: list[tuple[str, str]] = []
    for row in rows:
        try:
            found += _row(row, catalog)
        except (UsageError, ValueError) as error:
            skipped.append((row["id"], str(error).split("\n")[0]))
    return found, skipped


def _row(row: dict[str, Any], catalog: Catalog) -> list[SpeedReading]:
    engine_text = str(row.get("engine") or "").lower()
    if "tensorrt" in engine_text or not engine_text:
        msg = f"no model of the engine {row.get('engine')!r}"
        raise ValueError(msg)
    engine = "llama.cpp" if any(x in engine_text for x in ("llama", "ollama")) else "vllm"
    words = f"{row.get('quant')} {row.get('conditions')} {row.get('note')}"
    if re.search(
        r"MTP|DFlash|spec True|spec decode|n-cpu-moe|RTX 2080|DeepSeek-V4", f"{words} {row['model']} {engine_text}"
    ):
        raise ValueError("speculative decoding or expert offload, or a model that is not in the catalog")
    if row["gpu_count"] is None or "not named" in str(row["gpu"]):
        raise ValueError("the number of devices or their name is not stated")
    device = catalog.find_device(str(row["gpu"]).replace("‑", "-"))
    model = _MODELS.get(row["model"], row["model"])
    if device.id == "rtx3090" and "Ti" in row["gpu"]:
        device = device.model_copy(update={"bandwidth_gb_s": device.bandwidth_gb_s})
    choice = catalog.choose(model, _format(row.get("quant"), engine), engine=engine)
    count = int(row["gpu_count"])
    if "dp2" in words:
        raise ValueError("two replicas")
    instance = instance_of(
        choice, engine, tensor_parallel=count, eager="enforce-eager" in words and "drops" not in words,
        kv_dtype="fp8" if re.search(r"fp8 kv", words, re.IGNORECASE) else "q8_0" if re.search("kv q8_0|q8_0 kv", words, re.IGNORECASE) else "auto",
    )  # fmt: skip
    weak = any(word in words.lower() for word in _WEAK)
    context = row.get("context")
    context = int(context) if isinstance(context, int) else None
    prompt = re.search(r"prompt (\d+) out (\d+)", words)
    batch = row["concurrency"] if isinstance(row["concurrency"], int) else None
    load = re.fullmatch(r"(\d+) in / (\d+) out", str(row.get("context")))
    if batch is None and load and "unlimited" in str(row["concurrency"]) and count == 1 and int(load[1]) >= 1000:
        memory = vllm_memory(instance, device.memory_gib.value, device.name)
        pool = max(memory.ranks[0].kv_pool, 0.3 * GIB) / max(memory.ranks[0].kv_bytes_per_token, 1)
        many = int(max(1, min(256, pool / (int(load[1]) + int(load[2])))))
        label = f"{row['model']} on {row['gpu']}, {row['context']}"
        value = float(row["metrics"]["baseline_total_tok_s"])
        return [
            SpeedReading(
                row["id"], "saturated", instance, device, count, int(load[2]), int(load[1]), many, value, False, label
            )
        ]
    if batch is None:
        raise ValueError("the load is not stated as a number of requests")
    base = {"case": row["id"], "instance": instance, "device": device, "devices": count, "weak": weak}
    base["label"] = f"{row['model']} {row.get('quant')} on {count}x {row['gpu']}"
    out: list[SpeedReading] = []

    def add(kind: str, value: Any, ctx: float, prompt_tokens: int, b: int) -> None:
        number = _number(value)
        if number:
            out.append(
                SpeedReading(kind=kind, context=int(ctx), prompt=prompt_tokens, batch=b, measured=number, **base)
            )

    for key, value in row["metrics"].items():
        if value is None:
            continue
        if key == "decode_tok_s" and isinstance(value, dict):
            for name, speed in value.items():
                length = _number(name) if name.startswith("tg") else 2 * (min(context or 2048, 2048))
                add("decode", speed, (length or 1024) / 2, 0, 1)
        elif key in ("decode_tok_s", "per_request_tok_s"):
            length = (int(prompt[1]) + int(prompt[2]) / 2) if prompt and int(prompt[2]) else min(context or 1024, 2048)
            if row["id"] in ("s211",):
                length = 8320
            add("decode", value, length, 0, batch)
        elif key == "decode_tok_s_tg32":
            add("decode", value, (context or 0) + 16, 0, batch)
        elif key == "aggregate_decode_tok_s":
            add("decode", float(value) / batch, (context or 512) + 16, 0, batch)
        elif key == "prefill_tok_s" and isinstance(value, dict):
            for name, speed in value.items():
                number = _number(name)
                if name.startswith("pp") and number:
                    add("prefill", speed, 0, int(number), 1)
                else:
                    add("prefill", speed, 0, 10_000 if "10K" in name else 86_785, 1)
        elif key == "prefill_tok_s_pp2048":
            add("prefill", value, context or 0, 2048, 1)
        elif key == "prefill_tok_s" and prompt and int(prompt[1]) >= 256:
            add("prefill", value, 0, int(prompt[1]), 1)
        elif key == "prefill_tok_s" and row["id"] == "s211":
            add("prefill", value, 0, 8192, 1)
        elif key == "output_tok_s" and batch > 1:
            add("decode", float(value) / batch, 400, 0, batch)
    if not out:
        raise ValueError("no decode or prefill speed of its own (throughput under an unstated load, or tiny prompts)")
    return out
